//! Computes the usage of a ResourceQuota.

use serde_json::{Value, json};

use super::pod_resources::{Amounts, add, amounts, containers, pod_total};
use crate::{kind::Kind, object, quantity::Quantity, server::Server};

/// The kinds of the core group that are also counted under their plain name.
const PLAIN_NAMES: [&str; 6] =
    ["configmaps", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas", "secrets", "services"];

/// The part between the name of a StorageClass and the resource that is limited for it.
const STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";

/// Returns the hard limits of a quota.
pub(crate) fn limits(quota: &Value) -> Amounts {
    amounts(&quota["spec"]["hard"])
}

/// Returns the amounts by which one object counts against quotas, by the resource names that a ResourceQuota can limit, such as
/// `count/deployments.apps` or `requests.cpu`.
pub(crate) fn of_object(kind: &Kind, object: &Value) -> Amounts {
    let one = Quantity::of(1);
    let mut usage = Amounts::new();
    usage.insert(format!("count/{}", kind.resource()), one);
    if !kind.group.is_empty() {
        return usage;
    }
    if PLAIN_NAMES.contains(&kind.plural.as_str()) {
        usage.insert(kind.plural.clone(), one);
    }
    match kind.plural.as_str() {
        "pods" => add_pod(object, &mut usage),
        "services" => add_service(object, &mut usage),
        "persistentvolumeclaims" => add_claim(object, &mut usage),
        _ => {}
    }
    usage
}

/// Adds the usage of a Pod: its number, and its requests and limits. A finished Pod counts only as an object (`count/pods`).
fn add_pod(pod: &Value, usage: &mut Amounts) {
    if !is_running(pod) {
        return;
    }
    usage.insert("pods".into(), Quantity::of(1));
    for (name, amount) in pod_total(pod, "requests") {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            usage.insert(name.clone(), amount);
        }
        usage.insert(format!("requests.{name}"), amount);
    }
    usage.extend(pod_total(pod, "limits").into_iter().map(|(name, amount)| (format!("limits.{name}"), amount)));
}

/// Returns whether a Pod has not ended.
pub(crate) fn is_running(pod: &Value) -> bool {
    !matches!(object::text(pod, &["status", "phase"]), "Succeeded" | "Failed")
}

/// Returns whether a Pod has an active deadline. Such a Pod is in the scope `Terminating`, any other in `NotTerminating`.
pub(crate) fn has_deadline(pod: &Value) -> bool {
    object::number(pod, &["spec", "activeDeadlineSeconds"]).is_some()
}

/// Adds the usage of a Service: its load balancer and its node ports.
fn add_service(service: &Value, usage: &mut Amounts) {
    let ports = object::at(service, &["spec", "ports"]).and_then(Value::as_array).map_or(0, Vec::len);
    let ports = Quantity::of(i64::try_from(ports).unwrap_or(i64::MAX));
    match object::text(service, &["spec", "type"]) {
        "NodePort" => drop(usage.insert("services.nodeports".into(), ports)),
        "LoadBalancer" => {
            usage.insert("services.loadbalancers".into(), Quantity::of(1));
            if service["spec"]["allocateLoadBalancerNodePorts"] != false {
                usage.insert("services.nodeports".into(), ports);
            }
        }
        _ => {}
    }
}

/// Adds the usage of a PersistentVolumeClaim: its storage, in total and for its StorageClass.
fn add_claim(claim: &Value, usage: &mut Amounts) {
    let class = object::text(claim, &["spec", "storageClassName"]);
    let storage = amounts(&claim["spec"]["resources"]["requests"]).get("storage").copied();
    usage.extend(storage.map(|storage| ("requests.storage".to_owned(), storage)));
    if !class.is_empty() {
        usage.insert(format!("{class}{STORAGE_CLASS}persistentvolumeclaims"), Quantity::of(1));
        usage.extend(storage.map(|storage| (format!("{class}{STORAGE_CLASS}requests.storage"), storage)));
    }
}

/// Returns the usage in the status of a quota. Counts the objects instead if the status omits a resource that the quota limits.
pub(crate) fn current_usage(server: &Server, quota: &Value, limits: &Amounts) -> Amounts {
    let listed = amounts(&quota["status"]["used"]);
    if limits.keys().all(|name| listed.contains_key(name)) { listed } else { count_usage(server, quota, limits) }
}

