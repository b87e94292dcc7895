//! Implements `DefaultStorageClass`: sets the default class on a PersistentVolumeClaim that does not set a class.

use super::lookup::default_class;
use crate::{
    admission::{Operation, Review},
    object,
};

/// The annotation that marks the default class.
const DEFAULT_ANNOTATION: &str = "storageclass.kubernetes.io/is-default-class";
/// The beta version of the annotation, which still counts if no class has the other one.
const BETA_DEFAULT_ANNOTATION: &str = "storageclass.beta.kubernetes.io/is-default-class";

/// The annotation that contained the class before the field existed.
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// Sets the default StorageClass on a new PersistentVolumeClaim that does not set a class, if there is a default.
pub(crate) fn mutate(review: &mut Review<'_>) {
    let has_class = |review: &Review<'_>| {
        object::at(&review.object, &["spec", "storageClassName"]).is_some()
            || object::at(&review.object, &["metadata", "annotations", CLASS_ANNOTATION]).is_some()
    };
    if !review.writes(Operation::Create, "", "persistentvolumeclaims") || has_class(review) {
        return;
    }
    let (server, group_resource) = (review.request.server, "storageclasses.storage.k8s.io");
    let class = default_class(server, group_resource, DEFAULT_ANNOTATION)
        .or_else(|| default_class(server, group_resource, BETA_DEFAULT_ANNOTATION));
    if let Some(class) = class {
        object::map_at(&mut review.object, &["spec"]).insert("storageClassName".into(), class.into());
    }
}
