//! Tests the generated RBAC roles, and the warnings and errors about declared permissions that can't work.

#![allow(clippy::unwrap_used)]
use super::*;
use crate::{
    cd::{ArgoCd, Driver},
    kind::kind_of,
    manifest::{fixture, lint::Severity},
    shape::{Access, Edge, Shape, SourceLocation, Verb},
};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Node as ClusterNode, Secret},
    rbac::v1::{ClusterRole, Role},
};

const HERE: SourceLocation = SourceLocation::UNKNOWN;

const fn leaf(node: Node, access: &'static [Access]) -> Shape {
    Shape { node, access, children: &[] }
}

const fn group(children: &'static [Edge]) -> Shape {
    Shape { node: Node::SERIAL, access: &[], children }
}

/// Returns the fixture's `Widget` alone, with this tree.
fn project(shape: &'static Shape, namespaced: bool) -> Project {
    let mut project = fixture::project();
    project.namespaced = namespaced;
    project.controllers.truncate(1);
    project.controllers[0].shape = shape;
    project
}

/// Returns the rules of each role beyond what every operator of `Widget` has, by the role's kind, namespace and name.
fn roles(project: &Project) -> Vec<(String, Vec<Value>)> {
    let is_common = |rule: &Value| {
        ["demo.example.com", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "coordination.k8s.io"]
            .iter()
            .any(|group| rule["apiGroups"] == json!([group]))
    };
    let roles = documents(project).into_iter().filter(|document| document["rules"].is_array());
    let of = |role: Value| {
        let namespace = role["metadata"]["namespace"].as_str().map(|namespace| format!("{namespace}/"));
        let name = role["metadata"]["name"].as_str().unwrap();
        let rules = role["rules"].as_array().unwrap().iter().filter(|rule| !is_common(rule)).cloned().collect();
        (format!("{} {}{name}", role["kind"].as_str().unwrap(), namespace.unwrap_or_default()), rules)
    };
    roles.map(of).collect()
}

fn rule(resource: &str, verbs: &[&str]) -> Value {
    json!({"apiGroups": [""], "resources": [resource], "verbs": verbs})
}

static NARROW: Shape = leaf(
    Node::Custom,
    &[
        Access::to(kind_of::<Secret>, &[Verb::Get, Verb::Patch], HERE).named(&["tls", "ca"]),
        Access::to(kind_of::<Secret>, &[Verb::List], HERE),
        Access::to(kind_of::<Deployment>, &[Verb::Get, Verb::Patch], HERE).subresource("scale").named(&["web"]),
        Access::to_url("/metrics", &[Verb::Get], HERE),
    ],
);

#[test]
fn names_parts_and_paths_stay_as_narrow_as_they_are_declared() {
    let scale = json!({
        "apiGroups": ["apps"], "resources": ["deployments/scale"], "resourceNames": ["web"], "verbs": ["get", "patch"]
    });
    let named =
        json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["ca", "tls"], "verbs": ["get", "patch"]});
    let rules = vec![
        json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]}),
        rule("secrets", &["list"]),
        named.clone(),
        scale.clone(),
    ];
    let election = ("Role demo-system/demo".to_owned(), Vec::new());
    assert_eq!(roles(&project(&NARROW, false)), [election, ("ClusterRole demo".to_owned(), rules)]);
    let paths = vec![json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]})];
    let expected = [
        ("Role demo-system/demo".to_owned(), vec![rule("secrets", &["list"]), named, scale]),
        ("ClusterRole demo-system-demo".to_owned(), paths),
    ];
    assert_eq!(roles(&project(&NARROW, true)), expected);
}

static ELSEWHERE: Shape = leaf(
    Node::Custom,
    &[
        Access::to(kind_of::<Secret>, &[Verb::Get], HERE).within("kube-system"),
        Access::to(kind_of::<ConfigMap>, &[Verb::List], HERE).within("kube-system"),
        Access::to(kind_of::<ConfigMap>, &[Verb::Get], HERE).within("demo-system"),
        Access::to(kind_of::<ConfigMap>, &[Verb::Get], HERE).within("default"),
    ],
);

