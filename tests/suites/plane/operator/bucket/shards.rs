//! Replicas with shards share the entries of a bucket, beside Kubernetes and without it.

use std::sync::Arc;

use libtest_mimic::Trial;
use opgen::{
    Operator, RunOptions,
    environment::Environment,
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{
    Plane, case_with_buckets,
    wait::{PATIENCE, until},
};
use serde_json::{Value, json};

use super::{
    super::site::{NAME, Running, Site},
    alone::{Alone, election_of_members},
    siphon::{SiphonTree, VisitedSiphon, Visits},
    store::{CaseBucket, CaseBuckets},
    stored::{is_observed, object, until_stored},
};

pub(super) fn cases() -> Vec<Trial> {
    vec![
        case_with_buckets("shards_replicas_without_kubernetes_share_the_entries_of_a_bucket", without_kubernetes),
        case_with_buckets("shards_replicas_share_entries_whose_children_are_in_kubernetes", beside_kubernetes),
    ]
}

/// The number of shards.
const SHARDS: u16 = 12;

/// The number of siphons. It is large enough for each replica to have some.
const COUNT: usize = 30;

/// A replica that runs.
struct SiphonMember {
    operator: Operator,
    visits: Visits,
    running: Running,
}

/// Replicas that share the siphons of a namespace.
struct SiphonTeam {
    members: Vec<SiphonMember>,
    siphons: CaseBucket,
    namespace: String,
}

impl SiphonTeam {
    fn add(&mut self, (operator, visits): (Operator, Visits), running: Running) {
        self.members.push(SiphonMember { operator, visits, running });
    }

    /// Waits until the members hold these numbers of shards, and reconcile their objects.
    async fn holds(&self, expected: &[u64]) {
        until(format!("the members hold {expected:?} shards"), PATIENCE, async || {
            let held: Vec<_> = self.members.iter().map(SiphonMember::shards).collect();
            if held == expected { Ok(()) } else { Err(format!("{held:?}")) }
        })
        .await;
    }

    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.namespace)
    }

    /// Writes all siphons as a client that knows nothing but their specs, and waits until the members have followed.
    async fn put(&self, text: &str) {
        for name in names() {
            self.siphons.put_raw(&self.key(&name), json!({"spec": {"text": text}}).to_string()).await;
        }
        for name in names() {
            let has_status = |siphon: &Value| is_observed(siphon) && siphon["spec"]["text"] == text;
            until_stored(&self.siphons, &self.key(&name), &format!("has the status of {text}"), has_status).await;
        }
    }

    /// Checks that the passes over each siphon with this text were those of one member, and that each member has made some.
    async fn shared(&self, text: &str) {
        for member in &self.members {
            member.visits.rest().await;
        }
        let has_visited =
            |member: &SiphonMember, name: &str| member.visits.texts(name).iter().any(|visited| visited == text);
        for name in names() {
            let count = self.members.iter().filter(|member| has_visited(member, &name)).count();
            assert_eq!(count, 1, "members that passed over {name} with {text}");
        }
        for member in &self.members {
            assert!(names().any(|name| has_visited(member, &name)), "a member without passes");
        }
    }

    /// Shares all siphons among three members, of which one stops and one crashes.
    async fn hands_over(&mut self) {
        self.holds(&[4, 4, 4]).await;
        self.put("a").await;
        self.shared("a").await;

        let stopped = self.members.remove(0);
        stopped.running.end_now().await;
        self.holds(&[6, 6]).await;
        self.put("b").await;
        self.shared("b").await;

        drop(self.members.remove(0));
        self.holds(&[12]).await;
        self.put("c").await;
        self.shared("c").await;
        assert!(!self.members[0].running.has_ended());
    }
}

impl SiphonMember {
    /// Returns the number of shards that it holds.
    fn shards(&self) -> u64 {
        let text = self.operator.metrics().text().unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix("opgen_shards_held ")?.parse().ok());
        value.unwrap_or_default()
    }
}

fn names() -> impl Iterator<Item = String> {
    (0..COUNT).map(|number| format!("siphon-{number}"))
}

async fn without_kubernetes(plane: Arc<Plane>) {
    let alone = Alone::new(&plane).await;
    let (siphons, configs) = (alone.buckets.bucket("siphons"), alone.buckets.bucket("sluice-configmaps"));
    let mut team = SiphonTeam { members: Vec::new(), siphons, namespace: "default".to_owned() };
    for number in 1..=3 {
        let (operator, visits) = alone.sharded(number, SHARDS).await;
        let running = alone.run(&operator);
        team.add((operator, visits), running);
    }
    team.hands_over().await;
    for name in names() {
        let config = object(&configs, &team.key(&name)).await.unwrap_or_default();
        assert_eq!(config["data"]["text"], "c", "{name}: {config}");
    }
}

async fn beside_kubernetes(plane: Arc<Plane>) {
    let (site, buckets) = (Site::new(&plane).await, CaseBuckets::new(&plane).await);
    let sharded = async |number: u64| {
        let (visits, link) = (Visits::default(), buckets.another_link().await);
        let (of_controller, clock, dice) = (visits.clone(), plane.clone(), Seeded::new(number));
        let operator = Operator::new(NAME)
            .namespace(&site.namespace)
            .namespaced()
            .environment(Environment::new(move || clock.now(), move || dice.bits()))
            .buckets(link)
            .controls_with::<VisitedSiphon, SiphonTree>(|controller| controller.options(of_controller));
        (operator.leader_election(election_of_members()).shards(SHARDS), visits)
    };
    site.install(&sharded(0).await.0).await;
    let siphons = buckets.bucket("siphons");
    let mut team = SiphonTeam { members: Vec::new(), siphons, namespace: site.namespace.clone() };
    for number in 1..=3 {
        let (operator, visits) = sharded(number).await;
        let running = site.run(&operator, RunOptions::default()).await;
        team.add((operator, visits), running);
    }
    team.hands_over().await;
    let asked = site.asked().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    for name in names() {
        let created = asked.resource("configmaps").name(&name).verb("create");
        assert_eq!(created.len(), 1, "{created}");
    }
}
