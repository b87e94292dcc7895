//! Simulates a cluster in which a program runs, injects faults and records what the program does.

mod cluster;
mod edit_failures;
mod fault_plan;
mod foreign_object;
mod observer;
mod optional_webhook;
mod outcome;
mod panic_hook;
mod recreation;
mod remote_clusters;
mod write_log;

pub(crate) use cluster::{Cluster, WAIT_PAUSES};
pub(crate) use edit_failures::StaleStatus;
pub(crate) use outcome::{Failure, Outcome};
pub(crate) use panic_hook::panic_message;
pub(crate) use write_log::RepeatedWrite;
