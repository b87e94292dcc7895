//! The operator's own rights: a walk of its trees.

mod audit;
mod explain;
mod rule;
mod verify;

use serde_json::{Value, json};

pub use audit::AuditError;
pub use explain::{explain, explain_json};
pub(crate) use rule::{Rule, merge};
pub use verify::{Comparison, verify};

use super::project::{Controlled, Project};
use crate::provisioner::shape::{Access, Place, Stop, Verb};

const OWN: &[&str] = &["list", "patch", "watch"];
const STATUS: &[&str] = &["patch"];
const EVENTS: &[&str] = &["create", "patch"];

/// One rule, whether it is needed beyond the operator's namespace, and who asks for it.
#[derive(Clone, Debug)]
struct Grant {
    rule: Rule,
    clusterwide: bool,
    asker: Asker,
}

/// Who asks for a rule.
#[derive(Clone, Debug)]
struct Asker {
    /// The kind whose controller it is.
    kind: String,
    why: Why,
}

#[derive(Clone, Debug)]
enum Why {
    /// The loop, whatever the tree is; in words.
    Loop(&'static str),
    /// A node: its path, empty for the root, and the line that asks.
    Node { path: String, place: Place },
}

/// The ServiceAccount, and the roles with their bindings. An operator that watches its own namespace gets a Role; what
/// it does with kinds that live in no namespace needs a ClusterRole beside it.
pub(crate) fn documents(project: &Project) -> Vec<Value> {
    let (clusterwide, local): (Vec<_>, Vec<_>) = grants(project).into_iter().partition(|grant| grant.clusterwide);
    let rules = |grants: Vec<Grant>| merge(grants.into_iter().map(|grant| grant.rule));
    let mut documents = vec![json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"labels": project.labels(), "name": project.name, "namespace": project.namespace},
    })];
    documents.extend(role(project, "Role", &rules(local)));
    documents.extend(role(project, "ClusterRole", &rules(clusterwide)));
    documents
}

fn role(project: &Project, kind: &str, rules: &[Rule]) -> Vec<Value> {
    if rules.is_empty() {
        return Vec::new();
    }
    let metadata = match kind {
        "Role" => json!({"labels": project.labels(), "name": project.name, "namespace": project.namespace}),
        _ => json!({"labels": project.labels(), "name": project.cluster_name()}),
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
    vec![role, binding]
}

/// Every rule with its asker, as yet unmerged.
fn grants(project: &Project) -> Vec<Grant> {
    project.controllers.iter().flat_map(|controlled| of_controller(project, controlled)).collect()
}

fn of_controller(project: &Project, controlled: &Controlled) -> Vec<Grant> {
    let kind = &controlled.kind;
    let clusterwide = !project.namespaced || !kind.namespaced;
    let asker = |why| Asker { kind: kind.kind.to_string(), why };
    let own = |rule, said| Grant { rule, clusterwide, asker: asker(Why::Loop(said)) };
    let mut grants = vec![
        own(Rule::on(&kind.group, &kind.plural, OWN), "follows its own kind, and keeps its finalizer on the objects"),
        own(Rule::on(&kind.group, &format!("{}/status", kind.plural), STATUS), "writes the status"),
    ];
    if controlled.events {
        // Events on an object without a namespace go to the namespace `default`, so they are clusterwide as it is.
        grants.push(own(Rule::on("events.k8s.io", "events", EVENTS), "records events"));
    }
    controlled.shape.walk(&mut |stop| {
        grants.extend(stop.shape.access.iter().map(|access| {
            let why = Why::Node { path: stop.path.to_owned(), place: place(stop, access) };
            of_access(project, access, asker(why))
        }));
    });
    grants
}

/// A resource is asked for by its field, a node by hand by the line of its own.
fn place(stop: Stop<'_>, access: &Access) -> Place {
    if access.place == Place::UNKNOWN { stop.edge.map_or(Place::UNKNOWN, |edge| edge.place) } else { access.place }
}

fn of_access(project: &Project, access: &Access, asker: Asker) -> Grant {
    let kind = (access.kind)();
    let resource = match access.subresource {
        "" => kind.plural.to_string(),
        subresource => format!("{}/{subresource}", kind.plural),
    };
    let verbs: Vec<_> = access.verbs.iter().copied().map(Verb::as_str).collect();
    let clusterwide = !project.namespaced || !kind.namespaced;
    Grant { rule: Rule::on(&kind.group, &resource, &verbs), clusterwide, asker }
}
