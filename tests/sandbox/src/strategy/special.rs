//! Sets defaults that depend on more than one field.

use serde_json::{Map, Value, json};

use super::{
    job, pod, service,
    template_labels::{default_labels, template_labels},
};

/// Sets the defaults of an object that depend on several of its fields. `definition` is the name of its OpenAPI definition,
/// such as `io.k8s.api.core.v1.Pod`. Must be called after the defaults of nested values are set.
pub(super) fn set_dependent_defaults(definition: &str, object: &mut Map<String, Value>) {
    let Some(name) = definition.strip_prefix("io.k8s.api.") else { return };
    match name {
        "core.v1.Container" | "core.v1.EphemeralContainer" => pod::default_container(object),
        "core.v1.Volume" => pod::default_volume(object),
        "core.v1.PodSpec" => pod::default_spec(object),
        "core.v1.Pod" => pod::default_pod(object),
        "core.v1.Service" => service::default_service(object),
        "core.v1.Secret" => super::secret::default_secret(object),
        "core.v1.Namespace" => super::namespace::default_namespace(object),
        "core.v1.LimitRangeItem" => default_limits(object),
        "core.v1.NodeStatus" => default_allocatable(object),
        "core.v1.ReplicationController" => default_controller_selector(object),
        "core.v1.ServiceAccount" => keep_secret_names(object),
        "apps.v1.DaemonSet" => super::daemon_set::default_daemon_set(object),
        "batch.v1.Job" => job::default_job(object),
        "flowcontrol.v1.FlowSchemaSpec" => default_precedence(object),
        "networking.v1.NetworkPolicySpec" => default_policy_types(object),
        _ => {}
    }
}

/// Sets missing values of a LimitRange item for containers: `default` (the default limit) to `max`, and `defaultRequest` to
/// `default`, or else to `min` (upstream: `SetDefaults_LimitRangeItem`).
fn default_limits(limit: &mut Map<String, Value>) {
    if limit.get("type").and_then(Value::as_str) != Some("Container") {
        return;
    }
    for (to, from) in [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")] {
        let Some(Value::Object(source)) = limit.get(from).cloned() else { continue };
        if let Value::Object(target) = limit.entry(to).or_insert_with(|| json!({})) {
            for (resource, amount) in source {
                target.entry(resource).or_insert(amount);
            }
        }
    }
}

/// Sets missing selector and labels of a ReplicationController to the labels of its pod template.
fn default_controller_selector(controller: &mut Map<String, Value>) {
    let Some(labels) = template_labels(controller) else { return };
    if let Some(Value::Object(spec)) = controller.get_mut("spec") {
        spec.entry("selector").or_insert_with(|| labels.clone());
    }
    default_labels(controller, labels);
}

/// Sets the allocatable resources of a node to its capacity if they are missing.
fn default_allocatable(status: &mut Map<String, Value>) {
    if let (None, Some(capacity)) = (status.get("allocatable"), status.get("capacity").cloned()) {
        status.insert("allocatable".into(), capacity);
    }
}

/// Sets the precedence of a FlowSchema to 1000 if it is missing or 0.
fn default_precedence(spec: &mut Map<String, Value>) {
    if spec.get("matchingPrecedence").is_none_or(|precedence| *precedence == 0) {
        spec.insert("matchingPrecedence".into(), 1000.into());
    }
}

/// Removes all fields except the names from the secret references of a ServiceAccount.
fn keep_secret_names(account: &mut Map<String, Value>) {
    if let Some(Value::Array(secrets)) = account.get_mut("secrets") {
        for secret in secrets.iter_mut().filter_map(Value::as_object_mut) {
            secret.retain(|key, _| key == "name");
        }
    }
}

/// Sets the missing policy types of a NetworkPolicy: `Ingress`, and `Egress` if it has egress rules.
fn default_policy_types(spec: &mut Map<String, Value>) {
    if !spec.contains_key("policyTypes") {
        let egress = spec.contains_key("egress");
        let types = if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
        spec.insert("policyTypes".into(), types);
    }
}
