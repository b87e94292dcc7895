//! Defines `Foreign`, which makes a built-in kind or a kind of another project the primary of a tree.

use crate::{
    kind::{Kind, Typed},
    managed::Managed,
};
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    fmt::Debug,
    ops::{Deref, DerefMut},
};

/// A kind that is not the operator's own, as the primary of a tree: a built-in kind of Kubernetes, or a kind of another project.
///
/// `operator! { Foreign<Namespace> => NamespaceTree }` provisions a `NamespaceTree` for every Namespace. The tree has
/// `owner = Foreign<Namespace>`, and its build functions and predicates take `&Namespace`.
///
/// # Guarantees
/// - The manifests contain no definition, user roles, sample or finalizer policy for the kind. The role of the operator has
///   `list`, `watch` and `patch` for it; `patch` is for the finalizer.
/// - The status belongs to the kind's own controller, and this operator never writes it. Events report the outcome of a pass.
/// - The finalizer is `opgen.dev/<operator>`, unless the controller sets another.
/// - Every change except one of the status enqueues the object.
/// - The children of a Namespace are created in it, unless they name another namespace. The namespaced children of any other
///   cluster-scoped object have to name one.
/// - A child of an object of the same kind is no primary: a ConfigMap that was created for a ConfigMap has no children. The
///   Namespace that the operator runs in is no primary either, since its deletion would delete the operator.
///
/// # Assumptions
/// A foreign kind usually has many objects that don't concern the operator. Select its primaries with
/// [`Controller::labels`](crate::Controller::labels).
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{Namespace, ResourceQuota};
/// # use opgen::{Operator, prelude::*};
/// #[derive(Provisioner)]
/// #[provisioner(serial, owner = Foreign<Namespace>)]
/// struct NamespaceTree {
///     #[provisioner(resource)]
///     quota: ResourceQuota,
/// }
///
/// impl NamespaceTree {
///     fn quota(namespace: &Namespace) -> ResourceQuota {
///         # let _ = namespace;
///         ResourceQuota::default()
///     }
/// }
///
/// fn operator() -> Operator {
///     Operator::new("teams").controls_with::<Foreign<Namespace>, NamespaceTree>(|c| c.labels([("team", "web")]))
/// }
/// # operator();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Foreign<K>(pub K);

impl<K> Deref for Foreign<K> {
    type Target = K;
    fn deref(&self) -> &K {
        &self.0
    }
}

impl<K> DerefMut for Foreign<K> {
    fn deref_mut(&mut self) -> &mut K {
        &mut self.0
    }
}

impl<K> From<K> for Foreign<K> {
    fn from(object: K) -> Self {
        Self(object)
    }
}

impl<K: Typed + Clone + Debug + Serialize + DeserializeOwned> Managed for Foreign<K> {
    type Spec = K;
    type Status = ();
    type Subject = K;
    const FINALIZER: Option<&'static str> = None;
    const DEFINITION: Option<fn() -> CustomResourceDefinition> = None;

    fn kind() -> Kind {
        K::names()
    }

    fn metadata(&self) -> &ObjectMeta {
        self.0.meta()
    }

    /// Returns the whole object, since not every kind has a spec.
    fn spec(&self) -> &K {
        &self.0
    }

    fn status(&self) -> Option<&()> {
        None
    }

    fn paused(&self) -> bool {
        false
    }

    fn subject(&self) -> &K {
        &self.0
    }
}
