//! Provides a `Project` for tests with two kinds and a tree of a group, resources and a custom node.

use serde_json::{Value, json};

use super::project::{KindDescription, Project};
use crate::{
    kind::Kind,
    shape::{Access, Edge, Node, Shape, SourceLocation, Verb},
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

const fn resource(access: &'static [Access]) -> Shape {
    Shape { node: Node::Resource, access, children: &[] }
}

fn config_map() -> Kind {
    kind("", "v1", "ConfigMap", "configmaps", true)
}

fn deployment() -> Kind {
    kind("apps", "v1", "Deployment", "deployments", true)
}

fn node() -> Kind {
    kind("", "v1", "Node", "nodes", false)
}

/// Returns a `Kind` with the given fields.
fn kind(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    namespaced: bool,
) -> Kind {
    Kind { group: group.into(), version: version.into(), kind: kind.into(), plural: plural.into(), namespaced }
}

/// Returns a definition in the form that `kube` derives, with `spec` as the schema of the spec.
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

/// Returns the operator `demo`: `Widget` (namespaced, with events) and `Network` (without a namespace, without events).
pub(crate) fn project() -> Project {
    let widget = kind("demo.example.com", "v1alpha1", "Widget", "widgets", true);
    let network = kind("demo.example.com", "v1", "Network", "networks", false);
    let text = json!({"type": "string"});
    let spec = |field: &str| json!({"type": "object", "properties": {field: text}, "required": [field]});
    Project {
        objects: super::DEFAULT_OBJECTS,
        name: "demo".into(),
        namespace: "demo-system".into(),
        version: "0.1.0".into(),
        image: "registry.example.com/demo".into(),
        namespaced: false,
        lease: "demo.opgen.dev".into(),
        priority_class: None,
        shards: false,
        is_release: false,
        controllers: vec![
            controlled(&widget, &spec("image"), "demo.example.com/widget", true, &TREE),
            controlled(&network, &spec("cidr"), "demo.example.com/network", false, &CONFIG),
        ],
    }
}

/// Returns a controlled kind with `spec` as the schema of its spec.
fn controlled(kind: &Kind, spec: &Value, finalizer: &str, events: bool, shape: &'static Shape) -> KindDescription {
    KindDescription {
        only_defined: false,
        kind: kind.clone(),
        crd: Some(crd(kind, spec)),
        schema: None,
        round_trip: None,
        finalizer: finalizer.into(),
        events,
        shape,
        references: Vec::new(),
        watched_kinds: Vec::new(),
        upgrade: None,
        selects: false,
        sample: None,
    }
}

/// Returns the same operator with `spec` as the schema of the spec of its only kind, `Widget`.
pub(crate) fn with_spec(spec: &Value) -> Project {
    let mut project = project();
    project.controllers.truncate(1);
    let widget = &mut project.controllers[0];
    widget.crd = Some(crd(&widget.kind, spec));
    project
}
