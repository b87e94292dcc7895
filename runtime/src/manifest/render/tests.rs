//! Tests the rendered manifest files of a project.

#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::super::{fixture, json, yaml::is_generated};
use super::*;

fn invalid(project: &Project) -> String {
    files(project).unwrap_err().to_string()
}

fn documents(text: &str) -> Vec<Value> {
    text.split("---\n").skip(1).map(|document| serde_saphyr::from_str(document).unwrap()).collect()
}

fn names(text: &str) -> Vec<String> {
    let name = |document: &Value| {
        format!("{}/{}", document["kind"].as_str().unwrap(), document["metadata"]["name"].as_str().unwrap())
    };
    documents(text).iter().map(name).collect()
}

#[test]
fn the_files_are_these() {
    let rendered = files(&fixture::project()).unwrap();
    let paths: Vec<_> = rendered.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "base/crds/demo.example.com_networks.yaml",
            "base/crds/demo.example.com_widgets.yaml",
            "base/kustomization.yaml",
            "base/operator.yaml",
            "base/rbac.yaml",
            "base/roles.yaml",
            "chart/Chart.yaml",
            "chart/templates/_helpers.tpl",
            "chart/templates/configmap.yaml",
            "chart/templates/crds/demo.example.com_networks.yaml",
            "chart/templates/crds/demo.example.com_widgets.yaml",
            "chart/templates/deployment.yaml",
            "chart/templates/finalizer-policy.yaml",
            "chart/templates/monitoring.yaml",
            "chart/templates/network-policy.yaml",
            "chart/templates/pod-disruption-budget.yaml",
            "chart/templates/rbac.yaml",
            "chart/templates/roles.yaml",
            "chart/templates/service.yaml",
            "chart/values.schema.json",
            "chart/values.yaml",
            "components/monitoring/kustomization.yaml",
            "components/monitoring/monitor.yaml",
            "components/monitoring/rules.yaml",
            "components/network-policy/kustomization.yaml",
            "components/network-policy/network-policy.yaml",
            "finalizer-policy.yaml",
            "grafana/dashboard.json",
            "install.yaml",
            "overlays/ha/kustomization.yaml",
            "overlays/monitoring/kustomization.yaml",
            "samples/demo.example.com_v1_network.yaml",
            "samples/demo.example.com_v1alpha1_widget.yaml",
        ]
    );
    for file in &rendered.files {
        let has_header =
            if file.path.ends_with(".json") { json::is_generated(&file.text) } else { is_generated(&file.text) };
        assert!(has_header && file.text.ends_with('\n'), "{}", file.path);
    }
    assert_eq!(rendered.findings, []);
}

#[test]
fn install_has_everything_but_the_policy_in_the_order_of_need() {
    let rendered = files(&fixture::project()).unwrap();
    let kinds: Vec<_> = names(rendered.text("install.yaml").unwrap());
    assert_eq!(
        kinds,
        [
            "CustomResourceDefinition/networks.demo.example.com",
            "CustomResourceDefinition/widgets.demo.example.com",
            "Namespace/demo-system",
            "ServiceAccount/demo",
            "Role/demo",
            "RoleBinding/demo",
            "ClusterRole/demo",
            "ClusterRoleBinding/demo",
            "ClusterRole/networks.demo.example.com-admin",
            "ClusterRole/networks.demo.example.com-edit",
            "ClusterRole/networks.demo.example.com-view",
            "ClusterRole/widgets.demo.example.com-admin",
            "ClusterRole/widgets.demo.example.com-edit",
            "ClusterRole/widgets.demo.example.com-view",
            "ClusterRole/demo-metrics-reader",
            "Deployment/demo",
            "PodDisruptionBudget/demo",
            "Service/demo-metrics",
        ]
    );
}

#[test]
fn the_order_of_controllers_changes_no_byte() {
    let mut project = fixture::project();
    let expected = files(&project).unwrap();
    project.controllers.reverse();
    assert_eq!(files(&project).unwrap(), expected);
}

#[test]
fn the_clusters_own_namespaces_are_not_made() {
    let mut project = fixture::project();
    project.namespace = "default".into();
    let rendered = files(&project).unwrap();
    let expected = ["Deployment/demo", "PodDisruptionBudget/demo", "Service/demo-metrics"];
    assert_eq!(names(rendered.text("base/operator.yaml").unwrap()), expected);
}

