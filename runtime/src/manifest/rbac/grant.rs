//! `Grant`: an RBAC rule, the scope where it holds, and what needs it: a tree node, the control loop, or the process.

use crate::{
    access::Rule,
    kind::Kind,
    manager::upgrade_record::record_name,
    manifest::{KindDescription, Project, webhooks},
    shape::{Access, AccessTarget, EXTERNAL_RECORD_ACCESS, Node, NodeVisit, SourceLocation, Verb},
    webhook::Mode,
};
use std::collections::BTreeSet;

/// One RBAC rule, the scope in which it is needed, and its source.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) rule: Rule,
    pub(super) scope: RuleScope,
    pub(super) source: GrantSource,
}

/// The controller, and the part of it, that needs a rule.
#[derive(Clone, Debug)]
pub(super) struct GrantSource {
    /// The kind of the controller; [`OPERATOR`] for rights that no controller needs.
    pub(super) kind: String,
    pub(super) reason: GrantReason,
}

/// The part of a controller that needs a rule.
#[derive(Clone, Debug)]
pub(super) enum GrantReason {
    /// The control loop, which needs the rule for any tree; with its action in words.
    Loop(&'static str),
    /// The process of the operator, whatever its controllers; with its action in words.
    Process(&'static str),
    /// A node: its path, empty for the root, and the line of code that declares the permission.
    Node { path: String, location: SourceLocation },
}

/// The scope in which a rule holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleScope {
    /// The namespace of the operator.
    OperatorNamespace,
    /// Another namespace, by its name.
    Namespace(&'static str),
    /// All namespaces, and cluster-scoped objects.
    Cluster,
}

/// Verbs on kinds whose objects get a finalizer of the operator: its own kind, and kinds that specs and nodes reference.
const FINALIZER_VERBS: &[&str] = &["list", "patch", "watch"];

const WATCH_VERBS: &[&str] = &["list", "watch"];

const STATUS_VERBS: &[&str] = &["update"];

const EVENT_VERBS: &[&str] = &["create", "patch"];

/// Takes the place of the kind in the source of a rule that the process needs.
const OPERATOR: &str = "Operator";

/// Verbs on the kinds of a retired node: the operator finds and deletes its objects, and creates none.
const RETIRED_VERBS: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Delete];

/// Verbs on the Lease of the operator. A new Lease has no name that a rule could contain.
const LEASE_VERBS: &[&str] = &["get", "update", "watch"];

/// Verbs on Leases if the operator has shards: each member and each shard has a Lease, the members watch each other, and delete the
/// Leases of those that have ended.
const SHARD_VERBS: &[&str] = &["create", "delete", "get", "list", "update", "watch"];

/// Verbs on the ConfigMap that records upgrades.
const RECORD_VERBS: &[&str] = &["get", "patch"];

/// Verbs on the Secret of the certificates. A new Secret has no name that a rule could contain.
const SECRET_VERBS: &[&str] = &["get", "update"];

/// Verbs on the own webhook configurations, whose certificate authorities the operator sets.
const CONFIGURATION_VERBS: &[&str] = &["get", "patch"];

/// Returns all RBAC rules of the operator, not yet merged, each with its scope and its source.
pub(super) fn grants(project: &Project) -> Vec<Grant> {
    let mut grants = grants_without_certificates(project);
    grants.extend(grants_of_certificates(project));
    grants
}

/// Returns the rules of an operator for whose webhooks somebody else makes the certificates. Leaves out the rules on kinds in NATS buckets,
/// which need none, and returns no rules for an operator without Kubernetes.
pub(super) fn grants_without_certificates(project: &Project) -> Vec<Grant> {
    let mut grants = if project.runs_without_kubernetes() { Vec::new() } else { all_grants(project) };
    let buckets = project.buckets();
    grants.retain(|grant| !buckets.keys().any(|kind| is_on(&grant.rule, kind)));
    grants
}

/// Returns whether a rule applies to the objects of a kind or to a subresource of the kind.
pub(super) fn is_on(rule: &Rule, kind: &Kind) -> bool {
    let is_of_kind = |resource: &String| resource.split('/').next() == Some(&*kind.plural);
    rule.groups.iter().any(|group| *group == kind.group) && rule.resources.iter().any(is_of_kind)
}

/// Returns the rules of an operator as if all its kinds were in Kubernetes, without the rules for the certificates of its webhooks.
pub(super) fn all_grants(project: &Project) -> Vec<Grant> {
    let controllers = project.controllers.iter().flat_map(|controlled| grants_of_controller(project, controlled));
    controllers
        .chain(grants_of_process())
        .chain(grants_of_election(project))
        .chain(grants_of_upgrades(project))
        .chain(grants_of_reads(project))
        .chain(grants_of_migrations(project))
        .collect()
}

/// Returns the rules for the server of `/metrics`, which authenticates and authorizes its clients by reviews of the API server.
fn grants_of_process() -> [Grant; 2] {
    let grant = |group, resource, action| Grant {
        rule: Rule::on(group, resource, &["create"]),
        scope: RuleScope::Cluster,
        source: GrantSource { kind: OPERATOR.to_owned(), reason: GrantReason::Process(action) },
    };
    [
        grant("authentication.k8s.io", "tokenreviews", "authenticates the clients of /metrics"),
        grant("authorization.k8s.io", "subjectaccessreviews", "authorizes the clients of /metrics"),
    ]
}

/// Returns the rules on Leases in the namespace of the operator: those of sharding, or else those of leader election.
fn grants_of_election(project: &Project) -> Vec<Grant> {
    let grant = |rule, action| Grant {
        rule,
        scope: RuleScope::OperatorNamespace,
        source: GrantSource { kind: OPERATOR.to_owned(), reason: GrantReason::Process(action) },
    };
    if project.shards {
        return vec![grant(shard_rule(), "shares the objects between replicas")];
    }
    let lease = Rule::on("coordination.k8s.io", "leases", LEASE_VERBS);
    let create = Rule::on("coordination.k8s.io", "leases", &["create"]);
    let lease = Rule { resource_names: vec![project.lease.clone()], ..lease };
    [lease, create].map(|rule| grant(rule, "elects a leader")).into()
}

/// Returns the rule on Leases that sharding needs in the namespace of the operator.
pub(super) fn shard_rule() -> Rule {
    Rule::on("coordination.k8s.io", "leases", SHARD_VERBS)
}

/// Returns the rules of upgrade hooks: the permissions that the hooks declare, and rules on the ConfigMap that records upgrades, in the
/// namespace of the operator. RBAC can't restrict `create` to a name, so that rule allows any ConfigMap.
fn grants_of_upgrades(project: &Project) -> Vec<Grant> {
    let mut grants = Vec::new();
    for controlled in &project.controllers {
        let Some(permissions) = controlled.upgrade else { continue };
        let grant = |rule, scope, action| Grant {
            rule,
            scope,
            source: GrantSource { kind: controlled.kind.kind.to_string(), reason: GrantReason::Process(action) },
        };
        let record =
            Rule { resource_names: vec![record_name(&project.name)], ..Rule::on("", "configmaps", RECORD_VERBS) };
        let create = Rule::on("", "configmaps", &["create"]);
        grants.extend([record, create].map(|rule| grant(rule, RuleScope::OperatorNamespace, "records upgrades")));
        let hook_grant = |access| grant(Rule::of(access), scope_of_access(project, access), "runs the upgrade hook");
        grants.extend(permissions.iter().map(hook_grant));
    }
    grants
}

const TRUST: &str = "makes the API server trust the certificates of the webhooks";

/// Returns the rules with which the operator makes the certificates of its webhooks: on their Secret, and on the webhook configurations and
/// CustomResourceDefinitions that need the CA bundle. Returns none for an operator without webhooks.
fn grants_of_certificates(project: &Project) -> Vec<Grant> {
    if !project.has_webhooks() {
        return Vec::new();
    }
    let grant = |rule, scope, action| Grant {
        rule,
        scope,
        source: GrantSource { kind: OPERATOR.to_owned(), reason: GrantReason::Process(action) },
    };
    let (names, sharing) = (webhooks::names(project), "shares the certificates of the webhooks between replicas");
    let secret = Rule { resource_names: vec![names.secret], ..Rule::on("", "secrets", SECRET_VERBS) };
    let create = Rule::on("", "secrets", &["create"]);
    let mut grants: Vec<_> = [secret, create].map(|rule| grant(rule, RuleScope::OperatorNamespace, sharing)).into();
    let resources =
        [(Mode::Default, "mutatingwebhookconfigurations"), (Mode::Validate, "validatingwebhookconfigurations")];
    for (mode, resource) in resources {
        if project.webhooks.iter().any(|webhook| webhook.mode == mode) {
            let rule = Rule::on("admissionregistration.k8s.io", resource, CONFIGURATION_VERBS);
            let rule = Rule { resource_names: vec![names.configuration.clone()], ..rule };
            grants.push(grant(rule, RuleScope::Cluster, TRUST));
        }
    }
    let definitions = webhooks::converted_definitions(project);
    if !definitions.is_empty() {
        let rule = Rule::on("apiextensions.k8s.io", "customresourcedefinitions", CONFIGURATION_VERBS);
        let rule = Rule { resource_names: definitions.into_iter().collect(), ..rule };
        grants.push(grant(rule, RuleScope::Cluster, TRUST));
    }
    grants
}

/// Returns the rules for the objects that the functions of webhooks read.
fn grants_of_reads(project: &Project) -> Vec<Grant> {
    let permissions = project.webhooks.iter().flat_map(|webhook| webhook.permissions);
    let grant = |access| Grant {
        rule: Rule::of(access),
        scope: scope_of_access(project, access),
        source: GrantSource { kind: OPERATOR.to_owned(), reason: GrantReason::Process("reads objects for a webhook") },
    };
    permissions.map(grant).collect()
}

/// Returns the rules with which the operator migrates the stored objects of kinds with several versions to the storage version, and then
/// removes the old versions from `status.storedVersions` of the CustomResourceDefinition. An operator that watches one namespace migrates
/// none.
fn grants_of_migrations(project: &Project) -> Vec<Grant> {
    let has_versions = |controlled: &&KindDescription| controlled.has_versions() && !project.namespaced;
    let mut definitions = BTreeSet::new();
    let mut grants = Vec::new();
    let grant = |rule| Grant {
        rule,
        scope: RuleScope::Cluster,
        source: GrantSource {
            kind: OPERATOR.to_owned(),
            reason: GrantReason::Process("writes the objects again in the stored version of their kind"),
        },
    };
    for controlled in project.controllers.iter().filter(has_versions) {
        let kind = &controlled.kind;
        definitions.insert(kind.full_name());
        grants.push(grant(Rule::on(&kind.group, &kind.plural, &["get", "list", "patch"])));
    }
    if !definitions.is_empty() {
        let names: Vec<_> = definitions.into_iter().collect();
        let read = Rule::on("apiextensions.k8s.io", "customresourcedefinitions", &["get"]);
        let trim = Rule::on("apiextensions.k8s.io", "customresourcedefinitions/status", &["patch"]);
        grants.extend([read, trim].map(|rule| grant(Rule { resource_names: names.clone(), ..rule })));
    }
    grants
}

/// Returns the rules of one controller: those of the control loop, and those of the nodes of its tree, whose permissions are declared.
fn grants_of_controller(project: &Project, controlled: &KindDescription) -> Vec<Grant> {
    if controlled.only_defined {
        return Vec::new();
    }
    let kind = &controlled.kind;
    let source = |reason| GrantSource { kind: kind.kind.to_string(), reason };
    let loop_grant =
        |rule, action| Grant { rule, scope: scope_of_kind(project, kind), source: source(GrantReason::Loop(action)) };
    let mut grants = vec![if controlled.finalizer.is_empty() {
        loop_grant(Rule::on(&kind.group, &kind.plural, WATCH_VERBS), "watches its own kind")
    } else {
        loop_grant(Rule::on(&kind.group, &kind.plural, FINALIZER_VERBS), "watches its own kind and sets its finalizer")
    }];
    if !controlled.is_foreign() {
        grants.push(loop_grant(
            Rule::on(&kind.group, &format!("{}/status", kind.plural), STATUS_VERBS),
            "writes the status",
        ));
    }
    for referenced in &controlled.references {
        let action = "waits for referenced objects and sets finalizers on them";
        let rule = Rule::on(&referenced.group, &referenced.plural, FINALIZER_VERBS);
        grants.push(Grant {
            rule,
            scope: scope_of_kind(project, referenced),
            source: source(GrantReason::Loop(action)),
        });
    }
    for watched in &controlled.watched_kinds {
        let action = "watches a kind whose changes trigger passes";
        let rule = Rule::on(&watched.group, &watched.plural, WATCH_VERBS);
        grants.push(Grant { rule, scope: scope_of_kind(project, watched), source: source(GrantReason::Loop(action)) });
    }
    if controlled.events {
        let events = loop_grant(Rule::on("events.k8s.io", "events", EVENT_VERBS), "records events");
        grants.push(Grant { scope: scope_of_events(project, controlled), ..events });
    }
    controlled.shape.walk(&mut |visit| {
        let source =
            |access| source(GrantReason::Node { path: visit.path.to_owned(), location: location_of(&visit, access) });
        let is_retired = visit.edge.is_some_and(|edge| edge.resource.retired);
        // The objects of a node with a cluster are in another cluster, where the role of `remote_rules` holds.
        let is_local = visit.cluster.is_empty();
        let permissions = if is_local { visit.shape.permissions().unwrap_or_default() } else { Vec::new() };
        grants.extend(permissions.iter().map(|access| {
            let narrowed = Access { verbs: if is_retired { RETIRED_VERBS } else { access.verbs }, ..*access };
            Grant { rule: Rule::of(&narrowed), scope: scope_of_access(project, access), source: source(access) }
        }));
        // For an application below a remote node, the operator registers the remote cluster with the CD system in its own cluster.
        let registration = visit.edge.filter(|_| visit.is_registered_application()).and_then(|edge| edge.registration);
        grants.extend(registration.into_iter().flat_map(|registration| registration.access).map(|access| Grant {
            rule: Rule::of(access),
            scope: scope_of_access(project, access),
            source: source(access),
        }));
        // The record of an external node is a ConfigMap in the namespace of the operator.
        let records = if matches!(visit.shape.node, Node::External(_)) { EXTERNAL_RECORD_ACCESS } else { &[] };
        grants.extend(records.iter().map(|access| Grant {
            rule: Rule::of(access),
            scope: RuleScope::OperatorNamespace,
            source: source(access),
        }));
        // A role can grant only rights that its creator holds (RBAC escalation), in the scope of the role.
        let granted = visit.edge.filter(|_| visit.group_cluster.is_empty()).map_or(&[][..], |edge| edge.access);
        let is_remote = visit.edge.is_some_and(|edge| edge.remote);
        let role_scope =
            visit.shape.kinds().map(|role| scope_of_kind(project, &role)).max().unwrap_or(RuleScope::Cluster);
        grants.extend(granted.iter().map(|access| {
            let scope = match is_remote {
                // Only the record of the remote cluster, which is in the namespace of the operator, is created.
                true if access.verbs.contains(&Verb::Create) => RuleScope::OperatorNamespace,
                true => scope_of_access(project, access),
                false => role_scope.clone(),
            };
            Grant { rule: Rule::of(access), scope, source: source(access) }
        }));
    });
    grants
}

/// Returns the rules that the operator needs in the clusters of its remote nodes: the permissions of the nodes whose objects are there, and
/// those that their edges add.
pub(super) fn remote_rules(project: &Project) -> Vec<Rule> {
    let mut rules = Vec::new();
    for controlled in &project.controllers {
        controlled.shape.walk(&mut |visit| {
            if !visit.group_cluster.is_empty() {
                rules.extend(visit.edge.into_iter().flat_map(|edge| edge.access).map(Rule::of));
            }
            if !visit.cluster.is_empty() {
                rules.extend(visit.shape.permissions().unwrap_or_default().iter().map(Rule::of));
            }
        });
    }
    rules
}

/// Returns the scope of a permission: the namespace that it names, or else the scope of its kind; the cluster for a URL.
fn scope_of_access(project: &Project, access: &Access) -> RuleScope {
    match access.target {
        AccessTarget::Url(_) => RuleScope::Cluster,
        AccessTarget::Objects { kind, namespace, .. } => match namespace {
            Some(namespace) if namespace == project.namespace => RuleScope::OperatorNamespace,
            Some(namespace) => RuleScope::Namespace(namespace),
            None => scope_of_kind(project, &kind()),
        },
    }
}

/// Returns the line of code that declares a permission: the attribute of a custom node, or else the field of the node.
fn location_of(visit: &NodeVisit<'_>, access: &Access) -> SourceLocation {
    if access.location == SourceLocation::UNKNOWN {
        visit.edge.map_or(SourceLocation::UNKNOWN, |edge| edge.location)
    } else {
        access.location
    }
}

/// Returns the scope of the events about the objects of a controller. Events about an object in a NATS bucket are in the namespaces of its
/// children in Kubernetes; in the namespace of the operator if it has no such children.
fn scope_of_events(project: &Project, controlled: &KindDescription) -> RuleScope {
    // Events about a cluster-scoped object are in the namespace `default`, which the scope of its kind, the cluster, includes.
    if controlled.bucket.is_none() {
        return scope_of_kind(project, &controlled.kind);
    }
    let mut scope = RuleScope::OperatorNamespace;
    controlled.shape.walk(&mut |visit| {
        let in_kubernetes = visit.local_kinds().into_iter().filter(|kind| !project.is_in_bucket(kind));
        for kind in in_kubernetes {
            scope = scope_of_kind(project, &kind).max(scope.clone());
        }
    });
    scope
}

/// Returns the scope of a rule on all objects of a kind that the operator watches.
fn scope_of_kind(project: &Project, kind: &Kind) -> RuleScope {
    if project.namespaced && kind.namespaced { RuleScope::OperatorNamespace } else { RuleScope::Cluster }
}
