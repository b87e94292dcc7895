//! `Grant`: an RBAC rule with the scope where it holds and the node or loop that needs it.

use crate::{
    access::Rule,
    kind::Kind,
    manifest::{Controlled, Project},
    shape::{Access, Place, Reach, Stop, Verb},
};

/// One rule, where it is needed, and who asks for it.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) rule: Rule,
    pub(super) scope: RuleScope,
    pub(super) asker: Asker,
}

/// Who asks for a rule.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    /// The kind whose controller it is.
    pub(super) kind: String,
    pub(super) why: GrantReason,
}

#[derive(Clone, Debug)]
pub(super) enum GrantReason {
    /// The loop, whatever the tree is; in words.
    Loop(&'static str),
    /// A node: its path, empty for the root, and the line that asks.
    Node { path: String, place: Place },
}

/// Where a rule holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleScope {
    /// In the namespace of the operator.
    Own,
    /// In another namespace, by its name.
    In(&'static str),
    /// In all namespaces, and for what lives in none.
    Cluster,
}

/// On the kinds on whose objects a finalizer is kept: its own, and those that specs and nodes name.
const HELD: &[&str] = &["list", "patch", "watch"];

const FOLLOWED: &[&str] = &["list", "watch"];

const STATUS: &[&str] = &["update"];

const EVENTS: &[&str] = &["create", "patch"];

/// What is left of a retired node is looked for and removed, never made.
const RETIRED: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Delete];

/// Every rule with its asker, as yet unmerged.
pub(super) fn grants(project: &Project) -> Vec<Grant> {
    project.controllers.iter().flat_map(|controlled| of_controller(project, controlled)).collect()
}

fn of_controller(project: &Project, controlled: &Controlled) -> Vec<Grant> {
    if controlled.only_defined {
        return Vec::new();
    }
    let kind = &controlled.kind;
    let asker = |why| Asker { kind: kind.kind.to_string(), why };
    let own = |rule, said| Grant { rule, scope: where_of(project, kind), asker: asker(GrantReason::Loop(said)) };
    let mut grants = vec![if controlled.finalizer.is_empty() {
        own(Rule::on(&kind.group, &kind.plural, FOLLOWED), "follows its own kind")
    } else {
        own(Rule::on(&kind.group, &kind.plural, HELD), "follows its own kind, and keeps its finalizer on the objects")
    }];
    if !controlled.is_foreign() {
        grants.push(own(Rule::on(&kind.group, &format!("{}/status", kind.plural), STATUS), "writes the status"));
    }
    for named in &controlled.references {
        let said = "waits for objects that its spec or a node names, and keeps them from being deleted";
        let rule = Rule::on(&named.group, &named.plural, HELD);
        grants.push(Grant { rule, scope: where_of(project, named), asker: asker(GrantReason::Loop(said)) });
    }
    for followed in &controlled.followed {
        let said = "follows a kind whose changes concern its objects";
        let rule = Rule::on(&followed.group, &followed.plural, FOLLOWED);
        grants.push(Grant { rule, scope: where_of(project, followed), asker: asker(GrantReason::Loop(said)) });
    }
    if controlled.events {
        // Events on an object without a namespace go to the namespace `default`, so they are clusterwide as it is.
        grants.push(own(Rule::on("events.k8s.io", "events", EVENTS), "records events"));
    }
    controlled.shape.walk(&mut |stop| {
        let asker = |access| asker(GrantReason::Node { path: stop.path.to_owned(), place: place(&stop, access) });
        let is_retired = stop.edge.is_some_and(|edge| edge.resource.retired);
        let permissions = stop.shape.permissions().unwrap_or_default();
        grants.extend(permissions.iter().map(|access| {
            let held = Access { verbs: if is_retired { RETIRED } else { access.verbs }, ..*access };
            Grant { rule: Rule::of(&held), scope: reach_of(project, access), asker: asker(access) }
        }));
        // The API server asks for the rights that a role hands on where the role holds.
        let handed_on = stop.edge.map_or(&[][..], |edge| edge.access);
        let scope = stop.shape.kinds().map(|role| where_of(project, &role)).max().unwrap_or(RuleScope::Cluster);
        grants.extend(handed_on.iter().map(|access| Grant {
            rule: Rule::of(access),
            scope: scope.clone(),
            asker: asker(access),
        }));
    });
    grants
}

fn reach_of(project: &Project, access: &Access) -> RuleScope {
    match access.reach {
        Reach::Url(_) => RuleScope::Cluster,
        Reach::Objects { kind, namespace, .. } => match namespace {
            Some(namespace) if project.namespaced && namespace == project.namespace => RuleScope::Own,
            Some(namespace) => RuleScope::In(namespace),
            None => where_of(project, &kind()),
        },
    }
}

/// A resource is asked for by its field, a node by hand by the line of its own.
fn place(stop: &Stop<'_>, access: &Access) -> Place {
    if access.place == Place::UNKNOWN { stop.edge.map_or(Place::UNKNOWN, |edge| edge.place) } else { access.place }
}

fn where_of(project: &Project, kind: &Kind) -> RuleScope {
    if project.namespaced && kind.namespaced { RuleScope::Own } else { RuleScope::Cluster }
}