#[test]
fn the_role_is_what_the_trees_need() {
    let rendered = files(&fixture::project()).unwrap();
    let documents = documents(rendered.text("base/rbac.yaml").unwrap());
    let role = &documents[3];
    let rule = |group: &str, resources: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    let child = ["delete", "get", "list", "patch", "watch"];
    assert_eq!(
        role["rules"],
        json!([
            rule("", &["configmaps"], &child),
            rule("", &["nodes"], &["get"]),
            rule("apps", &["deployments"], &child),
            rule("apps", &["deployments/scale"], &["get", "patch"]),
            rule("authentication.k8s.io", &["tokenreviews"], &["create"]),
            rule("authorization.k8s.io", &["subjectaccessreviews"], &["create"]),
            rule("demo.example.com", &["networks", "widgets"], &["list", "patch", "watch"]),
            rule("demo.example.com", &["networks/status", "widgets/status"], &["update"]),
            rule("events.k8s.io", &["events"], &["create", "patch"]),
        ])
    );
}

#[test]
fn manager_m12_leader_election_needs_a_lease_of_the_operators_namespace_and_no_other_lock() {
    let documents = documents(files(&fixture::project()).unwrap().text("base/rbac.yaml").unwrap());
    let (role, binding) = (&documents[1], &documents[2]);
    assert_eq!((&role["kind"], &role["metadata"]["namespace"]), (&json!("Role"), &json!("demo-system")));
    let group = json!(["coordination.k8s.io"]);
    let expected = json!([
        {"apiGroups": group, "resources": ["leases"], "verbs": ["create"]},
        {"apiGroups": group, "resourceNames": ["demo.opgen.dev"], "resources": ["leases"], "verbs": ["get", "update", "watch"]},
    ]);
    assert_eq!(role["rules"], expected);
    assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
}

#[test]
fn without_events_the_role_says_nothing_of_them() {
    let mut project = fixture::project();
    project.controllers[0].events = false;
    assert!(!files(&project).unwrap().text("base/rbac.yaml").unwrap().contains("events"));
}

#[test]
fn an_operator_of_one_namespace_gets_a_role_and_a_cluster_role_for_the_rest() {
    let mut project = fixture::project();
    project.namespaced = true;
    project.controllers.truncate(1);
    let rendered = files(&project).unwrap();
    let text = rendered.text("base/rbac.yaml").unwrap();
    let expected = [
        "ServiceAccount/demo",
        "Role/demo",
        "RoleBinding/demo",
        "ClusterRole/demo-system-demo",
        "ClusterRoleBinding/demo-system-demo",
    ];
    assert_eq!(names(text), expected);
    let rule = |group: &str, resource: &str, verb: &str| json!({"apiGroups": [group], "resources": [resource], "verbs": [verb]});
    let rules = json!([
        rule("", "nodes", "get"),
        rule("authentication.k8s.io", "tokenreviews", "create"),
        rule("authorization.k8s.io", "subjectaccessreviews", "create"),
    ]);
    assert_eq!(documents(text)[3]["rules"], rules);
    let deployment = &documents(rendered.text("base/operator.yaml").unwrap())[1];
    let args = &deployment["spec"]["template"]["spec"]["containers"][0]["args"];
    let expected = json!(["run", "--leader-elect", "--metrics-bind-address=:8443", "--namespace=$(POD_NAMESPACE)"]);
    assert_eq!(*args, expected);
}

