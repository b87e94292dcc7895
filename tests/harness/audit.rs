//! Reads the audit log of the API server: the user, verb, target and response code of each request.

mod entry;
mod log;

pub(crate) use log::Log;
pub use {
    entry::{Entries, Entry},
    log::read,
};
