//! The certificates that an operator makes for its webhooks: shared by its replicas in a Secret, rotated, and trusted by the API server
//! through the operator's own webhook configurations.

mod configuration;
mod history;
pub(super) mod keeper;
mod secret;

#[cfg(test)]
mod tests;
