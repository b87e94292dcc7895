//! Sets the defaults of Pods and pod templates.

use serde_json::{Map, Value, json};

use crate::{object, quantity::Quantity};

/// Sets a missing pull policy of a container (upstream: `SetDefaults_Container`).
pub(super) fn default_container(container: &mut Map<String, Value>) {
    let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
    let policy = default_pull_policy(image);
    container.entry("imagePullPolicy").or_insert_with(|| policy.into());
}

/// Returns the default pull policy of an image: `Always` if it has the tag `latest`, or neither a tag nor a digest.
fn default_pull_policy(image: &str) -> &'static str {
    let (image, has_digest) = image.split_once('@').map_or((image, false), |(image, _)| (image, true));
    // A colon before the last slash separates the port of a registry.
    let name = image.rsplit('/').next().unwrap_or_default();
    match name.split_once(':') {
        _ if image.is_empty() => "IfNotPresent",
        Some((_, "latest")) => "Always",
        None if !has_digest => "Always",
        _ => "IfNotPresent",
    }
}

/// Makes a volume without a source an `emptyDir`, and sets a missing pull policy of an image volume.
pub(super) fn default_volume(volume: &mut Map<String, Value>) {
    if !volume.keys().any(|key| key != "name") {
        volume.insert("emptyDir".into(), json!({}));
    }
    if let Some(Value::Object(image)) = volume.get_mut("image") {
        let policy = default_pull_policy(image.get("reference").and_then(Value::as_str).unwrap_or_default());
        image.entry("pullPolicy").or_insert_with(|| policy.into());
    }
}

/// Writes the name of the ServiceAccount into both `serviceAccountName` and the deprecated field `serviceAccount`. If they
/// differ, `serviceAccountName` wins.
pub(super) fn default_spec(spec: &mut Map<String, Value>) {
    let non_empty =
        |key: &str| spec.get(key).and_then(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned);
    if let Some(name) = non_empty("serviceAccountName").or_else(|| non_empty("serviceAccount")) {
        spec.insert("serviceAccountName".into(), name.as_str().into());
        spec.insert("serviceAccount".into(), name.into());
    }
}

/// Sets the defaults that only a Pod gets, not a template (upstream: `SetDefaults_Pod`).
pub(super) fn default_pod(pod: &mut Map<String, Value>) {
    let Some(Value::Object(spec)) = pod.get_mut("spec") else { return };
    let on_host = spec.get("hostNetwork").and_then(Value::as_bool) == Some(true);
    for containers in ["containers", "initContainers"] {
        let Some(Value::Array(containers)) = spec.get_mut(containers) else { continue };
        for container in containers.iter_mut().filter_map(Value::as_object_mut) {
            default_requests(container);
            if on_host {
                default_host_ports(container);
            }
        }
    }
    spec.entry("enableServiceLinks").or_insert(Value::Bool(true));
}

/// Sets the missing resource requests of a container to its limits.
fn default_requests(container: &mut Map<String, Value>) {
    let Some(Value::Object(resources)) = container.get_mut("resources") else { return };
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    if let Value::Object(requests) = resources.entry("requests").or_insert_with(|| json!({})) {
        for (resource, amount) in limits {
            requests.entry(resource).or_insert(amount);
        }
    }
}

/// Sets missing host ports of a container to its container ports, for a Pod in the host network.
fn default_host_ports(container: &mut Map<String, Value>) {
    let Some(Value::Array(ports)) = container.get_mut("ports") else { return };
    for port in ports.iter_mut().filter_map(Value::as_object_mut) {
        if let Some(number) = port.get("containerPort").cloned() {
            port.entry("hostPort").or_insert(number);
        }
    }
}

/// Returns the status of a new Pod: its phase and its QoS class.
pub(super) fn initial_status(pod: &Value) -> Value {
    json!({"phase": "Pending", "qosClass": qos_class(pod)})
}

/// Keeps the QoS class of a Pod if the new status has none.
pub(super) fn keep_qos_class(status: &mut Value, old: &Value) {
    let old_class = object::text(old, &["status", "qosClass"]);
    if object::text(status, &["qosClass"]).is_empty() && !old_class.is_empty() {
        object::map_at(status, &[]).insert("qosClass".into(), old_class.into());
    }
}

/// Returns the QoS class of a Pod by its requests and limits of CPU and memory: `BestEffort` if no container has any,
/// `Guaranteed` if each container has limits and equal requests of both, else `Burstable`. Resources of the Pod itself
/// (`spec.resources`) replace those of its containers.
fn qos_class(pod: &Value) -> &'static str {
    let containers = |key: &str| object::at(pod, &["spec", key]).and_then(Value::as_array).into_iter().flatten();
    let mut all: Vec<&Value> = containers("containers").chain(containers("initContainers")).collect();
    if let Some(pod_resources) = object::at(pod, &["spec", "resources"]) {
        all = vec![pod_resources];
    }
    // Returns a limit or request that is greater than 0; `None` if it is missing or 0.
    let amount = |container: &Value, list: &str, resource: &str| {
        let resources = container.get("resources").unwrap_or(container);
        let text = object::text(resources, &[list, resource]);
        Quantity::parse(text).ok().filter(Quantity::is_positive)
    };
    let resources = ["cpu", "memory"];
    let has_any = |container: &&Value| {
        let is_set =
            |resource: &&str| ["limits", "requests"].iter().any(|list| amount(container, list, resource).is_some());
        resources.iter().any(is_set)
    };
    if !all.iter().any(has_any) {
        return "BestEffort";
    }
    let is_guaranteed = |container: &&Value| {
        resources.iter().all(|resource| {
            match (amount(container, "limits", resource), amount(container, "requests", resource)) {
                (Some(limit), Some(request)) => limit == request,
                _ => false,
            }
        })
    };
    if all.iter().all(is_guaranteed) { "Guaranteed" } else { "Burstable" }
}

#[cfg(test)]
mod tests {
    use super::default_pull_policy;

    #[test]
    fn the_default_pull_policy_depends_on_tag_and_digest() {
        for image in ["a", "a:latest", "r:5000/a", "r:5000/b/a:latest"] {
            assert_eq!(default_pull_policy(image), "Always", "{image}");
        }
        for image in ["", "a:1", "r:5000/a:1", "a@sha256:00", "a:1@sha256:00"] {
            assert_eq!(default_pull_policy(image), "IfNotPresent", "{image}");
        }
    }
}