#[test]
fn another_namespace_has_a_role_of_its_own() {
    let there = vec![rule("configmaps", &["list"]), rule("secrets", &["get"])];
    let expected = [
        ("Role demo-system/demo".to_owned(), vec![rule("configmaps", &["get"])]),
        ("Role default/demo".to_owned(), vec![rule("configmaps", &["get"])]),
        ("Role kube-system/demo".to_owned(), there.clone()),
        ("ClusterRole demo".to_owned(), Vec::new()),
    ];
    assert_eq!(roles(&project(&ELSEWHERE, false)), expected);
    let expected = [
        ("Role demo-system/demo".to_owned(), vec![rule("configmaps", &["get"])]),
        ("Role default/demo-system-demo".to_owned(), vec![rule("configmaps", &["get"])]),
        ("Role kube-system/demo-system-demo".to_owned(), there),
        ("ClusterRole demo-system-demo".to_owned(), Vec::new()),
    ];
    assert_eq!(roles(&project(&ELSEWHERE, true)), expected);
    let bindings =
        documents(&project(&ELSEWHERE, true)).into_iter().filter(|document| document["kind"] == "RoleBinding");
    let subject = json!([{"kind": "ServiceAccount", "name": "demo", "namespace": "demo-system"}]);
    for binding in bindings {
        assert_eq!(binding["subjects"], subject);
        assert_eq!(binding["roleRef"]["name"], binding["metadata"]["name"]);
    }
}

static ROLE: Shape = leaf(Node::Resource, &[Access::to(kind_of::<Role>, &[Verb::Get], HERE)]);
static CLUSTER_ROLE: Shape = leaf(Node::Resource, &[Access::to(kind_of::<ClusterRole>, &[Verb::Get], HERE)]);
const HANDED: &[Access] = &[Access::to(kind_of::<Secret>, &[Verb::Get], HERE).named(&["tls"])];
static WITH_ROLE: Shape = group(&[Edge { access: HANDED, ..Edge::plain("role", &ROLE, HERE) }]);
static WITH_CLUSTER_ROLE: Shape = group(&[Edge { access: HANDED, ..Edge::plain("cluster_role", &CLUSTER_ROLE, HERE) }]);

#[test]
fn what_a_role_hands_on_the_operator_holds_where_the_role_holds() {
    let handed = json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["tls"], "verbs": ["get"]});
    let has = |shape: &'static Shape, role: &str| {
        let roles = roles(&project(shape, true));
        let rules = roles.iter().find(|(name, _)| name.starts_with(role)).map(|(_, rules)| rules.clone());
        rules.unwrap_or_default().contains(&handed)
    };
    assert!(has(&WITH_ROLE, "Role "));
    assert!(has(&WITH_CLUSTER_ROLE, "ClusterRole "));
    assert!(!has(&WITH_CLUSTER_ROLE, "Role "));
}

static LOOSE: Shape =
    group(&[Edge::plain("role", &ROLE, HERE), Edge { access: HANDED, ..Edge::plain("declared", &CLUSTER_ROLE, HERE) }]);
static NOWHERE: Shape =
    leaf(Node::Custom, &[Access::to(kind_of::<ClusterNode>, &[Verb::Get], HERE).within("kube-system")]);

#[test]
fn a_role_without_declared_rights_is_warned_about() {
    let found = findings(&project(&LOOSE, false));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].severity, found[0].path.as_str()), (Severity::Warning, "role"));
    assert!(found[0].fix.contains("`resource(grants(...))`"), "{found:?}");
}

#[test]
fn a_namespace_of_what_is_in_none_is_an_error() {
    let found = findings(&project(&NOWHERE, false));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].severity, Severity::Error);
    assert_eq!(found[0].problem, "`Node in \"kube-system\": get`: Node is cluster-scoped");
}

