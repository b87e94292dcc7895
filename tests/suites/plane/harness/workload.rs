//! The kubelet that only pretends, and the controllers of the real controller manager.

use std::{fmt::Debug, sync::Arc};

use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment},
    batch::v1::Job,
    core::v1::{ConfigMap, Namespace, Pod},
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case, kubelet,
    wait::{self, PATIENCE, until_gone, until_object},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("deployments_become_available", deployments_become_available),
        case("an_annotation_keeps_pods_from_getting_ready", an_annotation_keeps_pods_from_getting_ready),
        case("jobs_complete", jobs_complete),
        case("daemon_sets_run_on_the_node", daemon_sets_run_on_the_node),
        case("dependents_are_collected", dependents_are_collected),
        case("namespaces_are_emptied", namespaces_are_emptied),
    ]
}

async fn deployments_become_available(plane: Arc<Plane>) {
    let namespace = plane.namespace("deployment").await;
    let deployments = Api::<Deployment>::namespaced(plane.client(), &namespace);
    create(&deployments, json!({"metadata": {"name": "web"}, "spec": workload(json!({"replicas": 3}), json!({}))}))
        .await;
    until_object(&deployments, "web", "has three available replicas", |web| available(web) == 3).await;
}

async fn an_annotation_keeps_pods_from_getting_ready(plane: Arc<Plane>) {
    let namespace = plane.namespace("stuck").await;
    let deployments = Api::<Deployment>::namespaced(plane.client(), &namespace);
    let spec = workload(json!({"replicas": 1}), json!({kubelet::ANNOTATION: "crashing"}));
    create(&deployments, json!({"metadata": {"name": "web"}, "spec": spec})).await;
    let pods = Api::<Pod>::namespaced(plane.client(), &namespace);
    let pod = wait::until("the pod crashes", PATIENCE, async || {
        let found = pods.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
        let seen = serde_json::to_string(&found.items).unwrap_or_default();
        if seen.contains("CrashLoopBackOff") { found.items.into_iter().next().ok_or(seen) } else { Err(seen) }
    })
    .await;
    assert_eq!(available(&deployments.get("web").await.unwrap()), 0);

    let healthy = Patch::Merge(json!({"metadata": {"annotations": {kubelet::ANNOTATION: "ready"}}}));
    pods.patch(&pod.name_any(), &PatchParams::default(), &healthy).await.unwrap();
    until_object(&deployments, "web", "recovers", |web| available(web) == 1).await;
}

async fn jobs_complete(plane: Arc<Plane>) {
    let namespace = plane.namespace("job").await;
    let jobs = Api::<Job>::namespaced(plane.client(), &namespace);
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [container()]}});
    create(&jobs, json!({"metadata": {"name": "once"}, "spec": {"template": template}})).await;
    let completed = |job: &Job| job.status.as_ref().is_some_and(|status| status.succeeded == Some(1));
    until_object(&jobs, "once", "succeeds", completed).await;
}

async fn daemon_sets_run_on_the_node(plane: Arc<Plane>) {
    let namespace = plane.namespace("daemon").await;
    let sets = Api::<DaemonSet>::namespaced(plane.client(), &namespace);
    create(&sets, json!({"metadata": {"name": "agent"}, "spec": workload(json!({}), json!({}))})).await;
    let runs = |set: &DaemonSet| set.status.as_ref().is_some_and(|status| status.number_available == Some(1));
    until_object(&sets, "agent", "runs on the one node", runs).await;
}

async fn dependents_are_collected(plane: Arc<Plane>) {
    let namespace = plane.namespace("collect").await;
    let config_maps = Api::<ConfigMap>::namespaced(plane.client(), &namespace);
    let owner = create(&config_maps, json!({"metadata": {"name": "owner"}})).await;
    let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.uid()});
    create(&config_maps, json!({"metadata": {"name": "dependent", "ownerReferences": [reference]}})).await;
    config_maps.delete("owner", &DeleteParams::default()).await.unwrap();
    until_gone(&config_maps, "dependent").await;
}

async fn namespaces_are_emptied(plane: Arc<Plane>) {
    let namespace = plane.namespace("emptied").await;
    let deployments = Api::<Deployment>::namespaced(plane.client(), &namespace);
    create(&deployments, json!({"metadata": {"name": "web"}, "spec": workload(json!({"replicas": 1}), json!({}))}))
        .await;
    until_object(&deployments, "web", "is available", |web| available(web) == 1).await;
    let namespaces = Api::<Namespace>::all(plane.client());
    namespaces.delete(&namespace, &DeleteParams::default()).await.unwrap();
    until_gone(&namespaces, &namespace).await;
}

/// A spec with a selector and a template, and `more`.
fn workload(more: Value, annotations: Value) -> Value {
    let labels = json!({"app": "web"});
    let mut spec = json!({"selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels, "annotations": annotations}, "spec": {"containers": [container()]}}});
    for (key, value) in more.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    spec
}

fn container() -> Value {
    json!({"name": "main", "image": "example.com/web:1"})
}

fn available(deployment: &Deployment) -> i32 {
    deployment.status.as_ref().and_then(|status| status.available_replicas).unwrap_or_default()
}

async fn create<K>(api: &Api<K>, object: Value) -> K
where
    K: Clone + Debug + Serialize + DeserializeOwned,
{
    let object = serde_json::from_value(object).expect("an object of the kind");
    api.create(&PostParams::default(), &object).await.unwrap()
}
