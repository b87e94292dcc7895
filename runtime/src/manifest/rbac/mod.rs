//! The operator's own rights: a walk of its trees.

mod audit;
mod explain;
mod grant;
mod verify;

use grant::{Asker, Grant, Scope, Why};

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub use audit::AuditError;
pub use explain::{explain, explain_json};
pub use verify::{Comparison, verify};

use super::finding::{Finding, Findings};
use super::project::{Controlled, Project};
use crate::{
    access::{Rule, merge},
    kind::Kind,
    shape::{Access, Node, Place, Reach, Stop, Verb},
};

/// On the kinds on whose objects a finalizer is kept: its own, and those that specs and nodes name.
const HELD: &[&str] = &["list", "patch", "watch"];
const FOLLOWED: &[&str] = &["list", "watch"];
const STATUS: &[&str] = &["update"];
const EVENTS: &[&str] = &["create", "patch"];

/// What is left of a retired node is looked for and removed, never made.
const RETIRED: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch, Verb::Delete];

/// The ServiceAccount, and the roles with their bindings. An operator that watches its own namespace gets a Role; what
/// it does with kinds that live in no namespace needs a ClusterRole beside it. What is meant for one other namespace gets
/// a Role there.
pub(crate) fn documents(project: &Project) -> Vec<Value> {
    let mut scopes: BTreeMap<Scope, Vec<Rule>> = BTreeMap::new();
    for grant in grants(project) {
        scopes.entry(grant.scope).or_default().push(grant.rule);
    }
    let mut documents = vec![json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"labels": project.labels(), "name": project.name, "namespace": project.namespace},
    })];
    documents.extend(scopes.into_iter().flat_map(|(scope, rules)| role(project, &scope, &merge(rules))));
    documents
}

/// What is declared, and does not hold in the cluster.
pub(crate) fn findings(project: &Project) -> Vec<Finding> {
    let mut found = Vec::new();
    for controlled in &project.controllers {
        let mut findings = Findings::of(&*controlled.kind.kind);
        controlled.shape.walk(&mut |stop| check(&stop, &mut findings));
        found.extend(findings.into_vec());
    }
    found
}

fn check(stop: &Stop<'_>, findings: &mut Findings) {
    for access in stop.access() {
        if let Reach::Objects { kind, namespace: Some(namespace), .. } = access.reach
            && !kind().namespaced
        {
            let problem = format!("`{access}`: objects of {} are in no namespace", kind());
            findings.error(stop.path, problem, format!("remove `in \"{namespace}\"`"));
        }
    }
    let is_role = |kind: Kind| kind.group == "rbac.authorization.k8s.io" && kind.kind.ends_with("Role");
    let Some(edge) = stop.edge.filter(|edge| edge.access.is_empty() && !edge.resource.retired) else { return };
    if stop.shape.node == Node::Resource && stop.shape.kinds().any(is_role) {
        let fix = format!("declare them on the field `{}`: `resource(hands_on(...))`", edge.name);
        findings.warning(stop.path, "a role hands on rights that the operator may not hold", fix);
    }
}

fn role(project: &Project, scope: &Scope, rules: &[Rule]) -> [Value; 2] {
    let labels = project.labels();
    let (kind, metadata) = match scope {
        Scope::Own => ("Role", json!({"labels": labels, "name": project.name, "namespace": project.namespace})),
        // Several operators of one name may meet in the namespace of another.
        Scope::In(namespace) => {
            ("Role", json!({"labels": labels, "name": project.cluster_name(), "namespace": namespace}))
        }
        Scope::Cluster => ("ClusterRole", json!({"labels": labels, "name": project.cluster_name()})),
    };
    let rules: Vec<_> = rules.iter().map(Rule::to_value).collect();
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": metadata,
        "rules": rules,
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{kind}Binding"),
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": metadata["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": project.name, "namespace": project.namespace}],
    });
    [role, binding]
}

/// Every rule with its asker, as yet unmerged.
fn grants(project: &Project) -> Vec<Grant> {
    project.controllers.iter().flat_map(|controlled| of_controller(project, controlled)).collect()
}

fn of_controller(project: &Project, controlled: &Controlled) -> Vec<Grant> {
    if controlled.only_defined {
        return Vec::new();
    }
    let kind = &controlled.kind;
    let asker = |why| Asker { kind: kind.kind.to_string(), why };
    let own = |rule, said| Grant { rule, scope: where_of(project, kind), asker: asker(Why::Loop(said)) };
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
        grants.push(Grant { rule, scope: where_of(project, named), asker: asker(Why::Loop(said)) });
    }
    for followed in &controlled.followed {
        let said = "follows a kind whose changes concern its objects";
        let rule = Rule::on(&followed.group, &followed.plural, FOLLOWED);
        grants.push(Grant { rule, scope: where_of(project, followed), asker: asker(Why::Loop(said)) });
    }
    if controlled.events {
        // Events on an object without a namespace go to the namespace `default`, so they are clusterwide as it is.
        grants.push(own(Rule::on("events.k8s.io", "events", EVENTS), "records events"));
    }
    controlled.shape.walk(&mut |stop| {
        let asker = |access| asker(Why::Node { path: stop.path.to_owned(), place: place(&stop, access) });
        let is_retired = stop.edge.is_some_and(|edge| edge.resource.retired);
        let permissions = stop.shape.permissions().unwrap_or_default();
        grants.extend(permissions.iter().map(|access| {
            let held = Access { verbs: if is_retired { RETIRED } else { access.verbs }, ..*access };
            Grant { rule: Rule::of(&held), scope: reach_of(project, access), asker: asker(access) }
        }));
        // The API server asks for the rights that a role hands on where the role holds.
        let handed_on = stop.edge.map_or(&[][..], |edge| edge.access);
        let scope = stop.shape.kinds().map(|role| where_of(project, &role)).max().unwrap_or(Scope::Cluster);
        grants.extend(handed_on.iter().map(|access| Grant {
            rule: Rule::of(access),
            scope: scope.clone(),
            asker: asker(access),
        }));
    });
    grants
}

fn reach_of(project: &Project, access: &Access) -> Scope {
    match access.reach {
        Reach::Url(_) => Scope::Cluster,
        Reach::Objects { kind, namespace, .. } => match namespace {
            Some(namespace) if project.namespaced && namespace == project.namespace => Scope::Own,
            Some(namespace) => Scope::In(namespace),
            None => where_of(project, &kind()),
        },
    }
}

/// A resource is asked for by its field, a node by hand by the line of its own.
fn place(stop: &Stop<'_>, access: &Access) -> Place {
    if access.place == Place::UNKNOWN { stop.edge.map_or(Place::UNKNOWN, |edge| edge.place) } else { access.place }
}

fn where_of(project: &Project, kind: &Kind) -> Scope {
    if project.namespaced && kind.namespaced { Scope::Own } else { Scope::Cluster }
}

#[cfg(test)]
mod tests;