#[test]
fn versions_of_one_kind_are_one_definition() {
    let mut project = fixture::with_spec(&json!({"type": "object", "properties": {"image": {"type": "string"}}}));
    let mut newer = project.controllers[0].clone();
    newer.kind.version = "v1".into();
    newer.crd.as_mut().unwrap()["spec"]["versions"][0]["name"] = json!("v1");
    newer.finalizer = "demo.example.com/newer".into();
    project.controllers.push(newer);
    let rendered = files(&project).unwrap();
    let definition = &documents(rendered.text("base/crds/demo.example.com_widgets.yaml").unwrap())[0];
    let versions: Vec<_> = definition["spec"]["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| (v["name"].clone(), v["storage"].clone()))
        .collect();
    assert_eq!(versions, [(json!("v1"), json!(true)), (json!("v1alpha1"), json!(false))]);
    assert!(definition["spec"]["names"]["shortNames"].is_null());
    assert!(rendered.text("samples/demo.example.com_v1_widget.yaml").is_some());
}

#[test]
fn one_version_said_twice_and_differently_is_an_error() {
    let mut project = fixture::with_spec(&json!({"type": "object"}));
    let mut other = fixture::with_spec(&json!({"type": "object", "description": "x"})).controllers.remove(0);
    other.finalizer = "demo.example.com/other".into();
    project.controllers.push(other);
    assert!(
        invalid(&project).contains("Widget: spec.versions: version `v1alpha1` has two different definitions"),
        "{}",
        invalid(&project)
    );
}

#[test]
fn two_controllers_may_not_share_a_finalizer() {
    let mut project = fixture::project();
    project.controllers.push(project.controllers[0].clone());
    assert!(
        invalid(&project).contains("two controllers share the finalizer `demo.example.com/widget`"),
        "{}",
        invalid(&project)
    );
}

#[test]
fn bad_names_are_errors_with_a_fix() {
    let mut project = fixture::project();
    project.name = "My Operator".into();
    project.image = String::new();
    project.controllers[0].finalizer = "widget".into();
    let text = invalid(&project);
    assert!(text.contains("name: `My Operator` is not a DNS label; use at most 63"), "{text}");
    assert!(text.contains("image: `` is not an image"), "{text}");
    assert!(text.contains("Widget: `widget` is not a valid finalizer; use a domain, `/` and a name"), "{text}");
}

#[test]
fn all_errors_of_all_kinds_come_at_once() {
    let mut project = fixture::project();
    for controlled in &mut project.controllers {
        controlled.crd = Some(fixture::crd(
            &controlled.kind,
            &json!({"type": "object", "properties": {"a": {"$ref": "#/A"}, "b": {"enum": [null]}}}),
        ));
        controlled.crd.as_mut().unwrap()["spec"]["versions"][0]["subresources"] = json!({});
    }
    let ManifestError::Invalid(findings) = files(&project).unwrap_err() else { unreachable!() };
    let paths: Vec<_> = findings.iter().map(|finding| (finding.kind.as_str(), finding.path.as_str())).collect();
    let of = |kind| [(kind, ".spec.a"), (kind, ".spec.b"), (kind, ".status")];
    assert_eq!(paths, [of("Network v1"), of("Widget v1alpha1")].concat());
}

#[test]
fn a_status_without_conditions_is_an_error() {
    let mut project = fixture::with_spec(&json!({"type": "object"}));
    project.controllers[0].crd.as_mut().unwrap()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"] =
        json!({"type": "object"});
    let text = invalid(&project);
    assert!(
        text.contains("Widget v1alpha1: .status: the status has no `conditions` of type array; embed `opgen::Status`"),
        "{text}"
    );
    assert!(text.contains("`observedGeneration` of type integer"), "{text}");
}

#[test]
fn a_foreign_kind_gets_rights_for_its_operator_and_nothing_else() {
    let mut project = fixture::project();
    project.controllers.truncate(1);
    let alone = files(&project).unwrap();
    let mut foreign = project.controllers[0].clone();
    (foreign.crd, foreign.finalizer) = (None, "opgen.dev/demo".into());
    foreign.kind.group = "".into();
    (foreign.kind.kind, foreign.kind.plural, foreign.kind.namespaced) =
        ("Namespace".into(), "namespaces".into(), false);
    project.controllers.push(foreign);
    let rendered = files(&project).unwrap();
    let changed: Vec<_> = rendered.files.iter().filter(|file| alone.text(&file.path) != Some(&*file.text)).collect();
    let paths: Vec<_> = changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["base/rbac.yaml", "chart/templates/rbac.yaml", "install.yaml"]);
    assert!(
        changed[0].text.contains("  - namespaces\n  verbs:\n  - list\n  - patch\n  - watch\n"),
        "{}",
        changed[0].text
    );
    assert!(!changed[0].text.contains("namespaces/status"), "{}", changed[0].text);
}
