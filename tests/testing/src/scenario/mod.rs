//! The steps of a test run with a schedule of faults: create the sample objects, disturb the operator, and delete the sample objects.

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
