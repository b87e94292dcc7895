//! A rolling update of an operator with two replicas while its objects are edited: always two replicas are ready, one writes, and
//! every edit is reconciled.

mod load;

use std::{cell::RefCell, collections::BTreeSet, net::SocketAddr, sync::Arc, time::Duration};

use futures::future::join_all;
use k8s_openapi::jiff::Timestamp;
use opgen_tests::{Entries, Plane, leaders::Spread};
use tokio::time::{MissedTickBehavior, interval};

use self::load::{Load, Pools, ShopLoad, WebApps};
use super::{
    Diary,
    leaders::{replicas::Replicas, team::meanwhile},
};
use crate::operator::program::{self, readiness};

/// The number of replicas that the Deployment wants.
const WANTED: usize = 2;
/// The time between two probes. A kubelet probes every second at most.
const PROBE_PERIOD: Duration = Duration::from_millis(20);
/// The longest time from an edit to the write that follows it. A clean stop hands the lead over within a second.
const LATEST: Duration = Duration::from_secs(3);

pub(super) async fn of_webapps(plane: Arc<Plane>) {
    update::<WebApps>(plane).await;
}

pub(super) async fn of_shops(plane: Arc<Plane>) {
    update::<ShopLoad>(plane).await;
}

pub(super) async fn of_ippools(plane: Arc<Plane>) {
    update::<Pools>(plane).await;
}

async fn update<L: Load>(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    L::install(&plane).await;
    let program = program::path(&L::OPERATOR.example);
    let mut all = Replicas::start(plane.clone(), L::OPERATOR, &program).await;
    let load = L::create(&plane).await;
    all.is_settled().await;
    // The update adds this one as the first Pod of the new release.
    assert!(all.replicas[WANTED].stop().await.success());
    diary.say("two replicas run");
    let log = ReadyLog::default();
    let addresses = all.replicas.iter().map(|replica| replica.address()).collect::<Vec<_>>();
    let replace = async {
        meanwhile(Duration::from_secs(1), || {}).await;
        for (new, old) in [(2, 0), (0, 1)] {
            all.replicas[new].restart(true);
            all.replicas[new].ready().await;
            let status = all.replicas[old].stop().await;
            assert!(status.success(), "{status}; {}", all.replicas[old].process.log_tail(20));
            diary.say("one was replaced");
        }
        meanwhile(Duration::from_secs(2), || {}).await;
    };
    tokio::select! {
        () = edit(&load) => {}
        () = log.probe(&addresses) => {}
        () = replace => {}
    }
    let (probes, gaps) = log.into_inner();
    let entries = all.entries().await;
    let report = all.report().await;
    let reactions = reactions::<L>(&entries, &all.users());
    println!("{report}\n{probes} probes; from an edit to the write after it: {reactions}");
    assert!(report.violations.is_empty(), "{report}");
    assert!(report.terms.len() > 1, "the lead did not move: {report}");
    assert!(probes > 50 && gaps.is_empty(), "of {probes} probes these found too few ready replicas: {gaps:?}");
    assert!(reactions.max().is_some_and(|longest| longest <= LATEST), "{reactions}");
    all.replicas[1].restart(true);
    all.is_settled().await;
    load.end().await;
    all.stop().await;
    diary.say("updated, as wanted, then deleted");
}

/// Edits one object after the other, for as long as it is polled.
async fn edit<L: Load>(load: &L) {
    let mut ticks = interval(L::PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for number in 0.. {
        ticks.tick().await;
        load.edit(number).await;
    }
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

/// Returns for each edit the time until the server received the next write for its object by a replica.
fn reactions<L: Load>(entries: &Entries, replicas: &BTreeSet<String>) -> Spread {
    let entries = entries.as_received();
    let at = |time: &str| time.parse::<Timestamp>().expect("a time of the audit log");
    let edits = entries.resource(L::EDITED).subresource("").verb("patch").code(200);
    let edits = edits.with(|entry| !replicas.contains(&entry.user));
    let writes = entries.resource(L::WRITTEN).writes();
    let writes = writes.with(|entry| replicas.contains(&entry.user) && entry.code < 300);
    let reaction = |edit: &opgen_tests::Entry| {
        let next = writes.iter().find(|write| write.name.starts_with(&edit.name) && write.received > edit.received);
        let until = next.map_or_else(Timestamp::now, |write| at(&write.received));
        Duration::try_from(until.duration_since(at(&edit.received))).expect("a time that passes")
    };
    edits.iter().map(reaction).collect()
}
