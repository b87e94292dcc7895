//! Executes one schedule: creates the samples, disturbs the program, and deletes the samples.

mod bucket;
mod edit;
mod execution;
mod external_service;
mod finalizer;
mod idle;
mod isolation;
mod lifecycle;
mod loss;
mod recreate;
mod remote;
mod upgrade;

pub(crate) use edit::EDIT_UNDONE;
pub(crate) use execution::execute;
pub(crate) use isolation::count as isolation_count;
