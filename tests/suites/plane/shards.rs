//! Replicas share the objects of an operator by shards.

mod team;

use std::{sync::Arc, time::Duration};

use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen::{RunError, RunOptions, manager::Runnable};
use opgen_tests::{
    Options, Plane, case, case_on, case_on_controlplane,
    wait::{self, PATIENCE},
};
use tokio::time::Instant;

use self::team::{SHARDS, Team, names, operator, shard_of};
use crate::operator::site::Site;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("shards_three_replicas_share_the_objects_and_reconcile_each_once", shared),
        case("shards_of_a_replica_that_stops_are_taken_within_two_seconds", stopped),
        case("shards_of_a_replica_that_crashed_are_taken_after_the_lease_duration", crashed),
        case("shards_have_one_writer_while_replicas_come_and_go_and_objects_change", churned),
        case("shards_an_object_that_is_deleted_is_torn_down_by_its_replica", deleted),
        case("shards_a_replica_with_another_number_waits_until_the_others_have_ended", renumbered),
        case("shards_work_that_needs_the_lead_is_refused", refused),
        case("shards_are_filtered_by_the_replica_if_the_server_does_not_select_them", filtered),
        selecting(),
    ]
}

/// Returns the case on a server that selects by shard.
fn selecting() -> Trial {
    let (name, gate) = ("shards_the_api_server_selects_what_a_replica_lists", "ShardedListAndWatch=true");
    let options = Options { apiserver_flags: vec![format!("--feature-gates={gate}")], ..Options::default() };
    if opgen_tests::Form::from_environment() == opgen_tests::Form::Sandbox {
        return case_on_controlplane(name, "the sandbox has no features in alpha", selected);
    }
    case_on(name, options, selected)
}

async fn shared(plane: Arc<Plane>) {
    let team = Team::start(&plane, 3).await;
    team.holds(&[4, 4, 4]).await;
    team.create(names(30)).await;
    team.is_settled().await;
    caches_are_disjoint(&team, 30).await;
    let asked = plane.audit().await.namespace(&team.site.namespace);
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    for note in team.notes().await {
        let applied = asked.resource("configmaps").name(&note.name_any()).verb("create");
        assert_eq!(applied.len(), 1, "{applied}");
    }
    // Each replica has written something, and nobody an object of another one.
    for replica in &team.replicas {
        assert!(!asked.by_user(&replica.user).resource("configmaps").verb("create").is_empty(), "{}", replica.user);
    }
    team.has_one_writer().await;
}

/// Waits until each note and each ConfigMap is in the caches of one replica.
async fn caches_are_disjoint(team: &Team, count: u64) {
    wait::until("each object is in one cache", PATIENCE, async || {
        let cached = |resource: &str| team.replicas.iter().map(|replica| replica.cached(resource)).collect::<Vec<_>>();
        let (notes, configs) = (cached("notes.live.example.com"), cached("configmaps"));
        let is_shared = notes == configs && notes.iter().sum::<u64>() == count && notes.iter().all(|own| *own < count);
        if is_shared { Ok(()) } else { Err(format!("{notes:?} and {configs:?}")) }
    })
    .await;
}

async fn stopped(plane: Arc<Plane>) {
    let mut team = Team::start(&plane, 3).await;
    team.holds(&[4, 4, 4]).await;
    team.create(names(20)).await;
    team.is_settled().await;
    let mut first = team.replicas.remove(0);
    let start = Instant::now();
    first.running.signal();
    first.running.end().await.unwrap();
    team.holds(&[6, 6]).await;
    let after = start.elapsed();
    assert!(after <= Duration::from_secs(2), "{after:?}");
    team.edit("two").await;
    team.is_settled().await;
    caches_are_disjoint(&team, 20).await;
    team.has_one_writer().await;
    // The member has deleted its Lease.
    let leases = team.site.api::<k8s_openapi::api::coordination::v1::Lease>().list(&Default::default()).await.unwrap();
    let members = leases.items.iter().filter(|lease| lease.name_any().contains("-member-")).count();
    assert_eq!((members, leases.items.len()), (2, 2 + usize::from(SHARDS)));
}

async fn crashed(plane: Arc<Plane>) {
    let mut team = Team::start(&plane, 3).await;
    team.holds(&[4, 4, 4]).await;
    team.create(names(20)).await;
    team.is_settled().await;
    drop(team.replicas.remove(0));
    let start = Instant::now();
    team.holds(&[6, 6]).await;
    // The last renewal is at most a retry period older than the crash.
    let after = start.elapsed();
    assert!((Duration::from_millis(6500)..Duration::from_secs(12)).contains(&after), "{after:?}");
    team.edit("two").await;
    team.is_settled().await;
    caches_are_disjoint(&team, 20).await;
    team.has_one_writer().await;
}

