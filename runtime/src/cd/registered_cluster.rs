//! `RegisteredCluster`: another cluster that applications are deployed to, with the Secret that registers it with a CD system.

use crate::{
    cache::ObjectKey,
    cd::driver::ApplicationDestination,
    client::strip_nulls,
    engine::desired::move_string_data,
    kind::Kind,
    shape::{ClusterCredentials, Registration},
};
use serde_json::{Value, json};

/// The label of a Secret that registers a cluster, with the kind of the objects that use it; and the label of these objects, with the name
/// of the Secret.
pub(crate) const REGISTRATION_LABEL: &str = "opgen.dev/registration";
/// The annotation of a Secret that registers a cluster, with the path of the kubeconfig whose credentials it has; and the annotation of the
/// objects that use it, with the path of the kubeconfig of their remote node.
pub(crate) const KUBECONFIG_ANNOTATION: &str = "opgen.dev/kubeconfig";

/// The cluster of a remote node, as it is registered with a CD system.
pub(crate) struct RegisteredCluster {
    /// The Secret, without the marks of the operator.
    pub(crate) secret: Value,
    /// The path of the kubeconfig: the Secrets on the way to it, and its key.
    pub(crate) kubeconfig: String,
    kubeconfig_key: Option<&'static str>,
}

impl RegisteredCluster {
    /// Returns the cluster with the Secret that `registration` builds from the credentials. A label of the Secret names `users`, the kind
    /// of the objects that deploy applications into the cluster. An annotation names `kubeconfig`, the path of the kubeconfig from which
    /// the credentials are.
    pub(crate) fn new(
        registration: Registration,
        credentials: &ClusterCredentials,
        kubeconfig: &str,
        owner_namespace: Option<&str>,
        users: &Kind,
    ) -> Self {
        let mut secret = strip_nulls((registration.secret)(credentials, owner_namespace));
        secret["metadata"]["labels"][REGISTRATION_LABEL] = users.full_name().into();
        secret["metadata"]["annotations"][KUBECONFIG_ANNOTATION] = kubeconfig.into();
        if let Value::Object(secret) = &mut secret {
            move_string_data(secret);
        }
        Self { secret, kubeconfig: kubeconfig.to_owned(), kubeconfig_key: registration.kubeconfig_key }
    }

    /// Returns the name of the Secret.
    pub(crate) fn name(&self) -> &str {
        self.secret["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Returns the namespace of the Secret.
    pub(crate) fn namespace(&self) -> &str {
        self.secret["metadata"]["namespace"].as_str().unwrap_or_default()
    }

    /// Returns the key of the Secret.
    pub(crate) fn key(&self) -> ObjectKey {
        ObjectKey::new(Some(self.namespace()), self.name())
    }

    /// Returns the destination of the applications in this cluster: the name of the registration, or the kubeconfig in its Secret if the CD
    /// system finds the cluster by a kubeconfig.
    pub(crate) fn destination(&self) -> ApplicationDestination {
        match self.kubeconfig_key {
            None => ApplicationDestination::Registered(self.name().to_owned()),
            Some(key) => ApplicationDestination::Kubeconfig {
                namespace: self.namespace().to_owned(),
                name: self.name().to_owned(),
                key: key.to_owned(),
            },
        }
    }

    /// Marks an object that deploys into this cluster: adds a label with the name of the Secret and an annotation with the path of the
    /// kubeconfig.
    pub(crate) fn mark_user(&self, object: &mut Value) {
        object["metadata"]["labels"][REGISTRATION_LABEL] = json!(self.name());
        object["metadata"]["annotations"][KUBECONFIG_ANNOTATION] = json!(self.kubeconfig);
    }
}
