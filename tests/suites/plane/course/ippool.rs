//! The whole life of pools: the Pods that hold addresses are scheduled, run and go.

use std::sync::Arc;

use ippool_api::IPPool;
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
use kube::{Api, ResourceExt as _, api::DeleteParams};
use opgen_tests::{
    Plane,
    wait::{self, PATIENCE, until_object},
};
use serde_json::json;

use super::{Diary, delete_namespace, nothing_was_denied};
use crate::{
    ippool::scene::{IPPOOL, installed, pool},
    operator::{example::Installed, program::Program},
};

const PODS: usize = 6;

pub(super) async fn life(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let (access, earlier) = (installed(&plane).await, plane.audit().await);
    let mut program = Program::start(&IPPOOL, &plane, &access, &["--interval=1s"]);
    program.ready().await;
    let namespace = plane.namespace("pools").await;
    let pools = Api::<IPPool>::namespaced(plane.client(), &namespace);
    let pods = Api::<Pod>::namespaced(plane.client(), &namespace);

    deploy(&plane, &namespace).await;
    let names = running(&pods).await;
    let reference = |name: &String| format!("{namespace}/{name}");
    let keys: Vec<_> = (1..=PODS + 1).map(|key| key.to_string()).collect();
    let holders = names.iter().map(reference).chain([format!("{namespace}/never-there")]);
    let allocations: Vec<_> = keys.iter().map(String::as_str).zip(holders).collect();
    pools.create(&Default::default(), &pool("one", &allocations)).await.unwrap();
    holds(&pools, &names.iter().map(reference).collect::<Vec<_>>()).await;
    diary.say("the address of nobody is free");

    // The ReplicaSet replaces it under another name, so its address is free.
    pods.delete(&names[0], &DeleteParams::default()).await.unwrap();
    holds(&pools, &names[1..].iter().map(reference).collect::<Vec<_>>()).await;
    diary.say("the address of a Pod that was deleted is free");
    let deployments = Api::<Deployment>::namespaced(plane.client(), &namespace);
    deployments.delete("holders", &DeleteParams::foreground()).await.unwrap();
    holds(&pools, &[]).await;
    diary.say("all addresses are free");

    pools.delete("one", &DeleteParams::default()).await.unwrap();
    wait::until_gone(&pools, "one").await;
    pools.create(&Default::default(), &pool("two", &[])).await.unwrap();
    until_object(&pools, "two", "has a status", |pool| pool.status.is_some()).await;
    delete_namespace(&plane, &namespace).await;
    diary.say("the namespace is gone");
    plane.delete_crd(IPPOOL.definition).await;
    diary.say("the definition is gone");
    IPPOOL.define(&plane).await;
    let again = Api::<IPPool>::namespaced(plane.client(), &plane.namespace("pools").await);
    again.create(&Default::default(), &pool("three", &[])).await.unwrap();
    until_object(&again, "three", "has a status", |pool| pool.status.is_some()).await;
    diary.say("defined and looked after again");
    program.stop().await;
    nothing_was_denied(&Installed { example: IPPOOL, plane, access, earlier }).await;
}

async fn deploy(plane: &Plane, namespace: &str) {
    let labels = json!({"app": "holders"});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "holders", "namespace": namespace},
        "spec": {
            "replicas": PODS, "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
            },
        },
    });
    plane.apply(&deployment.to_string()).await;
}

/// Waits until all Pods run; gives their names.
async fn running(pods: &Api<Pod>) -> Vec<String> {
    wait::until(format!("{PODS} Pods run"), PATIENCE, async || {
        let all = pods.list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        let runs = |pod: &&Pod| pod.status.as_ref().is_some_and(|status| status.phase.as_deref() == Some("Running"));
        let names: Vec<_> = all.iter().filter(runs).map(|pod| pod.name_any()).collect();
        if names.len() == PODS { Ok(names) } else { Err(format!("{names:?}")) }
    })
    .await
}

/// Waits until exactly these Pods have an address.
async fn holds(pools: &Api<IPPool>, pods: &[String]) {
    until_object(pools, "one", &format!("is held by {pods:?}"), |pool| {
        let mut held: Vec<_> = pool.spec.allocations.values().map(|held| &held.podref).collect();
        let mut wanted: Vec<_> = pods.iter().collect();
        held.sort();
        wanted.sort();
        held == wanted
    })
    .await;
}
