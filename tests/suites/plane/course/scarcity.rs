//! Tests a lost node, an exceeded quota and a clock that is behind.

use std::{process::Command, sync::Arc};

use k8s_openapi::api::core::v1::{Pod, ResourceQuota, Service};
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams},
};
use opgen_tests::{
    Options, Plane, Port, Process,
    wait::{self, PATIENCE},
};
use serde_json::json;
use webapp_api::WebApp;

use super::{Diary, LONG, clock, nothing_was_denied};
use crate::operator::{
    example::{Installed, WEBAPP},
    fleet::Fleet,
    owners::{is_available, spec},
    program::{self, readiness},
};

const COUNT: usize = 10;
const SPARE: &str = "spare";

/// A cluster that gives a silent node up after 20 s, and its Pods 10 s later.
pub(super) fn losing() -> Options {
    let flags = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
    Options {
        apiserver_flags: flags(&[
            "--default-not-ready-toleration-seconds=10",
            "--default-unreachable-toleration-seconds=10",
        ]),
        controller_manager_flags: flags(&["--node-monitor-grace-period=20s", "--node-monitor-period=2s"]),
        ..Options::served()
    }
}

pub(super) async fn node_lost(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    plane.start_node(SPARE).await;
    let installed = Installed::new(WEBAPP, plane).await;
    let plane = &installed.plane;
    let program = installed.start().await;
    let fleet = Fleet::new(plane, COUNT).await;
    fleet.create(&fleet.names).await;
    fleet.patch::<WebApp>(&fleet.names, &spec(json!({"replicas": 2}))).await;
    fleet.available(COUNT).await;
    let lost = pods_on(&fleet, SPARE).await.unwrap();
    assert!(!lost.is_empty(), "the scheduler left the second node empty");
    plane.stop_node(SPARE);
    wait::until("some WebApp is not available", LONG, async || {
        let apps = fleet.api::<WebApp>().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        if apps.iter().any(|app| !is_available(app)) { Ok(()) } else { Err("all are".to_owned()) }
    })
    .await;
    diary.say("it is told");
    fleet.available(COUNT).await;
    diary.say("all run elsewhere");
    // Nobody says that the Pods of the lost node have ended, until the node is taken out.
    assert!(!pods_on(&fleet, SPARE).await.unwrap().is_empty());
    plane.delete_node(SPARE).await;
    wait::until("the Pods of the lost node are gone", LONG, async || match pods_on(&fleet, SPARE).await? {
        left if left.is_empty() => Ok(()),
        left => Err(format!("{left:?}")),
    })
    .await;
    diary.say("and nothing is left of the node");
    fleet.delete::<WebApp>(&fleet.names).await;
    fleet.gone().await;
    program.stop().await;
    nothing_was_denied(&installed).await;
}

async fn pods_on(fleet: &Fleet, node: &str) -> Result<Vec<String>, String> {
    let pods = fleet.api::<Pod>().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
    let is_there = |pod: &&Pod| pod.spec.as_ref().is_some_and(|spec| spec.node_name.as_deref() == Some(node));
    Ok(pods.iter().filter(is_there).map(|pod| pod.name_any()).collect())
}

