//! The operator's own rights: a walk of its trees.

mod rule;

use serde_json::{Value, json};

pub(crate) use rule::{Rule, merge};

use super::project::Project;
use crate::provisioner::shape::{Access, Verb};

const OWN: &[&str] = &["list", "patch", "watch"];
const STATUS: &[&str] = &["patch"];
const EVENTS: &[&str] = &["create", "patch"];

/// One rule, and whether it is needed beyond the operator's namespace.
struct Grant {
    rule: Rule,
    clusterwide: bool,
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

fn grants(project: &Project) -> Vec<Grant> {
    let mut grants = Vec::new();
    for controlled in &project.controllers {
        let kind = &controlled.kind;
        let clusterwide = !project.namespaced || !kind.namespaced;
        let mut grant = |rule| grants.push(Grant { rule, clusterwide });
        grant(Rule::on(&kind.group, &kind.plural, OWN));
        if !controlled.is_foreign() {
            grant(Rule::on(&kind.group, &format!("{}/status", kind.plural), STATUS));
        }
        if controlled.events {
            // Events on an object without a namespace go to the namespace `default`, so they are clusterwide as it is.
            grant(Rule::on("events.k8s.io", "events", EVENTS));
        }
        controlled.shape.walk(&mut |stop| {
            let permissions = stop.shape.permissions().unwrap_or_default();
            grants.extend(permissions.iter().map(|access| of_access(project, access)));
        });
    }
    grants
}

fn of_access(project: &Project, access: &Access) -> Grant {
    let kind = (access.kind)();
    let resource = match access.subresource {
        "" => kind.plural.to_string(),
        subresource => format!("{}/{subresource}", kind.plural),
    };
    let verbs: Vec<_> = access.verbs.iter().copied().map(Verb::as_str).collect();
    Grant { rule: Rule::on(&kind.group, &resource, &verbs), clusterwide: !project.namespaced || !kind.namespaced }
}
