//! Calls webhooks over HTTPS or by a handler in the process.

pub(crate) use call::call;
pub(crate) use routes::WebhookRoutes;

mod call;
mod client;
mod client_config;
pub(crate) mod conversion;
mod routes;
mod wording;
