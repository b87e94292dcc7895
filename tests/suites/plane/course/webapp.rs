//! The whole life of WebApps whose Pods are scheduled and run.

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::Pod,
};
use kube::ResourceExt as _;
use opgen_tests::{Plane, wait};
use serde_json::json;
use webapp_api::WebApp;

use super::{Denials, Diary, LONG, delete_namespace};
use crate::operator::{
    example::{Installed, WEBAPP},
    fleet::{self, Fleet},
    owners::spec,
};

const COUNT: usize = 50;
/// How many are there when their definition goes.
const FEW: usize = 10;

pub(super) async fn life(plane: Arc<Plane>) {
    let (diary, denials) = (Diary::new(&plane), Denials::default());
    let installed = Installed::new(WEBAPP, plane).await;
    let plane = &installed.plane;
    let program = installed.start().await;
    let fleet = Fleet::new(plane, COUNT).await;
    let names = &fleet.names;

    fleet.create(names).await;
    fleet.available(COUNT).await;
    runs(&fleet, COUNT, 1, "example.com/web:1").await;
    diary.say("50 created, scheduled and available");
    fleet.patch::<WebApp>(names, &spec(json!({"replicas": 2}))).await;
    runs(&fleet, COUNT, 2, "example.com/web:1").await;
    fleet.available(COUNT).await;
    diary.say("scaled");
    fleet.patch::<WebApp>(names, &spec(json!({"image": "example.com/web:2"}))).await;
    runs(&fleet, COUNT, 2, "example.com/web:2").await;
    fleet.available(COUNT).await;
    diary.say("rolled");
    fleet.delete::<WebApp>(&names[..1]).await;
    fleet.deployments.until("are left", COUNT - 1, |_| true).await;
    fleet.services.until("are left", COUNT - 1, |_| true).await;
    pods_are(&fleet, 2 * (COUNT - 1)).await;
    fleet.create(&names[..1]).await;
    fleet.available(COUNT).await;
    diary.say("one was deleted and created again");
    // A child that goes before its owner may not be made again there.
    denials.outage(&installed, delete_namespace(plane, &fleet.namespace)).await;
    diary.say("the namespace with 50 is gone");

    let few = Fleet::new(plane, FEW).await;
    few.create(&few.names).await;
    few.available(FEW).await;
    plane.delete_crd(WEBAPP.definition).await;
    few.deployments.until("are left", 0, |_| true).await;
    pods_are(&few, 0).await;
    diary.say("the definition is gone with all that it had");
    WEBAPP.define(plane).await;
    let anew = Fleet::new(plane, FEW).await;
    anew.create(&anew.names).await;
    anew.available(FEW).await;
    diary.say("defined, created and available again");
    anew.delete::<WebApp>(&anew.names).await;
    anew.gone().await;
    program.stop().await;
    denials.none(&installed).await;
}

/// Waits until all Deployments run so many Pods of this image, and no Pod of another one is left.
pub(super) async fn runs(fleet: &Fleet, count: usize, replicas: i32, image: &str) {
    let fits = |deployment: &Deployment| {
        let status = deployment.status.clone().unwrap_or_default();
        let counts = [status.replicas, status.updated_replicas, status.available_replicas];
        fleet::image(deployment) == image
            && counts == [Some(replicas); 3]
            && status.observed_generation == deployment.metadata.generation
    };
    fleet.deployments.until(&format!("run {replicas} of {image}"), count, fits).await;
    pods_are(fleet, count * usize::try_from(replicas).unwrap()).await;
    let sets = fleet.api::<ReplicaSet>().list(&Default::default()).await.unwrap().items;
    let templates = if image.ends_with(":1") { 1 } else { 2 };
    assert_eq!(sets.len(), count * templates, "{:?}", sets.iter().map(|set| set.name_any()).collect::<Vec<_>>());
}

pub(super) async fn pods_are(fleet: &Fleet, count: usize) {
    wait::until(format!("{count} Pods are there, each on a node"), LONG, async || {
        let pods = fleet.api::<Pod>().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        let placed = pods.iter().filter(|pod| pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some())).count();
        if (pods.len(), placed) == (count, count) { Ok(()) } else { Err(format!("{} of {}", placed, pods.len())) }
    })
    .await;
}
