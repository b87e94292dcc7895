//! The process: several controllers, what they share, and how it starts and ends.

pub(crate) mod conditions;
mod health;
pub(crate) mod operator;
pub(crate) mod probes;
pub(crate) mod run;
pub(crate) mod run_error;
pub(crate) mod signals;
mod tasks;
pub(crate) mod wiring;