static INSIDE: Shape = group(&[
    Edge::plain("secret", &leaf(Node::Resource, &[Access::to(kind_of::<Secret>, &[Verb::List], HERE)]), HERE),
    Edge::plain("nested", &NARROW, HERE).in_remote_cluster(false),
]);
static REMOTE: Shape = group(&[
    Edge::plain("local", &leaf(Node::Resource, &[Access::to(kind_of::<ClusterNode>, &[Verb::Get], HERE)]), HERE),
    Edge::plain("inside", &INSIDE, HERE).in_remote_cluster(false),
]);

#[test]
fn remote_nodes_need_no_right_here_but_for_their_record_and_their_kubeconfig() {
    let record = rule("configmaps", &["create", "delete", "get", "list", "patch", "watch"]);
    let roles = roles(&project(&REMOTE, false));
    assert_eq!(roles[0].0, "Role demo-system/demo");
    assert_eq!(roles[0].1, [rule("configmaps", &["create", "delete", "get", "patch"])]);
    let watched = rule("configmaps", &["list", "watch"]);
    let read = json!({"apiGroups": [""], "resources": ["nodes", "secrets"], "verbs": ["get"]});
    assert_eq!(roles[1].1, [watched, read]);
    let role = remote_role(&project(&REMOTE, false)).unwrap();
    assert_eq!(role["metadata"]["name"], "demo-remote");
    let there = role["rules"].as_array().unwrap();
    // The nested one keeps its record there, and its own nodes need the same role in its cluster.
    assert!(there.contains(&record), "{role}");
    assert!(there.contains(&rule("secrets", &["get", "list"])), "{role}");
    assert!(there.contains(&json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]})), "{role}");
    assert!(!role.to_string().contains("nodes"), "{role}");
    assert_eq!(remote_role(&project(&NARROW, false)), None);
}

#[test]
fn an_object_in_another_cluster_can_not_be_referenced() {
    static REFERS: Shape = leaf(Node::Custom, &[Access::to(kind_of::<ConfigMap>, &[Verb::Get, Verb::Reference], HERE)]);
    static TREE: Shape = group(&[Edge::plain("inside", &REFERS, HERE).in_remote_cluster(false)]);
    let findings = findings(&project(&TREE, false));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].severity, Severity::Error);
}

#[test]
fn an_application_below_a_remote_node_needs_rights_here_for_itself_and_the_registration_of_the_cluster() {
    const ACCESS: &[Access] = <ArgoCd as Driver>::ACCESS;
    static APPLICATION: Shape = leaf(Node::Application("Argo CD"), ACCESS);
    static INSIDE: Shape =
        group(&[Edge { registration: <ArgoCd as Driver>::REGISTRATION, ..Edge::plain("network", &APPLICATION, HERE) }]);
    static TREE: Shape = group(&[Edge::plain("inside", &INSIDE, HERE).in_remote_cluster(false)]);
    let roles = roles(&project(&TREE, false));
    let of = |name: &str| roles.iter().find(|(role, _)| role == name).map(|(_, rules)| rules.clone()).unwrap();
    let secrets = rule("secrets", &["create", "delete", "get", "list", "patch", "watch"]);
    assert_eq!(of("Role argocd/demo"), [secrets]);
    let verbs = ["create", "delete", "get", "list", "patch", "watch"];
    let applications = json!({"apiGroups": ["argoproj.io"], "resources": ["applications"], "verbs": verbs});
    assert!(of("ClusterRole demo").contains(&applications), "{roles:?}");
    assert_eq!(remote_role(&project(&TREE, false)), None);
}

static BUCKET: Shape =
    leaf(Node::External("bucket"), &[Access::to(kind_of::<Secret>, &[Verb::Get], HERE).within("kube-system")]);

#[test]
fn the_records_of_external_nodes_are_in_the_namespace_of_the_operator_alone() {
    let records = rule("configmaps", &["create", "delete", "get", "list", "patch"]);
    let roles_of_local = roles(&project(&BUCKET, false));
    assert_eq!(roles_of_local[0], ("Role demo-system/demo".to_owned(), vec![records]));
    assert!(roles_of_local.contains(&("Role kube-system/demo".to_owned(), vec![rule("secrets", &["get"])])));
}
