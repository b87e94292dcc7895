//! Simulates elections of three candidates by a Lease on a simulated API server (the sandbox) or in a bucket, with a paused clock and
//! faults from a seed.
//!
//! Candidate, elector, lead and guard are the code that ships. The [`network`] delays and loses requests and responses, and the [`life`] of
//! a candidate is interrupted, stopped and resumed by its [`schedule`], which also sets its wall clock. The [`oracle`] sees all writes in
//! the order in which the server executes them.

mod life;
mod network;
mod oracle;
mod schedule;

use network::Network;
use oracle::{Oracle, Report};
use schedule::Schedule;
use std::sync::Arc;
use tokio::time::Instant;

/// Deviations of a simulated candidate from the code that ships.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defects {
    /// The length of a second of the candidate's clock, in seconds.
    pub(super) clock_rate: f64,
    /// The client has no guard, so it neither checks the deadline nor gives writes up.
    pub(super) is_unguarded: bool,
    /// A renewal is valid from its response, and not from its request.
    pub(super) counts_from_response: bool,
}

impl Default for Defects {
    fn default() -> Self {
        Self { clock_rate: 1.0, is_unguarded: false, counts_from_response: false }
    }
}

/// Simulates one election with the faults that derive from a seed, until its schedule ends, and returns the result of its checks. Elections
/// may share the server, since each has a Lease of its own.
async fn simulate(seed: u64, defects: Defects, server: &kube::Client) -> Report {
    let schedule = Arc::new(Schedule::new(seed, Instant::now()));
    let oracle = Oracle::default();
    let network = Network::new(server.clone(), schedule.clone(), oracle.clone(), seed);
    let lives = (0..schedule.candidates.len()).map(|index| life::run(index, &schedule, &network, defects));
    let lives = futures::future::join_all(lives);
    let _ = tokio::time::timeout_at(schedule.end, lives).await;
    oracle.report()
}

#[cfg(test)]
mod tests;
