//! Generates the PodDisruptionBudget of an operator.

use super::project::Project;
use serde_json::{Value, json};

/// Returns the PodDisruptionBudget of the operator. The drain of a node evicts one Pod at a time, and is never blocked, even if the
/// operator has only one replica or its Pods are not ready.
pub(crate) fn document(project: &Project) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"labels": project.labels(), "name": project.name, "namespace": project.namespace},
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": project.selector()},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    })
}
