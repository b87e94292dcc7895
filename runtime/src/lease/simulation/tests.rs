//! Tests in thousands of simulated leader elections that no two candidates write at the same time, and that the simulation finds deliberate
//! defects of the candidates.

#![allow(clippy::expect_used)]
use super::*;
use crate::{
    bucket::{BucketApi, BucketKind, MemoryBuckets},
    environment::Environment,
    kind::kind_of,
};
use k8s_openapi::{api::coordination::v1::Lease, jiff::Timestamp};
use opgen_sandbox::Sandbox;
use schedule::Dice;
use std::thread;

/// The number of schedules of a normal run; the variable is for the long course.
const SCHEDULES: u64 = 1_500;
const SCHEDULES_VARIABLE: &str = "OPGEN_LEAD_SCHEDULES";

/// The number of schedules that share a server. Each leaves a Lease in it, and each list reads all of them.
const SCHEDULES_OF_A_SERVER: usize = 500;

/// Where the Leases are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeaseServer {
    Sandbox,
    /// In a bucket, as those of an operator without Kubernetes.
    Bucket,
}

/// Returns a client whose Leases are in a bucket in the process.
fn bucket_client(seed: u64) -> kube::Client {
    let (bucket, dice) = (MemoryBuckets::default().bucket("leases"), Dice::new(seed, 30));
    let kind = BucketKind::plain(kind_of::<Lease>(), Arc::new(bucket));
    let environment = Environment::new(|| Timestamp::UNIX_EPOCH, move || dice.below(u64::MAX));
    BucketApi::new(vec![kind], environment).standalone_client()
}

/// Runs schedules on all processors, and returns their reports with their seeds.
fn run(seeds: std::ops::Range<u64>, defects: Defects, server: LeaseServer) -> Vec<(u64, Report)> {
    let threads = thread::available_parallelism().map_or(1, |number| number.get().min(4)) as u64;
    let run_share = |share: u64| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let own: Vec<_> = seeds.clone().filter(|seed| seed % threads == share).collect();
            let mut reports = Vec::new();
            for part in own.chunks(SCHEDULES_OF_A_SERVER) {
                let sandbox = (server == LeaseServer::Sandbox).then(|| Sandbox::builder().seed(share).start());
                let client = sandbox.as_ref().map_or_else(|| bucket_client(share), Sandbox::client);
                for seed in part {
                    reports.push((*seed, simulate(*seed, defects, &client).await));
                }
            }
            reports
        })
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|share| scope.spawn(move || run_share(share))).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("a simulation that does not panic")).collect()
    })
}

/// Returns the first schedule in which two candidates wrote at the same time.
fn first_violation(reports: &[(u64, Report)]) -> Option<String> {
    let violated = reports.iter().filter_map(|(seed, report)| Some((seed, report.violation.as_ref()?)));
    violated.min_by_key(|(seed, _)| **seed).map(|(seed, violation)| format!("seed {seed}: {violation}"))
}

/// `OPGEN_LEAD_SCHEDULES=100000` is the long course.
#[test]
fn manager_m33_no_two_candidates_write_at_the_same_time() {
    let variable = std::env::var(SCHEDULES_VARIABLE).ok().and_then(|text| text.parse().ok());
    has_one_writer(variable.unwrap_or(SCHEDULES), LeaseServer::Sandbox);
}

/// A Lease in a bucket protects as one of an API server.
#[test]
fn nats_u33_no_two_candidates_write_at_the_same_time_by_a_lease_in_a_bucket() {
    has_one_writer(SCHEDULES / 3, LeaseServer::Bucket);
}

/// Runs this number of schedules, and checks that no two candidates write at the same time.
#[track_caller]
fn has_one_writer(count: u64, server: LeaseServer) {
    let reports = run(0..count, Defects::default(), server);
    assert_eq!(first_violation(&reports), None);
    let sum = |of: fn(&Report) -> u64| reports.iter().map(|(_, report)| of(report)).sum::<u64>();
    let (writes, terms) = (sum(|report| report.writes), sum(|report| report.terms));
    // The faults are hard enough to move the lead, and leave time to work.
    assert!(terms > count * 2 && writes > terms * 5, "{count} schedules: {terms} terms, {writes} writes");
}

/// A simulation that does not find these proves nothing.
#[test]
fn the_simulation_finds_a_client_that_does_not_check_the_deadline_and_one_that_counts_from_the_response() {
    let run_part = |part: u64, defects| run(part * 20..(part + 1) * 20, defects, LeaseServer::Sandbox);
    for defects in [
        Defects { is_unguarded: true, ..Defects::default() },
        Defects { counts_from_response: true, ..Defects::default() },
    ] {
        let found = (0..SCHEDULES / 20).find_map(|part| first_violation(&run_part(part, defects)));
        assert!(found.is_some(), "{defects:?}");
    }
}

/// The same seed is the same election, so a violation can be examined.
#[test]
fn a_schedule_repeats_exactly() {
    for server in [LeaseServer::Sandbox, LeaseServer::Bucket] {
        let reports = [(); 2].map(|()| run(7..8, Defects::default(), server));
        assert_eq!(reports[0], reports[1], "{server:?}");
    }
    assert_ne!(Dice::new(1, 0).below(1000), Dice::new(2, 0).below(1000));
}
