//! Replicas of an operator on a real control plane: no two of them write at once, whatever disturbs them.
//!
//! Each replica has an account, a network and a wall clock of its own. The audit log shows whose writes the API server received,
//! and who held the Lease. `OPGEN_DISTURBANCES` is the number of disturbances, and `OPGEN_SEED` selects them.

mod disturbance;
mod mutant;
mod replica;
pub(super) mod replicas;
pub(super) mod team;

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use k8s_openapi::jiff::Timestamp;
use opgen_tests::{
    Plane,
    leaders::Spread,
    wait::{self, PATIENCE},
};

use self::{
    disturbance::Disturber,
    team::{Team, edit, meanwhile},
};
use super::{Diary, is_whole};

/// The number of measured handovers of each kind.
const ROUNDS: usize = 5;

fn disturbances() -> usize {
    let count = std::env::var("OPGEN_DISTURBANCES").ok().and_then(|count| count.parse().ok());
    count.unwrap_or(if is_whole() { 200 } else { 12 })
}

/// Disturbs the replicas while WebApps are edited.
pub(super) async fn disturbed(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let (mut team, mut disturber, edits) = (Team::start(plane).await, Disturber::new(), AtomicUsize::new(0));
    team.is_settled().await;
    diary.say("created and available");
    let (fleet, count) = (team.fleet.clone(), disturbances());
    let disturb = async {
        disturber.disturb(&mut team, count).await;
        disturber.end(&mut team);
        // A process that was continued may find only now that it has lost the lead.
        meanwhile(Duration::from_secs(7), || disturber.tend(&mut team)).await;
    };
    tokio::select! {
        () = edit(&fleet, &edits) => {}
        () = disturb => {}
    }
    diary.say(&disturber.summary());
    team.is_settled().await;
    team.ends().await;
    diary.say("as wanted, then deleted");

    let report = team.report().await;
    let losses: usize = team.replicas.iter().map(|replica| replica.losses).sum();
    println!("{report}\n{losses} processes lost the lead and were restarted");
    for (name, in_pod) in [("restart in the Pod", true), ("new Pod", false)] {
        let kills = disturber.kills.iter().filter(|kill| kill.2 == in_pod);
        let successors = kills.filter_map(|(at, user, _)| Some(report.successor(user, *at)?.0));
        println!("from a kill to the next term ({name}): {}", successors.collect::<Spread>());
    }
    assert!(report.violations.is_empty(), "{report}\n{}", disturber.history());
    let (terms, writes) = (report.terms.len(), report.writes);
    assert!(terms > count / 4 && writes > terms, "the replicas were not disturbed: {report}\n{}", disturber.history());
}

/// Measures how soon another replica leads after a clean stop, and how soon a restarted container leads again.
pub(super) async fn handover(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let mut team = Team::start(plane).await;
    let (mut stops, mut kills) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let holder = team.is_settled().await;
        let leader = team.number_of(&holder).expect("a replica");
        let stopped = Timestamp::now();
        let status = team.replicas[leader].stop().await;
        assert!(status.success(), "{status}; {}", team.replicas[leader].process.log_tail(20));
        team.holder_after(&holder).await;
        stops.push((stopped, team.replicas[leader].access.user().to_owned()));
        team.replicas[leader].restart(true);
    }
    for _ in 0..ROUNDS {
        let holder = team.is_settled().await;
        let leader = team.number_of(&holder).expect("a replica");
        let killed = Timestamp::now();
        team.replicas[leader].process.kill();
        team.replicas[leader].restart(false);
        let next = team.holder_after(&holder).await;
        assert_eq!(team.number_of(&next), Some(leader), "another replica was faster");
        kills.push((killed, team.replicas[leader].access.user().to_owned()));
    }
    team.ends().await;
    let report = team.report().await;
    let times = |ends: &[(Timestamp, String)]| -> Spread {
        ends.iter().map(|(at, user)| report.successor(user, *at).expect("a next term").0).collect()
    };
    let (stops, kills) = (times(&stops), times(&kills));
    println!("{report}\nfrom SIGTERM to the next term: {stops}\nfrom SIGKILL to the next term in the Pod: {kills}");
    assert!(report.violations.is_empty(), "{report}");
    assert!(stops.max() <= Some(Duration::from_secs(1)), "{stops}");
    assert!(kills.max() <= Some(Duration::from_secs(2)), "{kills}");
    diary.say("measured");
}

/// A replica that runs without election beside the leader is found by the check.
pub(super) async fn unelected(plane: Arc<Plane>) {
    let mut team = Team::start(plane).await;
    let holder = team.is_settled().await;
    let follower = (team.number_of(&holder).expect("a replica") + 1) % team.replicas.len();
    team.replicas[follower].process.kill();
    team.replicas[follower].restart_unelected();
    let (fleet, edits) = (team.fleet.clone(), AtomicUsize::new(0));
    let found = wait::until("the check finds its writes", PATIENCE, async || {
        let report = team.report().await;
        if report.violations.is_empty() { Err(report.to_string()) } else { Ok(report) }
    });
    let report = tokio::select! {
        () = edit(&fleet, &edits) => unreachable!("it never ends"),
        report = found => report,
    };
    let user = team.replicas[follower].access.user();
    assert!(report.violations.iter().all(|violation| violation.contains(user)), "{report}");
    team.ends().await;
}

/// Replicas whose deadline is later than the expiry of the Lease are found by the check under the same disturbances.
pub(super) async fn late_deadline(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let program = mutant::with_late_deadline();
    diary.say("built with a late deadline");
    let (mut team, mut disturber, edits) =
        (Team::start_program(plane, &program).await, Disturber::new(), AtomicUsize::new(0));
    team.is_settled().await;
    let fleet = team.fleet.clone();
    let find = async {
        for _ in 0..disturbances() {
            disturber.disturb(&mut team, 1).await;
            if !team.report().await.violations.is_empty() {
                break;
            }
        }
    };
    tokio::select! {
        () = edit(&fleet, &edits) => {}
        () = find => {}
    }
    let report = team.report().await;
    diary.say(&disturber.summary());
    println!("{report}");
    assert!(!report.violations.is_empty(), "the check did not find the late deadline: {}", disturber.history());
}
