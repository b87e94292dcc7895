//! Provides `Project` values for tests: an operator with two kinds, one of which has a tree with a group of nodes and a custom node, and
//! variations of this operator.

use serde_json::{Value, json};

use super::project::{KindDescription, Project};
use crate::{
    kind::Kind,
    shape::{Access, Edge, Node, Shape, SourceLocation, Verb},
    webhook::{Mode, Webhook, WebhookDescription},
};

const CHILD: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Patch, Verb::Delete];

static CONFIG: Shape = resource(&[Access::to(config_map, CHILD, SourceLocation::UNKNOWN)]);
static DEPLOYMENT: Shape = resource(&[Access::to(deployment, CHILD, SourceLocation::UNKNOWN)]);
static SNAPSHOT: Shape = Shape {
    node: Node::Custom,
    access: &[
        Access::to(node, &[Verb::Get], SourceLocation::UNKNOWN),
        Access::to(deployment, &[Verb::Patch, Verb::Get], SourceLocation::UNKNOWN).subresource("scale"),
    ],
    children: &[],
};
static WORKLOAD: Shape = Shape {
    node: Node::CONCURRENT,
    access: &[],
    children: &[
        Edge::plain("deployment", &DEPLOYMENT, SourceLocation::UNKNOWN),
        Edge::plain("snapshot", &SNAPSHOT, SourceLocation::UNKNOWN),
    ],
};
static TREE: Shape = Shape {
    node: Node::SERIAL,
    access: &[],
    children: &[
        Edge::plain("config", &CONFIG, SourceLocation::UNKNOWN),
        Edge::plain("workload", &WORKLOAD, SourceLocation::UNKNOWN),
    ],
};

static WITH_REMOTE: Shape = Shape {
    node: Node::SERIAL,
    access: &[],
    children: &[Edge::plain("inside", &WORKLOAD, SourceLocation::UNKNOWN).in_remote_cluster(false)],
};

const fn resource(access: &'static [Access]) -> Shape {
    Shape { node: Node::Resource, access, children: &[] }
}

fn config_map() -> Kind {
    namespaced_kind("", "v1", "ConfigMap", "configmaps")
}

fn deployment() -> Kind {
    namespaced_kind("apps", "v1", "Deployment", "deployments")
}

fn node() -> Kind {
    cluster_scoped_kind("", "v1", "Node", "nodes")
}

fn namespaced_kind(group: &'static str, version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind { group: group.into(), version: version.into(), kind: kind.into(), plural: plural.into(), namespaced: true }
}

fn cluster_scoped_kind(group: &'static str, version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind { namespaced: false, ..namespaced_kind(group, version, kind, plural) }
}

/// Returns the CustomResourceDefinition of a kind in the form that `kube` derives, with `spec` as the schema of the spec.
pub(crate) fn crd(kind: &Kind, spec: &Value) -> Value {
    let condition = json!({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]});
    let status = json!({
        "type": "object",
        "properties": {
            "conditions": {"type": "array", "items": condition},
            "observedGeneration": {"type": "integer", "format": "int64"},
        },
    });
    let singular = kind.kind.to_lowercase();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.full_name()},
        "spec": {
            "group": kind.group,
            "names": {"categories": [], "kind": kind.kind, "plural": kind.plural, "shortNames": [], "singular": singular},
            "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
            "versions": [{
                "additionalPrinterColumns": [],
                "name": kind.version,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": spec, "status": status},
                    "required": ["spec"],
                }},
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
            }],
        },
    })
}

/// Returns the description of the operator `demo` with the kinds `Widget` (namespaced, with events) and `Network` (cluster-scoped, without
/// events).
pub(crate) fn project() -> Project {
    let widget = namespaced_kind("demo.example.com", "v1alpha1", "Widget", "widgets");
    let network = cluster_scoped_kind("demo.example.com", "v1", "Network", "networks");
    let text = json!({"type": "string"});
    let spec = |field: &str| json!({"type": "object", "properties": {field: text}, "required": [field]});
    Project {
        objects: super::DEFAULT_OBJECTS,
        name: "demo".into(),
        namespace: "demo-system".into(),
        version: "0.1.0".into(),
        image: "registry.example.com/demo".into(),
        // The operator watches all namespaces.
        namespaced: false,
        lease: "demo.opgen.dev".into(),
        priority_class: None,
        shards: false,
        is_release: false,
        own_buckets: Vec::new(),
        used_buckets: Vec::new(),
        webhooks: Vec::new(),
        policies: Default::default(),
        controllers: vec![
            KindDescription { events: true, ..controlled(&widget, &spec("image"), &TREE) },
            KindDescription { events: false, ..controlled(&network, &spec("cidr"), &CONFIG) },
        ],
    }
}

/// Returns the operator of [`project`] with tree nodes whose objects are in another cluster.
pub(crate) fn with_remote_nodes() -> Project {
    let mut project = project();
    project.controllers[0].shape = &WITH_REMOTE;
    project
}

/// Returns the operator of [`project`] with a mutating and a validating webhook.
pub(crate) fn with_webhooks() -> Project {
    let mut project = project();
    let kind = project.controllers[0].kind.clone();
    let webhook = |mode| WebhookDescription { mode, kind: kind.clone(), webhook: Webhook::default(), permissions: &[] };
    project.webhooks = [Mode::Default, Mode::Validate].map(webhook).into();
    project
}

/// Returns a controlled kind without events. Its spec has the schema `spec`, and its finalizer is `<group>/<kind>`.
fn controlled(kind: &Kind, spec: &Value, shape: &'static Shape) -> KindDescription {
    KindDescription {
        only_defined: false,
        kind: kind.clone(),
        crd: Some(crd(kind, spec)),
        schema: None,
        validation: None,
        versions: None,
        bucket: None,
        round_trip: None,
        finalizer: format!("{}/{}", kind.group, kind.kind.to_lowercase()),
        events: false,
        shape,
        references: Vec::new(),
        watched_kinds: Vec::new(),
        upgrade: None,
        selects: false,
        sample: None,
    }
}

/// Returns the operator of [`project`] with `Widget` as its only kind, whose spec has the schema `spec`.
pub(crate) fn with_spec(spec: &Value) -> Project {
    let mut project = project();
    project.controllers.truncate(1);
    let widget = &mut project.controllers[0];
    widget.crd = Some(crd(&widget.kind, spec));
    project
}
