//! `WebhookNames`: the names of the objects that an operator needs for its webhooks.

/// The names of the objects that an operator needs for its webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookNames {
    /// The Service, by whose name the API server calls the webhooks.
    pub(crate) service: String,
    /// The Secret with the certificates.
    pub(crate) secret: String,
    /// The validating and the mutating webhook configuration.
    pub(crate) configuration: String,
}

impl WebhookNames {
    /// Returns the default names. `cluster_name` is the name of the operator's cluster-scoped objects, and thus of its webhook
    /// configurations.
    pub(crate) fn new(operator: &str, cluster_name: &str) -> Self {
        Self {
            service: format!("{operator}-webhook"),
            secret: format!("{operator}-webhook-certificates"),
            configuration: cluster_name.to_owned(),
        }
    }
}
