//! Calls the webhooks of MutatingWebhookConfigurations and ValidatingWebhookConfigurations.

pub(super) use hook::Hook;
pub(super) use mutating::mutate;
pub(super) use validating::validate;

mod call;
mod error;
mod hook;
mod invocation;
mod mutating;
mod validating;
mod version;
