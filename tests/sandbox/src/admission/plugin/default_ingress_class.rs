//! Implements `DefaultIngressClass`: sets the default class on an Ingress that names none.

use super::lookup::default_class;
use crate::{
    admission::{Operation, Review},
    object,
};

const MARK: &str = "ingressclass.kubernetes.io/is-default-class";

/// The annotation that named the class before the field existed.
const OLD_FIELD: &str = "kubernetes.io/ingress.class";

pub(crate) fn mutate(review: &mut Review<'_>) {
    let named = object::at(&review.object, &["spec", "ingressClassName"]).is_some()
        || object::at(&review.object, &["metadata", "annotations", OLD_FIELD]).is_some();
    if !review.writes(Operation::Create, "networking.k8s.io", "ingresses") || named {
        return;
    }
    if let Some(class) = default_class(review.request.server, "ingressclasses.networking.k8s.io", MARK) {
        object::map_at(&mut review.object, &["spec"]).insert("ingressClassName".into(), class.into());
    }
}
