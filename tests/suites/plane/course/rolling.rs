//! A rolling update of an operator with two replicas while its objects are edited: always two replicas are ready, one writes, and
//! every edit is reconciled.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use futures::future::join_all;
use k8s_openapi::jiff::Timestamp;
use opgen_tests::{Entries, Plane, leaders::Spread};
use tokio::time::{MissedTickBehavior, interval};

use super::{
    Diary,
    leaders::team::{Team, edit, meanwhile},
};
use crate::operator::program::readiness;

/// The number of replicas that the Deployment wants.
const WANTED: usize = 2;
/// The time between two probes. A kubelet probes every second at most.
const PROBE_PERIOD: Duration = Duration::from_millis(20);
/// The longest time from an edit to the write that follows it. A clean stop hands the lead over within a second.
const LATEST: Duration = Duration::from_secs(3);

pub(super) async fn update(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let mut team = Team::start(plane).await;
    team.is_settled().await;
    // The update adds this one as the first Pod of the new release.
    assert!(team.replicas[WANTED].stop().await.success());
    diary.say("two replicas run");
    let (fleet, edits, log) = (team.fleet.clone(), AtomicUsize::new(0), ReadyLog::default());
    let addresses = team.replicas.iter().map(|replica| replica.address()).collect::<Vec<_>>();
    let replace = async {
        meanwhile(Duration::from_secs(1), || {}).await;
        for (new, old) in [(2, 0), (0, 1)] {
            team.replicas[new].restart(true);
            team.replicas[new].ready().await;
            let status = team.replicas[old].stop().await;
            assert!(status.success(), "{status}; {}", team.replicas[old].process.log_tail(20));
            diary.say("one was replaced");
        }
        meanwhile(Duration::from_secs(2), || {}).await;
    };
    tokio::select! {
        () = edit(&fleet, &edits) => {}
        () = log.probe(&addresses) => {}
        () = replace => {}
    }
    let (probes, gaps) = log.into_inner();
    let entries = team.entries().await;
    let report = team.report().await;
    let reactions = reactions(&entries, &team.users());
    println!("{report}\n{probes} probes; from an edit to the write after it: {reactions}");
    assert!(report.violations.is_empty(), "{report}");
    assert!(report.terms.len() > 1, "the lead did not move: {report}");
    assert!(probes > 50 && gaps.is_empty(), "of {probes} probes these found too few ready replicas: {gaps:?}");
    assert!(reactions.max().is_some_and(|longest| longest <= LATEST), "{reactions}");
    team.replicas[1].restart(true);
    team.is_settled().await;
    team.ends().await;
    diary.say("updated, as wanted, then deleted");
}

/// The probes of all replicas.
#[derive(Debug, Default)]
struct ReadyLog(RefCell<(usize, Vec<String>)>);

impl ReadyLog {
    /// Probes all replicas at once, again and again.
    async fn probe(&self, addresses: &[SocketAddr]) {
        let mut ticks = interval(PROBE_PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut too_few = None;
        loop {
            ticks.tick().await;
            let answers = join_all(addresses.iter().map(|address| readiness(*address))).await;
            let ready = answers.iter().filter(|answer| matches!(answer, Ok((200, _)))).count();
            let mut log = self.0.borrow_mut();
            log.0 += 1;
            // The answers of one round are not of one instant: a round may see a new replica before and an old one after a step.
            let earlier = too_few.replace(ready < WANTED);
            if ready < WANTED && earlier == Some(true) {
                log.1.push(format!("{}: {answers:?}", Timestamp::now()));
            }
        }
    }

    fn into_inner(self) -> (usize, Vec<String>) {
        self.0.into_inner()
    }
}

/// Returns for each edit of a WebApp the time until the server received the next write of its ConfigMap by a replica.
fn reactions(entries: &Entries, replicas: &BTreeSet<String>) -> Spread {
    let entries = entries.as_received();
    let at = |time: &str| time.parse::<Timestamp>().expect("a time of the audit log");
    let edits = entries.resource("webapps").subresource("").verb("patch").code(200);
    let edits = edits.with(|entry| !replicas.contains(&entry.user));
    let writes =
        entries.resource("configmaps").writes().with(|entry| replicas.contains(&entry.user) && entry.code < 300);
    let reaction = |edit: &opgen_tests::Entry| {
        let next = writes.iter().find(|write| write.name == edit.name && write.received > edit.received);
        let until = next.map_or_else(Timestamp::now, |write| at(&write.received));
        Duration::try_from(until.duration_since(at(&edit.received))).expect("a time that passes")
    };
    edits.iter().map(reaction).collect()
}
