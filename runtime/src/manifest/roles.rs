//! Generates ClusterRoles for users: three for each kind of the operator, which aggregate to `view`, `edit` and `admin`, and one that may
//! read the operator's metrics.

use serde_json::{Value, json};

use super::{metrics, project::Project};
use crate::{access::Rule, manifest::crd::definition::Definition};

const VIEW_VERBS: &[&str] = &["get", "list", "watch"];
const EDIT_VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const READ_STATUS_VERBS: &[&str] = &["get"];
const WRITE_STATUS_VERBS: &[&str] = &["get", "patch", "update"];

/// Returns three ClusterRoles per kind, which Kubernetes aggregates to the default roles `view`, `edit` and `admin`, and a ClusterRole for
/// readers of the metrics. Only `admin` may write the status, for repairs by hand.
pub(crate) fn documents(project: &Project, definitions: &[Definition]) -> Vec<Value> {
    let roles_of_kind = |definition: &Definition| {
        [
            ("admin", EDIT_VERBS, WRITE_STATUS_VERBS),
            ("edit", EDIT_VERBS, READ_STATUS_VERBS),
            ("view", VIEW_VERBS, READ_STATUS_VERBS),
        ]
        .map(|(audience, verbs, status)| role(project, definition, audience, verbs, status))
    };
    definitions.iter().flat_map(roles_of_kind).chain([metrics::reader_role(project)]).collect()
}

/// Returns the ClusterRole for the objects of a kind that is aggregated to the default role `audience`, with `verbs` on the objects and
/// `status` as the verbs on their status.
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
