//! Simulates a cluster in which a program runs, injects faults and records what the program does.

mod bucket_changes;
mod bucket_stores;
mod cluster;
mod edit_failures;
mod fault_plan;
mod faulty_bucket;
mod foreign_object;
mod helm_releases;
mod observer;
mod optional_webhook;
mod outcome;
mod panic_hook;
mod process;
mod recreation;
mod remote_client;
mod remote_clusters;
mod remote_connection;
mod remote_disturbance;
mod run_clock;
mod write_log;

pub(crate) use cluster::{Cluster, WAIT_PAUSES};
pub(crate) use edit_failures::StaleStatus;
pub(crate) use outcome::{Failure, Outcome};
pub(crate) use panic_hook::{catch_panic, panic_message};
pub(crate) use write_log::RepeatedWrite;
