//! Implements `DefaultIngressClass`: sets the default class on an Ingress that does not set a class.

use super::lookup::default_class;
use crate::{
    admission::{Operation, Review},
    object,
};

/// The annotation that marks the default class.
const DEFAULT_ANNOTATION: &str = "ingressclass.kubernetes.io/is-default-class";

/// The annotation that contained the class before the field existed.
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

/// Sets the default IngressClass on a new Ingress that does not set a class, if there is a default.
pub(crate) fn mutate(review: &mut Review<'_>) {
    let has_class = object::at(&review.object, &["spec", "ingressClassName"]).is_some()
        || object::at(&review.object, &["metadata", "annotations", CLASS_ANNOTATION]).is_some();
    if !review.writes(Operation::Create, "networking.k8s.io", "ingresses") || has_class {
        return;
    }
    if let Some(class) = default_class(review.request.server, "ingressclasses.networking.k8s.io", DEFAULT_ANNOTATION) {
        object::map_at(&mut review.object, &["spec"]).insert("ingressClassName".into(), class.into());
    }
}
