//! Installs, upgrades and uninstalls releases of a chart.

use std::{fs, path::Path, sync::Arc};

use kube::Api;
use opgen_tests::{Plane, kubectl, wait};
use serde_json::Value;
use webapp_api::{WebApp, WebAppSpec};

use super::{
    accepted::copy,
    rendered::{helm, helm_fails, path},
};

const DEFINITION: &str = "webapps.demo.example.com";
const DEFINITION_FILE: &str = "templates/crds/demo.example.com_webapps.yaml";

/// The definition of the previous chart lacks a field, which objects can have after the upgrade. The definition outlives the release.
pub(super) async fn upgrade(plane: Arc<Plane>) {
    let home = plane.namespace("home").await;
    let previous = plane.folder().join("previous");
    copy(path("webapp", "chart").as_ref(), &previous);
    edit(&previous.join("Chart.yaml"), |text| text.replace("0.1.0", "0.0.9"));
    edit(&previous.join(DEFINITION_FILE), |text| without_field(text, "greeting"));
    let previous = previous.display().to_string();
    helm(&plane, &["install", "one", &previous, "-n", &home]);
    plane.until_established(DEFINITION).await;
    assert_eq!(field(&plane, "greeting"), Value::Null);
    let roll_out = ["rollout", "status", "deployment/one-webapp", "--timeout=60s", "-n", &home];
    kubectl::succeed(&plane, &roll_out);
    let before = deployment(&plane, &home);

    let chart = path("webapp", "chart");
    helm(&plane, &["upgrade", "one", &chart, "-n", &home, "--set", "config.log.filter=debug"]);
    assert_eq!(field(&plane, "greeting")["type"], "string");
    let apps = Api::<WebApp>::namespaced(plane.client(), &home);
    let spec = WebAppSpec {
        image: "example.com/web:1".to_owned(),
        replicas: 1,
        port: 8080,
        greeting: Some("hello".to_owned()),
    };
    wait::until("an object has the new field", wait::PATIENCE, async || {
        let parameters = kube::api::PostParams { dry_run: true, ..Default::default() };
        let made =
            apps.create(&parameters, &WebApp::new("app", spec.clone())).await.map_err(|error| error.to_string())?;
        made.spec.greeting.map(drop).ok_or_else(|| "it was pruned".to_owned())
    })
    .await;

    // A filter of the log reaches the running Pods, so only another option replaces them.
    let changed = deployment(&plane, &home);
    let digest = |object: &Value| object["spec"]["template"]["metadata"]["annotations"]["checksum/config"].clone();
    assert_eq!(digest(&before), digest(&changed));
    helm(&plane, &["upgrade", "one", &chart, "-n", &home, "--set", "config.controllers.workers=2"]);
    assert_ne!(digest(&changed), digest(&deployment(&plane, &home)));

    helm(&plane, &["uninstall", "one", "-n", &home, "--wait"]);
    assert_eq!(field(&plane, "greeting")["type"], "string", "the definition stays");
    let left = ["get", "deployments,services,configmaps,roles,poddisruptionbudgets", "-n", &home, "-o", "name"];
    assert_eq!(kubectl::succeed(&plane, &left).trim(), "configmap/kube-root-ca.crt");
}

/// Two releases in one namespace, and one of the same name in another: one of them has the definitions.
pub(super) async fn side_by_side(plane: Arc<Plane>) {
    let (home, other) = (plane.namespace("home").await, plane.namespace("other").await);
    let chart = path("webapp", "chart");
    let install = |release: &str, namespace: &str, values: &str| {
        helm(&plane, &["install", release, &chart, "-n", namespace, "--set", values]);
    };
    install("one", &home, &format!("config.namespaces={{{home}}},finalizerPolicy.enabled=true"));
    let error = helm_fails(&plane, &["install", "two", &chart, "-n", &home]);
    assert!(error.contains(DEFINITION), "{error}");
    helm_fails(&plane, &["status", "three", "-n", &home]);
    // The release that failed is not left in the way.
    let _ = opgen_tests::tools::helm(&plane, &["uninstall", "two", "-n", &home]);
    install("two", &home, "crds.install=false,config.namespaces={elsewhere},finalizerPolicy.enabled=true");
    install("one", &other, &format!("crds.install=false,config.namespaces={{{other}}},finalizerPolicy.enabled=true"));

    let names = |kind: &str, label: &str| {
        let label = format!("app.kubernetes.io/name=webapp{label}");
        let listed = kubectl::succeed(&plane, &["get", kind, "-A", "-l", &label, "-o", "name"]);
        let mut names: Vec<_> = listed.lines().map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(names("deployments", "").len(), 3);
    let roles = |namespace: &str, release: &str| {
        format!("clusterrolebinding.rbac.authorization.k8s.io/{namespace}-{release}-webapp")
    };
    let mut expected = [roles(&home, "one"), roles(&home, "two"), roles(&other, "one")];
    expected.sort();
    assert_eq!(names("clusterrolebindings", ""), expected);
    assert_eq!(names("mutatingadmissionpolicies", "").len(), 3);

    // Each has its own Lease, and the rights for it.
    let may = |release: &str, lease: &str| {
        let account = format!("--as=system:serviceaccount:{home}:{release}-webapp");
        let lease = format!("leases.coordination.k8s.io/{lease}.opgen.dev");
        let arguments = ["auth", "can-i", "update", &lease, "-n", &home, &account];
        kubectl::run(&plane, plane.admin(), &arguments).status.success()
    };
    assert!(may("one", "one-webapp") && may("two", "two-webapp") && !may("two", "one-webapp"));

    helm(&plane, &["uninstall", "two", "-n", &home, "--wait"]);
    assert_eq!(names("deployments", "").len(), 2);
    let mut expected = [roles(&home, "one"), roles(&other, "one")];
    expected.sort();
    assert_eq!(names("clusterrolebindings", ""), expected);
    assert_eq!(field(&plane, "greeting")["type"], "string");
}

/// Returns the schema of a field of the spec in the cluster.
fn field(plane: &Plane, name: &str) -> Value {
    let definition: Value =
        serde_json::from_str(&kubectl::succeed(plane, &["get", "crd", DEFINITION, "-o", "json"])).expect("JSON");
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["properties"]["spec"]["properties"][name].clone()
}

fn deployment(plane: &Plane, namespace: &str) -> Value {
    let arguments = ["get", "deployment", "one-webapp", "-n", namespace, "-o", "json"];
    serde_json::from_str(&kubectl::succeed(plane, &arguments)).expect("JSON")
}

fn edit(file: &Path, change: impl FnOnce(&str) -> String) {
    let (before, after) = {
        let before = fs::read_to_string(file).expect("text");
        let after = change(&before);
        (before, after)
    };
    assert_ne!(before, after, "{}", file.display());
    fs::write(file, after).expect("a file");
}

/// Removes a key with the lines below it from a YAML text.
fn without_field(text: &str, field: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = Vec::new();
    let mut removed = None;
    for line in text.lines() {
        if removed.is_some_and(|depth| indent(line) > depth) {
            continue;
        }
        removed = (line.trim() == format!("{field}:")).then(|| indent(line));
        if removed.is_none() {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}