/// First the operator may not make what it wants, then the Deployments may not.
pub(super) async fn quota_exceeded(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let installed = Installed::new(WEBAPP, plane).await;
    let program = installed.start().await;
    let fleet = Fleet::new(&installed.plane, COUNT).await;
    let quotas = fleet.api::<ResourceQuota>();
    let quota = json!({"metadata": {"name": "small"}, "spec": {"hard": {"count/services": "4", "pods": "6"}}});
    quotas.create(&Default::default(), &serde_json::from_value(quota).unwrap()).await.unwrap();
    wait::until_object(&quotas, "small", "is counted", |quota| {
        quota.status.as_ref().is_some_and(|status| status.used.as_ref().is_some_and(|used| used.contains_key("pods")))
    })
    .await;

    fleet.create(&fleet.names).await;
    told(&fleet, COUNT - 4, "exceeded quota").await;
    assert_eq!(fleet.api::<Service>().list(&Default::default()).await.unwrap().items.len(), 4);
    diary.say("the operator is held up, and says so");
    let raise = |hard: serde_json::Value| {
        let (quotas, patch) = (quotas.clone(), Patch::Merge(json!({"spec": {"hard": hard}})));
        async move { quotas.patch("small", &PatchParams::default(), &patch).await.unwrap() }
    };
    raise(json!({"count/services": "100"})).await;
    fleet.services.until("are there", COUNT, |_| true).await;
    wait::until("six are available, and four say why not", LONG, async || {
        let apps = fleet.api::<WebApp>().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        let available = apps.iter().filter(|app| is_available(*app)).count();
        if available == 6 { Ok(()) } else { Err(format!("{available} are available")) }
    })
    .await;
    told(&fleet, 4, "exceeded quota").await;
    diary.say("the Deployments are held up, and it is said");
    raise(json!({"pods": "100"})).await;
    fleet.available(COUNT).await;
    diary.say("all are available");
    fleet.delete::<WebApp>(&fleet.names).await;
    fleet.gone().await;
    program.stop().await;
}

/// Waits until so many WebApps say something in a condition.
async fn told(fleet: &Fleet, count: usize, text: &str) {
    wait::until(format!("{count} say {text:?}"), LONG, async || {
        let apps = fleet.api::<WebApp>().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        let messages = |app: &WebApp| -> Vec<String> {
            let conditions = app.status.iter().flat_map(|status| status.conditions.iter());
            conditions.map(|condition| condition.message.clone()).collect()
        };
        let say = apps.iter().filter(|app| messages(app).iter().any(|message| message.contains(text))).count();
        if say == count { Ok(()) } else { Err(format!("{say}: {:?}", apps.iter().map(messages).collect::<Vec<_>>())) }
    })
    .await;
}

/// The operator's machine is ten minutes behind the API server's.
pub(super) async fn clock_behind(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let installed = Installed::new(WEBAPP, plane).await;
    let plane = &installed.plane;
    let (port, mut command) = (Port::reserve(), Command::new(program::path(&WEBAPP)));
    command.args(["run", "--probe-address", &port.address().to_string()]).envs(clock::shifted("-10m"));
    command.env("KUBECONFIG", installed.access.kubeconfig());
    let mut process = Process::spawn("webapp", command, &plane.folder().join("webapp-behind.log"));
    wait::until("the operator is ready", PATIENCE, async || {
        assert!(process.exited().is_none(), "{}", process.log_tail(20));
        match readiness(port.address()).await? {
            (200, _) => Ok(()),
            (code, text) => Err(format!("{code}: {text}")),
        }
    })
    .await;
    let fleet = Fleet::new(plane, COUNT).await;
    fleet.create(&fleet.names).await;
    let apps = fleet.available(COUNT).await;
    for app in apps {
        let (made, conditions) = (app.creation_timestamp().unwrap().0, &app.status.as_ref().unwrap().conditions);
        let is_behind = conditions.iter().all(|condition| condition.last_transition_time.0 < made);
        assert!(is_behind, "the clock of the operator is not behind: {conditions:?}");
    }
    diary.say("created and available");
    fleet.patch::<WebApp>(&fleet.names, &spec(json!({"greeting": "late", "image": "example.com/web:2"}))).await;
    fleet.greets(COUNT, "late").await;
    fleet.available(COUNT).await;
    diary.say("edited");
    fleet.delete::<WebApp>(&fleet.names).await;
    fleet.gone().await;
    diary.say("gone");
    process.terminate();
    assert!(process.wait_exit(PATIENCE).await.success(), "{}", process.log_tail(20));
    nothing_was_denied(&installed).await;
}
