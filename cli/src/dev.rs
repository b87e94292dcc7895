//! Implements `opgen dev`: builds and runs an operator, and restarts it after each change of its sources.
//!
//! # Flow
//! `sources` reports a changed file → `build` runs cargo → `install` applies the manifests of the operator's binary →
//! `operator_process` runs it → `status_display` shows the state of the samples. `session` is the loop around these steps;
//! `cluster` is the sandbox or cluster that they use, `nats` the server that stores the kinds in buckets, `recording` the requests of the
//! operator there, and `process_group` ends all child processes.

mod build;
mod client;
mod cluster;
mod document;
mod install;
mod nats;
mod operator_process;
mod process_group;
mod recording;
mod relay;
mod response;
mod service_account;
mod session;
mod sources;
mod status_display;

pub(crate) use session::Session;
