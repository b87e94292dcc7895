//! Runs the operator process: starts controllers with their shared watches, supervises tasks, and shuts down.

pub(crate) mod conditions;
mod health;
mod leadership;
mod metrics;
mod observed;
pub(crate) mod operator;
pub(crate) mod probes;
pub(crate) mod run;
pub(crate) mod run_error;
pub(crate) mod signals;
mod spec_guard;
mod tasks;
mod upgrade;
pub(crate) mod upgrade_hook;
pub(crate) mod upgrade_record;
pub(crate) mod wiring;
