//! Runs the checks of a trial (a test of an operator with injected faults) one after another.

mod plan;
mod runner;
mod webhook_plan;

pub(crate) use plan::Bounds;
pub(crate) use runner::{replay, run};
