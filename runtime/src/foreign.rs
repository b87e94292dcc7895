//! Primaries of kinds that are somebody else's.

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

/// A kind that is not the operator's own, as the primary of a tree: one of Kubernetes, or of another project.
///
/// `operator! { Foreign<Namespace> => NamespaceTree }` gives every Namespace what `NamespaceTree` is made of. The tree says
/// `owner = Foreign<Namespace>`; its build functions and predicates take `&Namespace`.
///
/// # Guarantees
/// - No definition, no roles for people, no sample and no finalizer policy are generated for the kind. The operator's role
///   lists, watches and patches it, the last for the finalizer.
/// - The status belongs to the kind's own controller and is never written. What a pass comes to is told by events.
/// - The finalizer is `opgen.dev/<operator>`, unless the controller says another.
/// - A pass follows a change of anything but the status.
/// - What is made for a Namespace lives in it, unless it names another. What is made for another object without a namespace
///   has to name one.
/// - An object that was made for one of the same kind is no primary: a ConfigMap made for a ConfigMap gets none itself. Nor is
///   the Namespace that the operator runs in, whose end would be the operator's, too.
///
/// # Assumptions
/// Few objects are meant by "all objects of a kind that exists anyway":
/// [`Controller::labels`](crate::Controller::labels) says which.
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

    /// The whole object: not every kind has a spec.
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
