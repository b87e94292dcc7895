//! Executes one test run by its schedule of faults: creates the sample objects, disturbs the operator, and deletes the sample objects.

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
