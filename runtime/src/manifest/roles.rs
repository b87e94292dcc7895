//! Roles for the people who use the kinds: to look, to work, to administer.

use serde_json::{Value, json};

use super::project::Project;
use crate::{access::Rule, manifest::crd::definition::Definition};

const LOOK: &[&str] = &["get", "list", "watch"];
const WORK: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const READ_STATUS: &[&str] = &["get"];
const REPAIR_STATUS: &[&str] = &["get", "patch", "update"];

/// Three ClusterRoles per kind that add themselves to the cluster's own `view`, `edit` and `admin`. Only the last may
/// write status, for repairs by hand.
pub(crate) fn documents(project: &Project, definitions: &[Definition]) -> Vec<Value> {
    let of_kind = |definition: &Definition| {
        [("admin", WORK, REPAIR_STATUS), ("edit", WORK, READ_STATUS), ("view", LOOK, READ_STATUS)]
            .map(|(audience, verbs, status)| role(project, definition, audience, verbs, status))
    };
    definitions.iter().flat_map(of_kind).collect()
}

fn role(project: &Project, definition: &Definition, audience: &str, verbs: &[&str], status: &[&str]) -> Value {
    let mut labels = project.labels();
    labels[format!("rbac.authorization.k8s.io/aggregate-to-{audience}")] = json!("true");
    let rules = [
        Rule::on(&definition.group, &definition.plural, verbs),
        Rule::on(&definition.group, &format!("{}/status", definition.plural), status),
    ];
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"labels": labels, "name": format!("{}-{}", definition.name(), audience)},
        "rules": rules.iter().map(Rule::to_value).collect::<Vec<_>>(),
    })
}