/// Counts the usage of the resources in `limits` by all objects in the namespace of a quota to which the scopes of the quota apply.
pub(crate) fn count_usage(server: &Server, quota: &Value, limits: &Amounts) -> Amounts {
    let mut sum: Amounts = limits.keys().map(|name| (name.clone(), Quantity::ZERO)).collect();
    let mut counted = Vec::new();
    for kind in server.kinds.all() {
        if !kind.namespaced
            || counted.contains(&kind.group_resource)
            || !limits.keys().any(|name| may_count(&kind, name))
        {
            continue;
        }
        counted.push(kind.group_resource.clone());
        for item in super::lookup::stored_objects(server, &kind.group_resource, Some(object::namespace(quota))) {
            if in_scope(quota, &kind, &item) {
                let mut usage = of_object(&kind, &item);
                usage.retain(|name, _| limits.contains_key(name));
                add(&mut sum, &usage);
            }
        }
    }
    sum
}

/// Returns whether objects of a kind can count against the resource `name` of a quota.
pub(crate) fn may_count(kind: &Kind, name: &str) -> bool {
    if name.strip_prefix("count/") == Some(&kind.resource()) {
        return true;
    }
    let plural = match name {
        "requests.storage" => "persistentvolumeclaims",
        _ if name.contains(STORAGE_CLASS) => "persistentvolumeclaims",
        _ if name.starts_with("services.") => "services",
        _ if PLAIN_NAMES.contains(&name) => name,
        _ if name.starts_with("count/") => return false,
        _ => "pods",
    };
    kind.is("", plural)
}

/// Sets the status of a quota: its limits and their usage.
pub(crate) fn set_status(quota: &mut Value, used: &Amounts) {
    let amounts: serde_json::Map<String, Value> =
        used.iter().map(|(name, amount)| (name.clone(), amount.to_string().into())).collect();
    quota["status"] = json!({"hard": quota["spec"]["hard"], "used": amounts});
}

/// Returns the CPU and memory requests and limits that a quota restricts and that containers of a Pod omit, each with the names of these
/// containers: `limits.memory for: a,b`.
pub(crate) fn unspecified_resources(kind: &Kind, pod: &Value, limits: &Amounts) -> Vec<String> {
    if !kind.is("", "pods") {
        return Vec::new();
    }
    let required = limits.keys().filter_map(|name| {
        let (field, resource) = name.split_once('.').unwrap_or(("requests", name));
        let is_compute = matches!(resource, "cpu" | "memory") && matches!(field, "requests" | "limits");
        is_compute.then_some((name, field, resource))
    });
    let missing = |field: &str, resource: &str| -> Vec<&str> {
        let pod_containers = containers(pod, "containers").chain(containers(pod, "initContainers"));
        let unset = pod_containers.filter(|container| object::at(container, &["resources", field, resource]).is_none());
        unset.map(|container| object::text(container, &["name"])).collect()
    };
    let with_containers = required.map(|(name, field, resource)| (name, missing(field, resource)));
    with_containers
        .filter(|(_, missing)| !missing.is_empty())
        .map(|(name, missing)| format!("{name} for: {}", missing.join(",")))
        .collect()
}

/// Returns whether the scopes of a quota include the object. A quota with scopes counts only Pods; a quota without scopes counts all
/// objects.
pub(crate) fn in_scope(quota: &Value, kind: &Kind, object: &Value) -> bool {
    let spec = &quota["spec"];
    let listed =
        spec["scopes"].as_array().into_iter().flatten().map(|scope| json!({"scopeName": scope, "operator": "Exists"}));
    let selected = spec["scopeSelector"]["matchExpressions"].as_array().into_iter().flatten().cloned();
    let scopes: Vec<Value> = listed.chain(selected).collect();
    scopes.is_empty() || kind.is("", "pods") && scopes.iter().all(|scope| matches_scope(scope, object))
}

/// Returns whether a Pod matches one scope of a quota. An unknown scope matches no Pod.
fn matches_scope(scope: &Value, pod: &Value) -> bool {
    let best_effort = pod_total(pod, "requests").is_empty() && pod_total(pod, "limits").is_empty();
    let class = object::text(pod, &["spec", "priorityClassName"]);
    let in_values = || scope["values"].as_array().is_some_and(|values| values.iter().any(|value| value == class));
    match (object::text(scope, &["scopeName"]), object::text(scope, &["operator"])) {
        ("Terminating", _) => has_deadline(pod),
        ("NotTerminating", _) => !has_deadline(pod),
        ("BestEffort", _) => best_effort,
        ("NotBestEffort", _) => !best_effort,
        ("PriorityClass", "In") => in_values(),
        ("PriorityClass", "NotIn") => !in_values(),
        ("PriorityClass", "DoesNotExist") => class.is_empty(),
        ("PriorityClass", _) => !class.is_empty(),
        _ => false,
    }
}
