//! Tests the rules of leader election with a clock that only the test moves.

#![allow(clippy::unwrap_used)]
use super::*;
use serde_json::json;

const SECOND: Duration = Duration::from_secs(1);

fn elector(host: &str, pod: Option<&str>, random: u64) -> Elector {
    Elector::new(CandidateIdentity::new(host, pod, random), &LeaderElection::default())
}

/// Returns a candidate that leads since `now`, and the Lease that it wrote.
fn leader(now: Instant) -> (Elector, Lease) {
    let mut elector = elector("a", None, 1);
    elector.observe(None, now);
    let (lease, is_new) = elector.lease_to_write(Timestamp::UNIX_EPOCH);
    assert!(is_new);
    elector.confirm(lease.clone(), now, now);
    (elector, lease)
}

/// Returns the Lease of a holder, with another renewal time in each `version`.
fn lease(holder: &str, version: u8) -> Lease {
    serde_json::from_value(json!({
        "metadata": {"name": "a", "resourceVersion": version.to_string()},
        "spec": {
            "holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3,
            "renewTime": format!("2001-01-01T00:00:{version:02}.000000Z"),
        },
    }))
    .unwrap()
}

#[test]
fn a_candidate_reads_first_and_takes_a_lease_that_nobody_holds() {
    let now = Instant::now();
    for free in [None, Some(lease("", 1))] {
        let mut elector = elector("a", None, 1);
        assert_eq!(elector.next(now), Step::Read);
        elector.observe(free, now);
        assert_eq!((elector.next(now), elector.is_leading()), (Step::Write, false));
        let written = elector.lease_to_write(Timestamp::UNIX_EPOCH).0;
        elector.confirm(written, now, now);
        assert_eq!((elector.next(now), elector.is_leading()), (Step::Wait(now + SECOND * 2), true));
    }
}

/// The renewal times are of the year 2001: no clock of the wall is compared with them.
#[test]
fn manager_m2_the_lease_duration_counts_from_the_own_last_observation_of_a_change() {
    let now = Instant::now();
    let mut elector = elector("a", None, 1);
    elector.observe(Some(lease("b", 1)), now);
    assert_eq!(elector.next(now), Step::Wait(now + SECOND * 15));
    // The same record, also with another resourceVersion, is no change.
    let mut touched = lease("b", 1);
    touched.metadata.resource_version = Some("9".to_owned());
    elector.observe(Some(touched), now + SECOND * 5);
    assert_eq!(elector.next(now + SECOND * 5), Step::Wait(now + SECOND * 15));
    elector.observe(Some(lease("b", 2)), now + SECOND * 14);
    assert_eq!(elector.next(now + SECOND * 28), Step::Wait(now + SECOND * 29));
    assert_eq!(elector.next(now + SECOND * 29), Step::Write);
    let (taken, is_new) = elector.lease_to_write(Timestamp::UNIX_EPOCH);
    assert_eq!((taken.metadata.resource_version.as_deref(), is_new), (Some("2"), false));
    assert_eq!(taken.spec.unwrap().lease_transitions, Some(4));
}

#[test]
fn manager_m2_the_duration_is_that_of_the_holder() {
    let (now, mut elector) = (Instant::now(), elector("a", None, 1));
    let mut long = lease("b", 1);
    long.spec.as_mut().unwrap().lease_duration_seconds = Some(60);
    elector.observe(Some(long), now);
    assert_eq!(elector.next(now), Step::Wait(now + SECOND * 60));
}

#[test]
fn a_renewal_is_valid_from_the_moment_of_sending() {
    let now = Instant::now();
    let (mut elector, lease) = leader(now);
    let (sent, confirmed) = (now + SECOND * 2, now + SECOND * 6);
    assert_eq!(elector.next(sent), Step::Write);
    elector.confirm(lease, sent, confirmed);
    let LeadState::Held(tenure) = elector.state() else { panic!("{:?}", elector.state()) };
    assert_eq!((tenure.deadline - sent, tenure.give_up - sent), (SECOND * 10, SECOND * 25 / 2));
    assert_eq!(elector.next(confirmed), Step::Write, "the next renewal is due since the retry period after the last");
}

#[test]
fn a_confirmation_after_the_deadline_is_no_lead() {
    let now = Instant::now();
    let mut elector = elector("a", None, 1);
    elector.observe(None, now);
    let written = elector.lease_to_write(Timestamp::UNIX_EPOCH).0;
    elector.confirm(written, now, now + SECOND * 10);
    assert!(!elector.is_leading());
    assert_eq!(elector.next(now + SECOND * 10), Step::Write, "the Lease is its own, so it renews it at once");
}

