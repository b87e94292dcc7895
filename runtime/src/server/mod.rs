//! Runs the HTTP and HTTPS servers of an operator: certificates, and the connections of a bound address.

pub(crate) mod certificate;
pub(crate) mod connection;
