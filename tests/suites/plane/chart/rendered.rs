//! Renders charts with Helm.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use opgen_tests::{Plane, tools};
use serde_json::Value;

/// The examples, whose charts are tested.
pub(super) const EXAMPLES: [&str; 4] = ["webapp", "shop", "ippool", "database"];

/// Returns the path of a file or folder of the generated manifests of an example.
pub(super) fn path(example: &str, file: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    examples.join(example).join("deploy").join(file).display().to_string()
}

/// Runs Helm.
///
/// # Panics
/// With its output, if it fails.
#[track_caller]
pub(super) fn helm(plane: &Plane, arguments: &[&str]) -> String {
    let output = tools::helm(plane, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "helm {}: {}\n{error}", arguments.join(" "), output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs Helm, which must fail, and returns its error.
#[track_caller]
pub(super) fn helm_fails(plane: &Plane, arguments: &[&str]) -> String {
    let output = tools::helm(plane, arguments);
    assert!(!output.status.success(), "helm {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Builds a kustomization.
///
/// # Panics
/// With the error of kustomize, if it fails.
#[track_caller]
pub(super) fn kustomize(folder: &str) -> String {
    let output = tools::kustomize_build(folder);
    assert!(output.status.success(), "{folder}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the documents of a YAML text.
pub(super) fn documents(text: &str) -> Vec<Value> {
    let documents = text.split("\n---\n").map(|document| serde_saphyr::from_str::<Value>(document).expect("YAML"));
    documents.filter(|document| !document.is_null()).collect()
}

/// Returns the only object of a kind.
#[track_caller]
pub(super) fn only<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    let [object] = objects.iter().filter(|object| object["kind"] == kind).collect::<Vec<_>>()[..] else {
        panic!("one {kind} in {objects:#?}")
    };
    object
}

pub(super) async fn values_are_checked(plane: Arc<Plane>) {
    for example in EXAMPLES {
        let chart = path(example, "chart");
        let report = helm(&plane, &["lint", "--strict", &chart]);
        assert!(!report.contains("[WARNING]") && !report.contains("[ERROR]"), "{report}");
    }
    let chart = path("webapp", "chart");
    for (value, problem) in [
        ("replicas=many", "at '/replicas': got string, want integer"),
        ("replica=1", "additional properties 'replica' not allowed"),
        ("config.log.level=debug", "at '/config/log': additional properties 'level' not allowed"),
        ("config.client.pageSize=0", "at '/config/client/pageSize': minimum: got 0, want 1"),
        ("config.kinds.WebApp.worker=2", "at '/config/kinds/WebApp': additional properties 'worker' not allowed"),
        (
            "image.pullPolicy=Sometimes",
            "at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'",
        ),
    ] {
        let error = helm_fails(&plane, &["template", "one", &chart, "--set", value]);
        assert!(error.contains(problem), "{value}: {error}");
    }
}

/// A release with the name and the namespace of the plain manifests differs in the options, which are a file in place of flags, and
/// in its labels.
pub(super) async fn pods_are_equal(plane: Arc<Plane>) {
    for example in EXAMPLES {
        let namespace = format!("{example}-system");
        let rendered = documents(&helm(&plane, &["template", example, &path(example, "chart"), "-n", &namespace]));
        let operator = std::fs::read_to_string(path(example, "base/operator.yaml")).expect("text");
        let plain = documents(&operator);
        let mut deployment = only(&rendered, "Deployment").clone();
        let container = &mut deployment["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["args"], serde_json::json!(["run", "--config=/etc/opgen/config.yaml"]));
        let plain_container = &only(&plain, "Deployment")["spec"]["template"]["spec"]["containers"][0];
        container["args"] = plain_container["args"].clone();
        assert_eq!(remove(container, "imagePullPolicy"), "IfNotPresent");
        assert_eq!(remove(container, "volumeMounts")[0]["mountPath"], "/etc/opgen");
        assert_eq!(
            remove(&mut deployment["spec"]["template"]["spec"], "volumes")[0]["configMap"]["name"],
            format!("{example}-config")
        );
        remove(&mut deployment["spec"]["template"]["metadata"], "annotations");
        for (kind, object) in
            [("Deployment", deployment), ("PodDisruptionBudget", only(&rendered, "PodDisruptionBudget").clone())]
        {
            assert_eq!(without_labels(object), without_labels(only(&plain, kind).clone()), "{example}: {kind}");
        }
        let services = |objects: &[Value]| -> BTreeMap<_, _> {
            let services = objects.iter().filter(|object| object["kind"] == "Service").cloned();
            services.map(|service| (service["metadata"]["name"].to_string(), without_labels(service))).collect()
        };
        assert_eq!(services(&rendered), services(&plain), "{example}");
    }
}

/// Removes a field and returns its value.
fn remove(object: &mut Value, field: &str) -> Value {
    object.as_object_mut().and_then(|object| object.remove(field)).unwrap_or_default()
}

/// Removes the labels that differ between a release and the plain manifests.
pub(super) fn without_labels(mut value: Value) -> Value {
    let release = ["instance", "managed-by", "version"].map(|label| format!("app.kubernetes.io/{label}"));
    match &mut value {
        Value::Object(object) => {
            object.retain(|key, _| !release.contains(key) && key != "helm.sh/chart");
            object.values_mut().for_each(|value| *value = without_labels(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_labels(item.take())),
        _ => {}
    }
    value
}
