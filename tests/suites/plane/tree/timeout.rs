//! Reports an owner as stalled whose object has not been ready for longer than the option `timeout` of its node.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use k8s_openapi::{api::apps::v1::Deployment, jiff::SignedDuration};
use libtest_mimic::Trial;
use opgen::{RunOptions, environment::Environment, prelude::*};
use opgen_tests::{Plane, case};
use serde_json::json;

use super::{
    kinds::{SHOP, Shop, done, says, shop, written},
    readiness::{deployment, set_scenarios, spec},
};
use crate::operator::site::Site;

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("node_timeout_the_owner_of_an_object_that_does_not_get_ready_is_stalled", stalled)]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct TimeoutTree {
    #[provisioner(resource(timeout = "10m"))]
    web: Deployment,
}

impl TimeoutTree {
    fn web(shop: &Shop) -> Result<Deployment> {
        deployment(&shop.spec.text)
    }
}

/// Returns the environment of the site with a clock that is ahead by a number of minutes.
fn environment(site: &Site, ahead: &Arc<AtomicI64>) -> Environment {
    let (environment, random, ahead) = (site.environment(), site.environment(), ahead.clone());
    let now = move || environment.now() + SignedDuration::from_mins(ahead.load(Ordering::SeqCst));
    Environment::new(now, move || random.random())
}

/// Returns the types and the values of the conditions.
async fn conditions(site: &Site) -> String {
    let status = site.api::<Shop>().get(SHOP).await.unwrap().status.unwrap_or_default();
    let conditions = status.conditions.iter().map(|condition| format!("{}={}", condition.type_, condition.status));
    conditions.collect::<Vec<_>>().join(" ")
}

async fn stalled(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let ahead = Arc::<AtomicI64>::default();
    let soon = Duration::from_millis(300);
    let operator = site
        .operator()
        .environment(environment(&site, &ahead))
        .controls_with::<Shop, TimeoutTree>(|controller| controller.requeue_after(soon));
    let mut running = site.start(&operator).await;
    site.create(&shop(spec("unready"))).await;
    let waiting = format!("web: Deployment {}/web", site.namespace);
    let timed_out = format!("{waiting} has not been ready for 10m");
    assert_eq!(says(&site, "WaitingFor").await, waiting);
    let before = site.settled().await;
    ahead.store(9, Ordering::SeqCst);
    let writes = written(&site, &before).await;
    assert!(writes.is_empty(), "{writes}");
    ahead.store(11, Ordering::SeqCst);
    assert_eq!(says(&site, "NodeTimeout").await, timed_out);
    assert_eq!(conditions(&site).await, "Available=False Ready=False Stalled=True");

    // After a restart, the first pass finds the owner stalled. It writes the status only for the new generation.
    let before = site.settled().await;
    running.signal();
    running.end().await.unwrap();
    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": true}})).await;
    let _running = site.run(&operator, RunOptions::default()).await;
    assert_eq!(says(&site, "NodeTimeout").await, timed_out);
    let writes = written(&site, &before).await;
    assert_eq!(writes.len(), 1, "{writes}");

    // A new desired state begins a new wait.
    site.patch::<Shop>(SHOP, &json!({"spec": {"text": "pulling"}})).await;
    assert_eq!(says(&site, "WaitingFor").await, waiting);
    assert_eq!(conditions(&site).await, "Available=False Ready=Unknown Reconciling=True");
    site.patch::<Shop>(SHOP, &json!({"spec": {"text": "ready"}})).await;
    done(&site).await;

    // So does an object that was ready.
    site.settled().await;
    ahead.store(60, Ordering::SeqCst);
    set_scenarios(&site, "unready").await;
    assert_eq!(says(&site, "WaitingFor").await, waiting);
    site.settled().await;
    ahead.store(71, Ordering::SeqCst);
    assert_eq!(says(&site, "NodeTimeout").await, timed_out);
    set_scenarios(&site, "ready").await;
    done(&site).await;
}
