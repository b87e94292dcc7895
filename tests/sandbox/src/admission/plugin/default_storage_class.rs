//! Implements `DefaultStorageClass`: sets the default class on a PersistentVolumeClaim that names none.

use super::lookup::default_class;
use crate::{
    admission::{Operation, Review},
    object,
};

const MARK: &str = "storageclass.kubernetes.io/is-default-class";
const OLD_MARK: &str = "storageclass.beta.kubernetes.io/is-default-class";

/// The annotation that named the class before the field existed.
const OLD_FIELD: &str = "volume.beta.kubernetes.io/storage-class";

pub(crate) fn mutate(review: &mut Review<'_>) {
    let named = |review: &Review<'_>| {
        object::at(&review.object, &["spec", "storageClassName"]).is_some()
            || object::at(&review.object, &["metadata", "annotations", OLD_FIELD]).is_some()
    };
    if !review.writes(Operation::Create, "", "persistentvolumeclaims") || named(review) {
        return;
    }
    let (server, group_resource) = (review.request.server, "storageclasses.storage.k8s.io");
    let class = default_class(server, group_resource, MARK).or_else(|| default_class(server, group_resource, OLD_MARK));
    if let Some(class) = class {
        object::map_at(&mut review.object, &["spec"]).insert("storageClassName".into(), class.into());
    }
}