#[test]
fn manager_m33_a_holder_that_can_not_renew_loses_the_lead_at_its_deadline() {
    let now = Instant::now();
    let (mut elector, _) = leader(now);
    for second in 2..10 {
        elector.record_failure(RequestFailure::Unknown, 0, now + SECOND * second);
        assert!(elector.request_timeout(now + SECOND * second) <= SECOND * (10 - second));
        assert_eq!(elector.next(now + SECOND * second), Step::Wait(now + (SECOND * (second + 2)).min(SECOND * 10)));
    }
    assert_eq!(elector.next(now + SECOND * 10), Step::Lost(LeadLoss::Expired(SECOND * 10)));
}

#[test]
fn manager_m33_a_holder_that_sees_another_loses_the_lead_at_once() {
    let now = Instant::now();
    let (mut elector, _) = leader(now);
    elector.record_failure(RequestFailure::Conflict, 0, now + SECOND * 2);
    assert_eq!(elector.next(now + SECOND * 2), Step::Read);
    elector.observe(Some(lease("b", 2)), now + SECOND * 2);
    assert_eq!(elector.next(now + SECOND * 2), Step::Lost(LeadLoss::Taken("b".to_owned())));
    assert_eq!(elector.state(), LeadState::Ended);
}

#[test]
fn a_holder_whose_renewal_had_no_response_reads_and_renews_within_its_old_deadline() {
    let now = Instant::now();
    let (mut elector, mut own) = leader(now);
    elector.record_failure(RequestFailure::Unknown, 0, now + SECOND * 7);
    assert_eq!(elector.next(now + SECOND * 9), Step::Read);
    own.metadata.resource_version = Some("8".to_owned());
    elector.observe(Some(own), now + SECOND * 9);
    assert_eq!(elector.next(now + SECOND * 9), Step::Write);
    assert_eq!(elector.lease_to_write(Timestamp::UNIX_EPOCH).0.metadata.resource_version.as_deref(), Some("8"));
    // To read its own name is no renewal.
    assert_eq!(elector.next(now + SECOND * 10), Step::Lost(LeadLoss::Expired(SECOND * 10)));
}

#[test]
fn a_deleted_lease_is_not_free_before_the_record_of_its_holder_would_expire() {
    let (now, mut elector) = (Instant::now(), elector("a", None, 1));
    elector.observe(Some(lease("b", 1)), now);
    elector.observe(None, now + SECOND);
    assert_eq!(elector.next(now + SECOND), Step::Wait(now + SECOND * 15));
    assert_eq!(elector.next(now + SECOND * 15), Step::Write);
    assert!(elector.lease_to_write(Timestamp::UNIX_EPOCH).1);
    let (mut holder, _) = leader(now);
    holder.observe(None, now + SECOND);
    assert_eq!(holder.next(now + SECOND), Step::Write, "the holder creates it again");
}

#[test]
fn a_restarted_container_takes_the_lead_of_its_predecessor_at_once() {
    let now = Instant::now();
    let predecessor = elector("a", Some("uid"), 1);
    let mut restarted = elector("a", Some("uid"), 2);
    restarted.observe(Some(lease(predecessor.identity(), 1)), now);
    assert_eq!(restarted.next(now), Step::Write);
    let mut other = elector("a", Some("other"), 3);
    other.observe(Some(lease(predecessor.identity(), 1)), now);
    assert_eq!(other.next(now), Step::Wait(now + SECOND * 15));
}

#[test]
fn manager_m5_only_the_holder_releases_and_a_released_lease_is_free_at_once() {
    let now = Instant::now();
    let (holder, _) = leader(now);
    let released = holder.release(Timestamp::UNIX_EPOCH).unwrap();
    let mut follower = elector("b", None, 2);
    follower.observe(Some(lease(holder.identity(), 1)), now);
    assert_eq!(follower.release(Timestamp::UNIX_EPOCH), None);
    assert_eq!(follower.next(now), Step::Wait(now + SECOND * 15));
    follower.observe(Some(released), now + SECOND);
    assert_eq!(follower.next(now + SECOND), Step::Write);
}

#[test]
fn one_conflict_is_read_at_once_and_more_wait_with_a_jitter() {
    let (now, mut elector) = (Instant::now(), elector("a", None, 1));
    elector.observe(None, now);
    elector.record_failure(RequestFailure::Conflict, 999, now);
    assert_eq!(elector.next(now), Step::Read);
    elector.record_failure(RequestFailure::Conflict, 999, now);
    let Step::Wait(until) = elector.next(now) else { panic!("{:?}", elector.next(now)) };
    assert!((SECOND * 2..SECOND * 12 / 5).contains(&(until - now)), "{:?}", until - now);
}
