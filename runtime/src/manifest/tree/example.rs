//! Provides an operator (a `Project`) for tests. Its provisioner tree uses every option that a tree node can have.

use crate::{
    kind::Kind,
    manifest::{
        fixture,
        project::{KindDescription, Project},
    },
    readiness::pod::PODS,
    shape::{
        Access, Cardinality, DeletionPropagation, Edge, Node, Order, ResourceOptions, Shape, SourceLocation, Verb,
    },
};
use serde_json::json;
use std::time::Duration;

const CHILD: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete];

const fn line(line: u32) -> SourceLocation {
    SourceLocation { file: "controller/src/shop.rs", line }
}

const fn access_to(kind: fn() -> Kind, verbs: &'static [Verb]) -> Access {
    Access::to(kind, verbs, SourceLocation::UNKNOWN)
}

macro_rules! resource {
    ($kind:ident, $group:literal, $version:literal, $name:literal, $plural:literal) => {{
        fn names() -> Kind {
            let (group, version) = ($group.into(), $version.into());
            let namespaced = !matches!($name, "Node" | "Namespace");
            Kind { group, version, kind: $name.into(), plural: $plural.into(), namespaced }
        }
        const $kind: Access = access_to(names, CHILD);
        Shape { node: Node::Resource, access: &[$kind], children: &[] }
    }};
}

static NAMESPACE: Shape = resource!(NAMESPACE, "", "v1", "Namespace", "namespaces");
static CONFIG: Shape = resource!(CONFIG, "", "v1", "ConfigMap", "configmaps");
static SECRET: Shape = resource!(SECRET, "", "v1", "Secret", "secrets");
static SERVICE: Shape = resource!(SERVICE, "", "v1", "Service", "services");
static DEPLOYMENT: Shape = resource!(DEPLOYMENT, "apps", "v1", "Deployment", "deployments");
static STATEFUL_SET: Shape = resource!(STATEFUL_SET, "apps", "v1", "StatefulSet", "statefulsets");
static CRON_JOB: Shape = resource!(CRON_JOB, "batch", "v1", "CronJob", "cronjobs");
static INGRESS: Shape = resource!(INGRESS, "networking.k8s.io", "v1", "Ingress", "ingresses");
static MONITOR: Shape = resource!(MONITOR, "monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors");

static BACKUP: Shape = Shape {
    node: Node::Custom,
    access: &[
        Access { location: line(70), ..access_to(node, &[Verb::Get]) },
        Access { location: line(70), ..access_to(deployment, &[Verb::Patch, Verb::Get]).subresource("scale") },
    ],
    children: &[],
};

static WORKLOAD: Shape = Shape {
    node: Node::Group { up: Order::Concurrent, down: Order::Serial },
    access: &[],
    children: &[
        Edge {
            when: r#"shop.spec.replicas > 0 && shop.spec.tier != "free""#,
            ..Edge::plain("cache", &STATEFUL_SET, line(31))
        },
        Edge::plain("proxy", &DEPLOYMENT, line(33)),
        Edge {
            after: &["cache", "proxy"],
            resource: ResourceOptions { pods: true, ..ResourceOptions::DEFAULT },
            access: PODS,
            ..Edge::plain("web", &DEPLOYMENT, line(35))
        },
        Edge::plain("service", &SERVICE, line(37)),
        Edge { cardinality: Cardinality::Many, ..Edge::plain("jobs", &CRON_JOB, line(39)) },
    ],
};

static POOL: Shape = Shape {
    node: Node::SERIAL,
    access: &[],
    children: &[Edge::plain("deployment", &DEPLOYMENT, line(50)), Edge::plain("service", &SERVICE, line(52))],
};

static TREE: Shape = Shape {
    node: Node::SERIAL,
    access: &[],
    children: &[
        Edge {
            resource: ResourceOptions { once: true, ..ResourceOptions::DEFAULT },
            ..Edge::plain("config", &CONFIG, line(12))
        },
        Edge::plain("workload", &WORKLOAD, line(14)),
        Edge {
            each: "shop.spec.pools.iter()",
            reads: &["workload/service", "config"],
            ..Edge::plain("pools", &POOL, line(16))
        },
        Edge {
            cardinality: Cardinality::Optional,
            resource: ResourceOptions { adopt: true, adopt_from: &["helm", "old-manager"], ..ResourceOptions::DEFAULT },
            reads: &["workload/service"],
            ..Edge::plain("ingress", &INGRESS, line(18))
        },
        Edge::plain("namespace", &NAMESPACE, line(19)),
        Edge {
            deleted_with: "namespace",
            resource: ResourceOptions {
                if_api: true,
                delete: Some(DeletionPropagation::Foreground),
                timeout: Some(Duration::from_secs(600)),
                ..ResourceOptions::DEFAULT
            },
            ..Edge::plain("monitor", &MONITOR, line(20))
        },
        Edge { when: "shop.spec.backup", ..Edge::plain("backup", &BACKUP, line(22)) },
        Edge {
            resource: ResourceOptions { retired: true, ..ResourceOptions::DEFAULT },
            ..Edge::plain("legacy", &SECRET, line(8))
        },
    ],
};

fn node() -> Kind {
    named("", "Node", "nodes", false)
}

fn deployment() -> Kind {
    named("apps", "Deployment", "deployments", true)
}

fn named(group: &'static str, kind: &'static str, plural: &'static str, namespaced: bool) -> Kind {
    Kind { group: group.into(), version: "v1".into(), kind: kind.into(), plural: plural.into(), namespaced }
}

/// Returns the operator `shops`, which controls the kind `Shop` with a tree that uses every option.
pub(crate) fn project() -> Project {
    let kind = named("demo.example.com", "Shop", "shops", true);
    let crd = fixture::crd(&kind, &json!({"type": "object"}));
    let shop = KindDescription {
        only_defined: false,
        kind,
        crd: Some(crd),
        schema: None,
        validation: None,
        versions: None,
        bucket: None,
        round_trip: None,
        finalizer: "demo.example.com/shop".into(),
        events: true,
        shape: &TREE,
        references: Vec::new(),
        watched_kinds: Vec::new(),
        upgrade: None,
        selects: false,
        sample: None,
    };
    Project { name: "shops".into(), namespace: "shops-system".into(), controllers: vec![shop], ..fixture::project() }
}

#[test]
fn every_option_of_a_resource_is_used() {
    // For each field of `ResourceOptions`, whether a node of the tree sets it.
    let mut used = [false; 8];
    TREE.walk(&mut |visit| {
        let Some(edge) = visit.edge else { return };
        // Without `..`, so that the compiler reports an option that the tree may lack.
        let ResourceOptions { once, adopt, adopt_from, if_api, pods, retired, delete, timeout } = edge.resource;
        let set = [once, adopt, !adopt_from.is_empty(), if_api, pods, retired, delete.is_some(), timeout.is_some()];
        used.iter_mut().zip(set).for_each(|(used, set)| *used |= set);
    });
    assert_eq!(used, [true; 8]);
}
