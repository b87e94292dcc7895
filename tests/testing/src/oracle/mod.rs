//! Compares a test run with runs without faults, checks what must hold in every run, and turns each violation into a finding.

mod baseline;
mod bucket;
mod case;
mod comparison;
mod convergence;
mod external_service;
mod failure;
mod hint;
mod invariant;
mod isolation;
mod leak;
mod orphan;
mod role;
mod status;
mod upgrade;
mod verdict;

pub(crate) use baseline::Baseline;
pub(crate) use case::Case;
pub(crate) use convergence::convergence;
pub(crate) use external_service::service_problem;
pub(crate) use failure::{program_panic, run_failure, runner_panicked};
pub(crate) use leak::leaked_objects;
pub(crate) use role::{missing_permissions, unused_permissions};
pub(crate) use verdict::judge;
