//! Authenticates requests by bearer tokens, ServiceAccount tokens and impersonation.

pub(crate) use bearer::authenticate_token;
pub(crate) use credentials::Authentication;
pub(crate) use impersonation::{ImpersonationHeaders, impersonate};
pub(crate) use openid::{configuration, keys};

mod bearer;
pub(crate) mod claims;
mod credentials;
mod impersonation;
mod key;
mod openid;
mod service_account;
pub(crate) mod token_request;

#[cfg(test)]
mod tests;
