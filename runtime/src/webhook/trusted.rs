//! `TrustedWebhooks`: the webhooks whose certificate the API server must trust.

use super::settings::WebhookDescription;

/// The webhooks that the API server must trust.
pub(crate) struct TrustedWebhooks<'a> {
    /// The admission webhooks, which are in the configurations of the operator.
    pub(crate) descriptions: Vec<&'a WebhookDescription>,
    /// The names of the CustomResourceDefinitions whose objects the operator converts.
    pub(crate) definitions: Vec<String>,
}
