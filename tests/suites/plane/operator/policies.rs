//! Admission policies of an operator, which the API server evaluates without it.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen::{
    Operator,
    policy::{MutatingPolicy, PolicyAction, ValidatingPolicy},
    validation::Validated,
    webhook::FailurePolicy,
};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::install::{apply_quietly, generated};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("policies_refuse_warn_and_change_without_the_operator", evaluated)]
}

/// Rules for the spec of a Service.
#[derive(Validated, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct ServiceRules {
    #[valid(immutable)]
    session_affinity: Option<String>,
    #[valid(required_if(r#type = "LoadBalancer", message = "choose a class"))]
    load_balancer_class: Option<String>,
    r#type: Option<String>,
    #[valid(unique(port))]
    ports: Option<Vec<PortRules>>,
}

/// Rules for a port of a Service.
#[derive(Validated, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct PortRules {
    #[valid(at_most(node_port))]
    port: i32,
    node_port: Option<i32>,
}

/// Returns an operator whose policies concern one namespace.
fn operator(namespace: &str) -> Operator {
    let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": namespace}});
    let selector = || serde_json::from_value(selector.clone()).expect("a selector");
    let services = ValidatingPolicy::new::<Service>("services")
        .rules_of::<ServiceRules>("spec")
        .rule("!has(object.metadata.deletionTimestamp)", "it is being deleted")
        .namespace_selector(selector())
        .failure_policy(FailurePolicy::Fail);
    let configs = ValidatingPolicy::new::<ConfigMap>("configs")
        .rule("!has(object.data) || size(object.data) < 3", "more than two entries are slow to read")
        .action(PolicyAction::Warn)
        .namespace_selector(selector());
    let labels = MutatingPolicy::new::<ConfigMap>("labels")
        .apply("Object{metadata: Object.metadata{labels: {'by': 'policy'}}}")
        .namespace_selector(selector())
        .failure_policy(FailurePolicy::Fail);
    Operator::new("policed").validating_policy(services).validating_policy(configs).mutating_policy(labels)
}

/// Sends an object, and returns the status, the warnings and the body of the response.
async fn send(client: &Client, method: http::Method, path: &str, object: &Value) -> (u16, String, Value) {
    let request = http::Request::builder().method(method).uri(path).header("content-type", "application/json");
    let request = request.body(object.to_string().into_bytes().into()).expect("a request");
    let response = client.send(request).await.expect("a response");
    let warnings = response.headers().get_all("warning").iter().filter_map(|value| value.to_str().ok());
    let (status, warnings) = (response.status().as_u16(), warnings.collect::<Vec<_>>().join("\n"));
    let body = http_body_util::BodyExt::collect(response.into_body()).await.expect("a body").to_bytes();
    (status, warnings, serde_json::from_slice(&body).unwrap_or_default())
}

async fn evaluated(plane: Arc<Plane>) {
    let namespace = plane.namespace("policed").await;
    let operator = operator(&namespace);
    apply_quietly(&plane, generated(&operator).text("base/policies.yaml").expect("policies")).await;
    let client = plane.client();
    let (services, configs) =
        (format!("/api/v1/namespaces/{namespace}/services"), format!("/api/v1/namespaces/{namespace}/configmaps"));
    let config = json!({"metadata": {"generateName": "a-"}, "data": {"a": "", "b": "", "c": ""}});
    wait::until("the policies are evaluated", PATIENCE, async || {
        let (status, warnings, body) = send(&client, http::Method::POST, &configs, &config).await;
        let is_changed = body["metadata"]["labels"]["by"] == "policy";
        let is_warned = warnings.contains("more than two entries are slow to read");
        if status == 201 && is_changed && is_warned { Ok(()) } else { Err(format!("{status} {warnings}: {body}")) }
    })
    .await;
    let service = |spec: Value| json!({"metadata": {"name": "web"}, "spec": spec});
    let balanced = json!({"type": "LoadBalancer", "ports": [{"port": 80}]});
    // Until then, the Service is accepted.
    let dry_run = format!("{services}?dryRun=All");
    let refused = wait::until("the rules of Services are evaluated", PATIENCE, async || {
        let (status, _, body) = send(&client, http::Method::POST, &dry_run, &service(balanced.clone())).await;
        let text = body["message"].as_str().unwrap_or_default().to_owned();
        if text.contains("spec.loadBalancerClass: choose a class") { Ok((status, text)) } else { Err(text) }
    })
    .await;
    assert_eq!(refused.0, 422, "{}", refused.1);
    let low = json!({"type": "NodePort", "ports": [{"port": 31000, "nodePort": 30000}]});
    let (status, _, body) = send(&client, http::Method::POST, &services, &service(low)).await;
    assert_eq!(status, 422, "{body}");
    assert!(body["message"].to_string().contains("spec.ports[*].port: port must be at most nodePort"), "{body}");
    let good = json!({"sessionAffinity": "ClientIP", "ports": [{"port": 80}]});
    let (status, _, mut stored) = send(&client, http::Method::POST, &services, &service(good)).await;
    assert_eq!(status, 201, "{stored}");
    let web = format!("{services}/web");
    stored["spec"]["ports"][0]["port"] = json!(81);
    let (status, _, mut stored) = send(&client, http::Method::PUT, &web, &stored).await;
    assert_eq!(status, 200, "{stored}");
    stored["spec"]["sessionAffinity"] = json!("None");
    let (status, _, body) = send(&client, http::Method::PUT, &web, &stored).await;
    assert_eq!(status, 422, "{body}");
    assert!(body["message"].to_string().contains("spec.sessionAffinity: sessionAffinity is immutable"), "{body}");
    the_last_finalizer_can_be_removed(&Api::namespaced(client, &namespace)).await;
}

/// Shows that no rule keeps an object from being removed: an update of an object that is being deleted is refused, but not the removal of
/// its finalizer.
async fn the_last_finalizer_can_be_removed(services: &Api<Service>) {
    let patch = async |patch: Value| services.patch("web", &PatchParams::default(), &Patch::Merge(patch)).await;
    patch(json!({"metadata": {"finalizers": ["example.com/held"]}})).await.expect("a finalizer");
    services.delete("web", &Default::default()).await.expect("a deletion");
    let refused = patch(json!({"metadata": {"labels": {"a": "b"}}})).await.expect_err("the rule is violated");
    assert!(refused.to_string().contains("it is being deleted"), "{refused}");
    patch(json!({"metadata": {"finalizers": null}})).await.expect("the finalizer is removed");
    wait::until("the Service is gone", PATIENCE, async || match services.get_opt("web").await {
        Ok(None) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}
