//! Parts of the control plane that are away while there is work.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{Api, ResourceExt as _};
use opgen_tests::{Entries, Plane, wait};
use rustix::process::Signal;
use serde_json::json;
use webapp_api::WebApp;

use super::{LONG, scene::Scene};
use crate::operator::{
    fleet,
    owners::{is_available, spec},
};

const COUNT: usize = 30;

/// How soon after the last change everything must be as wanted, 2 s after the return of the API server.
const SOON: Duration = Duration::from_secs(10);

/// The same where each watch has to list first, on a machine that does much else.
const AFTER_RELIST: Duration = Duration::from_secs(30);

pub(super) async fn under_load(plane: Arc<Plane>) {
    let scene = Scene::new(plane, COUNT).await;
    let outage = async {
        scene.passes("some is changed", Duration::from_secs(1)).await;
        scene.outage(Duration::from_secs(20)).await;
        scene.passes("some more is changed", Duration::from_secs(2)).await;
    };
    scene.under_load(outage).await;
    let took = scene.converges(COUNT, SOON).await;
    scene.diary.say(&format!("as wanted {:.1} s after the last change", took.as_secs_f32()));
    scene.ends().await;
}

/// Every resourceVersion that the operator knows is too old to watch from, and it has missed changes of each sort.
pub(super) async fn longer_than_history(plane: Arc<Plane>) {
    let mut scene = Scene::new(plane, COUNT).await;
    scene.program.process.pause();
    // This ends its connections: nothing that happens from now on reaches it, not even through the buffer of a socket.
    scene.outage(Duration::ZERO).await;
    let before = scene.installed.plane.audit().await;
    unseen_changes(&scene).await;
    let asked = scene.installed.asked(&before).await;
    assert!(asked.is_empty(), "the operator is not stopped:\n{asked}");
    scene.expire_watches().await;
    scene.program.process.signal(Signal::CONT);
    let took = scene.converges(COUNT, AFTER_RELIST).await;
    scene.fleet.deployments.until("are left", COUNT, |_| true).await;
    scene.diary.say(&format!("converged {:.1} s after the operator went on", took.as_secs_f32()));
    listed_again(&scene, &before).await;

    // Once more while it runs.
    let before = scene.installed.plane.audit().await;
    scene.expire_watches().await;
    scene.fleet.patch::<WebApp>(&scene.fleet.names[1..], &spec(json!({"greeting": "and again"}))).await;
    let took = scene.converges(COUNT, AFTER_RELIST).await;
    scene.diary.say(&format!("converged {:.1} s after the last change", took.as_secs_f32()));
    listed_again(&scene, &before).await;
    scene.fleet.delete::<WebApp>(&[LATE.to_owned()]).await;
    scene.fleet.create(&scene.fleet.names[..1]).await;
    scene.ends().await;
}

/// The WebApp that is created while the operator sees nothing.
const LATE: &str = "late";

/// Deletes a WebApp, creates another, edits a third, and harms children of others.
async fn unseen_changes(scene: &Scene) {
    let (fleet, names) = (&scene.fleet, &scene.fleet.names);
    fleet.delete::<WebApp>(&names[..1]).await;
    fleet.api::<WebApp>().create(&Default::default(), &fleet::app(LATE)).await.unwrap();
    fleet.patch::<WebApp>(&names[1..3], &spec(json!({"greeting": "unseen"}))).await;
    fleet.delete::<ConfigMap>(&names[3..5]).await;
    fleet.delete::<Deployment>(&names[5..6]).await;
    fleet.patch::<ConfigMap>(&names[6..8], &json!({"data": {"greeting": "drift"}})).await;
}

/// The operator has listed its kind and those of the children anew.
async fn listed_again(scene: &Scene, before: &Entries) {
    let asked = scene.installed.asked(before).await;
    for resource in ["webapps", "configmaps", "deployments", "services"] {
        let asked = asked.resource(resource);
        let lists = asked.with(|entry| entry.verb == "list" || entry.uri.contains("sendInitialEvents=true"));
        assert!(!lists.is_empty(), "no list of {resource} in\n{asked}");
    }
}

/// Nobody makes Pods, nobody collects garbage; the operator goes on.
pub(super) async fn no_controllers(plane: Arc<Plane>) {
    let scene = Scene::new(plane, COUNT).await;
    let (plane, fleet) = (&scene.installed.plane, &scene.fleet);
    plane.stop_controller_manager();
    let (deleted, kept) = fleet.names.split_at(COUNT / 3);
    fleet.delete::<WebApp>(deleted).await;
    fleet.patch::<WebApp>(kept, &spec(json!({"greeting": "nobody else is here", "replicas": 2}))).await;
    let configs = Api::<ConfigMap>::namespaced(plane.client(), &fleet.namespace);
    for name in kept {
        wait::until_object(&configs, name, "is followed", |config| {
            config.data.as_ref().is_some_and(|data| data["greeting"] == "nobody else is here")
        })
        .await;
    }
    wait::until("what waits for Pods says so", LONG, async || {
        let apps = fleet.api::<WebApp>().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        let waiting = apps.iter().filter(|app| kept.contains(&app.name_any()) && !is_available(*app)).count();
        if waiting == kept.len() { Ok(()) } else { Err(format!("{waiting} do")) }
    })
    .await;
    fleet.delete::<ConfigMap>(&kept[..3]).await;
    scene.diary.say("edited and deleted while nobody made Pods");
    plane.restart_controller_manager();
    scene.converges(kept.len(), LONG).await;
    fleet
        .deployments
        .until("are left", kept.len(), |deployment| {
            deployment.status.as_ref().is_some_and(|status| status.available_replicas == Some(2))
        })
        .await;
    scene.diary.say("as wanted");
    fleet.create(deleted).await;
    scene.converges(COUNT, LONG).await;
    scene.ends().await;
}
