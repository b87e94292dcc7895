//! The API server's audit log: who did which verb on what, and what the answer was.

mod entry;
mod log;

pub use entry::{Entries, Entry};
pub(crate) use log::Log;
