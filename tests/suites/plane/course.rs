//! The course of the cluster: what Deployments, nodes, quotas and time do to the examples, and chaos. It runs every night
//! (`OPGEN_COURSE=whole`); with every change run a short life of WebApps, the [election](leaders) of their operator with a few
//! disturbances, and the [agreement](crate::agreement) about workloads.

mod applications;
mod chaos;
mod clock;
mod ippool;
mod leaders;
mod orphan;
mod outage;
mod profile;
mod rolling;
mod scarcity;
mod scene;
mod shop;
mod short;
mod webapp;

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, api::DeleteParams};
use libtest_mimic::Trial;
use opgen_tests::{Entries, Options, Plane, case_on_cluster, case_on_shared_cluster, wait};

use crate::operator::example::Installed;

/// `short` (the default) or `whole`.
const COURSE: &str = "OPGEN_COURSE";

/// How long dozens of workloads may take on a busy two-core machine.
pub(crate) const LONG: Duration = Duration::from_secs(180);

pub(crate) fn cases() -> Vec<Trial> {
    let mut cases = vec![
        case_on_shared_cluster("an_operator_lives_a_short_life_on_a_cluster", short::life),
        case_on_shared_cluster("another_replica_leads_soon_after_a_clean_stop_or_a_restart", leaders::handover),
        case_on_shared_cluster("the_check_of_the_leaders_finds_a_replica_without_election", leaders::unelected),
        case_on_shared_cluster("a_rolling_update_under_load_has_no_gap", rolling::of_webapps),
        case_on_shared_cluster("a_profile_of_a_running_operator_is_fetched", profile::fetched),
        case_on_cluster("replicas_that_are_disturbed_never_write_at_once", Options::served(), leaders::disturbed),
    ];
    if is_whole() {
        cases.extend(whole());
        cases.extend(applications::cases());
    }
    cases
}

fn whole() -> Vec<Trial> {
    let usual = Options::served;
    vec![
        case_on_cluster("the_check_of_the_leaders_finds_a_late_deadline", usual(), leaders::late_deadline),
        case_on_shared_cluster("webapps_live_on_a_cluster", webapp::life),
        case_on_shared_cluster("shops_live_on_a_cluster", shop::life),
        case_on_shared_cluster("ippools_live_on_a_cluster", ippool::life),
        case_on_shared_cluster("a_rolling_update_while_shops_are_edited_has_no_gap", rolling::of_shops),
        case_on_shared_cluster("a_rolling_update_while_pools_are_edited_has_no_gap", rolling::of_ippools),
        case_on_shared_cluster("orphaned_children_stay", orphan::stay),
        case_on_shared_cluster("an_exceeded_quota_is_told_and_made_up_for", scarcity::quota_exceeded),
        case_on_shared_cluster("a_clock_that_is_behind_changes_nothing", scarcity::clock_behind),
        case_on_cluster("an_outage_of_the_api_server_under_load_is_over_soon", usual(), outage::under_load),
        case_on_cluster("an_outage_longer_than_the_watch_cache_loses_nothing", usual(), outage::longer_than_history),
        case_on_cluster("work_without_a_controller_manager_is_made_up_for", usual(), outage::no_controllers),
        case_on_cluster("a_lost_node_is_told_and_made_up_for", scarcity::losing(), scarcity::node_lost),
        case_on_cluster("webapps_survive_chaos", usual(), chaos::of_webapps),
        case_on_cluster("shops_survive_chaos", usual(), chaos::of_shops),
    ]
}

/// Whether the whole course is asked for.
pub(crate) fn is_whole() -> bool {
    match std::env::var(COURSE).as_deref() {
        Err(_) | Ok("" | "short") => false,
        Ok("whole") => true,
        Ok(other) => panic!("{COURSE} is `{other}`; it may be `short` or `whole`"),
    }
}

/// Says what was reached, and when.
struct Diary(Instant);

impl Diary {
    fn new(plane: &Plane) -> Self {
        println!("the cluster holds {} MiB", plane.resident_kib() / 1024);
        Self(Instant::now())
    }

    fn say(&self, what: &str) {
        println!("{:6.1} s: {what}", self.0.elapsed().as_secs_f32());
    }
}

/// Deletes a namespace, and waits until it is gone with all that is in it.
pub(crate) async fn delete_namespace(plane: &Plane, name: &str) {
    let namespaces = Api::<Namespace>::all(plane.client());
    namespaces.delete(name, &DeleteParams::default()).await.unwrap();
    wait::until(format!("the namespace {name} is gone"), LONG, async || match namespaces.get_opt(name).await {
        Ok(None) => Ok(()),
        Ok(Some(namespace)) => Err(format!("{:?}", namespace.status)),
        Err(error) => Err(error.to_string()),
    })
    .await;
}

/// The operator of an example was never denied anything but an event in a namespace that goes.
async fn nothing_was_denied(installed: &Installed) {
    nothing_was_denied_since(installed, &installed.earlier).await;
}

async fn nothing_was_denied_since(installed: &Installed, earlier: &Entries) {
    let denied = installed.asked(earlier).await.denied().with(|entry| entry.resource != "events");
    assert!(denied.is_empty(), "{denied}");
}

/// Checks that nothing is denied while the API server runs. One that has just started denies everything until it has read
/// the roles.
#[derive(Default)]
struct Denials(Mutex<Option<Entries>>);

impl Denials {
    /// Has something happen in which the API server is away; back and ready, it has excused what it denied in between.
    async fn outage<T>(&self, installed: &Installed, during: impl Future<Output = T>) -> T {
        self.none(installed).await;
        let done = during.await;
        let now = installed.plane.audit().await;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        done
    }

    /// Nothing was denied since the last outage.
    async fn none(&self, installed: &Installed) {
        let earlier = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        nothing_was_denied_since(installed, earlier.as_ref().unwrap_or(&installed.earlier)).await;
    }
}