async fn churned(plane: Arc<Plane>) {
    let mut team = Team::start(&plane, 2).await;
    team.holds(&[6, 6]).await;
    team.create(names(12)).await;
    for round in 0..3_u64 {
        team.join(10 + round, SHARDS).await;
        team.edit(&format!("joined-{round}")).await;
        team.holds(&[4, 4, 4]).await;
        let mut first = team.replicas.remove(0);
        team.edit(&format!("left-{round}")).await;
        if round == 1 {
            drop(first);
        } else {
            first.running.signal();
            first.running.end().await.unwrap();
        }
        team.edit(&format!("later-{round}")).await;
        team.holds(&[6, 6]).await;
    }
    team.is_settled().await;
    caches_are_disjoint(&team, 12).await;
    team.has_one_writer().await;
    assert!(team.replicas.iter().all(|replica| !replica.running.has_ended()));
}

async fn deleted(plane: Arc<Plane>) {
    let team = Team::start(&plane, 2).await;
    team.holds(&[6, 6]).await;
    team.create(names(8)).await;
    team.is_settled().await;
    for name in names(8) {
        team.site.delete::<crate::operator::kinds::Note>(&name).await;
    }
    wait::until("the notes are gone", PATIENCE, async || {
        let notes = team.notes().await.len();
        if notes == 0 { Ok(()) } else { Err(format!("{notes} notes")) }
    })
    .await;
    wait::until("the caches are empty", PATIENCE, async || {
        let cached: u64 = team.replicas.iter().map(|replica| replica.cached("notes.live.example.com")).sum();
        if cached == 0 { Ok(()) } else { Err(format!("{cached} notes")) }
    })
    .await;
}

async fn renumbered(plane: Arc<Plane>) {
    let mut team = Team::start(&plane, 1).await;
    team.holds(&[12]).await;
    team.join(2, 5).await;
    team.create(names(6)).await;
    team.is_settled().await;
    team.holds(&[12, 0]).await;
    let mut first = team.replicas.remove(0);
    first.running.signal();
    first.running.end().await.unwrap();
    team.holds(&[5]).await;
    team.edit("two").await;
    team.is_settled().await;
}

async fn refused(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = operator(&site, 1, SHARDS).runnable(Runnable::new("cleanup", async |_| Ok(())));
    let end = operator.run_with(plane.client(), RunOptions::default(), std::future::pending()).await;
    assert!(matches!(&end, Err(RunError::NeedsLead { part }) if part == "runnable cleanup"), "{end:?}");
}

async fn filtered(plane: Arc<Plane>) {
    let team = Team::start(&plane, 2).await;
    team.holds(&[6, 6]).await;
    team.create(names(10)).await;
    team.is_settled().await;
    caches_are_disjoint(&team, 10).await;
    // A third one lists objects of others, and drops them.
    let mut team = team;
    team.join(3, SHARDS).await;
    team.holds(&[4, 4, 4]).await;
    team.edit("two").await;
    team.is_settled().await;
    caches_are_disjoint(&team, 10).await;
    let requests = plane.audit().await.by_user(&team.replicas[2].user).resource("notes");
    let selecting = requests.with(|entry| entry.uri.contains("shardSelector"));
    assert!(!selecting.is_empty() && selecting.len() < requests.len(), "{requests}");
    team.has_one_writer().await;
}

async fn selected(plane: Arc<Plane>) {
    let mut team = Team::start(&plane, 2).await;
    team.create(names(24)).await;
    team.is_settled().await;
    team.join(3, SHARDS).await;
    team.holds(&[4, 4, 4]).await;
    team.edit("two").await;
    team.is_settled().await;
    caches_are_disjoint(&team, 24).await;
    let requests = plane.audit().await.by_user(&team.replicas[2].user).resource("notes");
    for verb in ["list", "watch"] {
        let requests = requests.verb(verb);
        let selecting = requests.with(|entry| entry.uri.contains("shardSelector"));
        assert!(!requests.is_empty() && selecting.len() == requests.len(), "{requests}");
    }
    // The hash of the server is that of the operator: a list with the range of one shard has its objects.
    let third = (1_u128 << 64).div_ceil(3);
    let selector = format!("shardRange(object.metadata.uid, '{:#018x}', '{third:#018x}')", 0);
    let selector = selector.replace(' ', "%20").replace('\'', "%27").replace(',', "%2C");
    let path = format!("/apis/live.example.com/v1/namespaces/{}/notes?shardSelector={selector}", team.site.namespace);
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    let list: serde_json::Value = plane.client().request(request).await.unwrap();
    let mut listed: Vec<_> =
        list["items"].as_array().unwrap().iter().filter_map(|note| note["metadata"]["name"].as_str()).collect();
    listed.sort_unstable();
    let notes = team.notes().await;
    let mut expected: Vec<_> = notes
        .iter()
        .filter(|note| shard_of(&note.uid().unwrap()) < SHARDS / 3)
        .map(|note| note.metadata.name.as_deref().unwrap())
        .collect();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    team.has_one_writer().await;
}
