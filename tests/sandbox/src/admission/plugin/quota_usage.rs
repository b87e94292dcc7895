//! Computes the usage of a ResourceQuota.

use serde_json::{Value, json};

use super::pod_resources::{Amounts, add, amounts, containers, of_pod};
use crate::{kind::Kind, object, quantity::Quantity, server::Server};

/// The kinds of the core group that are also counted under their plain name.
const PLAIN: [&str; 6] =
    ["configmaps", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas", "secrets", "services"];

const CLASS: &str = ".storageclass.storage.k8s.io/";

/// Returns the hard limits of a quota.
pub(crate) fn limits(quota: &Value) -> Amounts {
    amounts(&quota["spec"]["hard"])
}

/// Returns the usage of one object.
pub(crate) fn of_object(kind: &Kind, object: &Value) -> Amounts {
    let one = Quantity::of(1);
    let mut usage = Amounts::new();
    usage.insert(format!("count/{}", kind.resource()), one);
    if !kind.group.is_empty() {
        return usage;
    }
    if PLAIN.contains(&kind.plural.as_str()) {
        usage.insert(kind.plural.clone(), one);
    }
    match kind.plural.as_str() {
        "pods" => of_one_pod(object, &mut usage),
        "services" => of_service(object, &mut usage),
        "persistentvolumeclaims" => of_claim(object, &mut usage),
        _ => {}
    }
    usage
}

/// Adds the usage of a Pod; a finished Pod uses nothing but its place in the store.
fn of_one_pod(pod: &Value, usage: &mut Amounts) {
    if matches!(object::text(pod, &["status", "phase"]), "Succeeded" | "Failed") {
        return;
    }
    usage.insert("pods".into(), Quantity::of(1));
    for (name, amount) in of_pod(pod, "requests") {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            usage.insert(name.clone(), amount);
        }
        usage.insert(format!("requests.{name}"), amount);
    }
    usage.extend(of_pod(pod, "limits").into_iter().map(|(name, amount)| (format!("limits.{name}"), amount)));
}

fn of_service(service: &Value, usage: &mut Amounts) {
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

fn of_claim(claim: &Value, usage: &mut Amounts) {
    let class = object::text(claim, &["spec", "storageClassName"]);
    let storage = amounts(&claim["spec"]["resources"]["requests"]).get("storage").copied();
    usage.extend(storage.map(|storage| ("requests.storage".to_owned(), storage)));
    if !class.is_empty() {
        usage.insert(format!("{class}{CLASS}persistentvolumeclaims"), Quantity::of(1));
        usage.extend(storage.map(|storage| (format!("{class}{CLASS}requests.storage"), storage)));
    }
}

/// Returns the usage in the quota's status, or counts it if the status is incomplete.
pub(crate) fn used(server: &Server, quota: &Value, limits: &Amounts) -> Amounts {
    let listed = amounts(&quota["status"]["used"]);
    if limits.keys().all(|name| listed.contains_key(name)) { listed } else { counted(server, quota, limits) }
}

/// Counts the usage in the quota's namespace.
pub(crate) fn counted(server: &Server, quota: &Value, limits: &Amounts) -> Amounts {
    let mut sum: Amounts = limits.keys().map(|name| (name.clone(), Quantity::ZERO)).collect();
    let mut seen = Vec::new();
    for kind in server.kinds.all() {
        if !kind.namespaced || seen.contains(&kind.group_resource) || !limits.keys().any(|name| may_count(&kind, name))
        {
            continue;
        }
        seen.push(kind.group_resource.clone());
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

/// Whether objects of a kind count against the resource with this name.
pub(crate) fn may_count(kind: &Kind, name: &str) -> bool {
    if name.strip_prefix("count/") == Some(&kind.resource()) {
        return true;
    }
    let own = match name {
        "requests.storage" => "persistentvolumeclaims",
        _ if name.contains(CLASS) => "persistentvolumeclaims",
        _ if name.starts_with("services.") => "services",
        _ if PLAIN.contains(&name) => name,
        _ if name.starts_with("count/") => return false,
        _ => "pods",
    };
    kind.is("", own)
}

/// Writes limits and usage into the status.
pub(crate) fn set_status(quota: &mut Value, used: &Amounts) {
    let written: serde_json::Map<String, Value> =
        used.iter().map(|(name, amount)| (name.clone(), amount.to_string().into())).collect();
    quota["status"] = json!({"hard": quota["spec"]["hard"], "used": written});
}

/// Returns the compute resources that a quota limits and a container does not specify: `limits.memory for: a,b`.
pub(crate) fn unspecified(kind: &Kind, pod: &Value, limits: &Amounts) -> Vec<String> {
    if !kind.is("", "pods") {
        return Vec::new();
    }
    let required = limits.keys().filter_map(|name| {
        let (side, resource) = name.split_once('.').unwrap_or(("requests", name));
        let computing = matches!(resource, "cpu" | "memory") && matches!(side, "requests" | "limits");
        computing.then_some((name, side, resource))
    });
    let missing = |side: &str, resource: &str| -> Vec<&str> {
        let all = containers(pod, "containers").chain(containers(pod, "initContainers"));
        let open = all.filter(|container| object::at(container, &["resources", side, resource]).is_none());
        open.map(|container| object::text(container, &["name"])).collect()
    };
    let listed = required.map(|(name, side, resource)| (name, missing(side, resource)));
    listed
        .filter(|(_, missing)| !missing.is_empty())
        .map(|(name, missing)| format!("{name} for: {}", missing.join(",")))
        .collect()
}

/// Whether the quota applies to the object. A quota with scopes counts only Pods.
pub(crate) fn in_scope(quota: &Value, kind: &Kind, object: &Value) -> bool {
    let spec = &quota["spec"];
    let plain =
        spec["scopes"].as_array().into_iter().flatten().map(|scope| json!({"scopeName": scope, "operator": "Exists"}));
    let selected = spec["scopeSelector"]["matchExpressions"].as_array().into_iter().flatten().cloned();
    let scopes: Vec<Value> = plain.chain(selected).collect();
    scopes.is_empty() || kind.is("", "pods") && scopes.iter().all(|scope| scope_holds(scope, object))
}

fn scope_holds(scope: &Value, pod: &Value) -> bool {
    let ends = object::number(pod, &["spec", "activeDeadlineSeconds"]).is_some();
    let best_effort = of_pod(pod, "requests").is_empty() && of_pod(pod, "limits").is_empty();
    let class = object::text(pod, &["spec", "priorityClassName"]);
    let among = || scope["values"].as_array().is_some_and(|values| values.iter().any(|value| value == class));
    match (object::text(scope, &["scopeName"]), object::text(scope, &["operator"])) {
        ("Terminating", _) => ends,
        ("NotTerminating", _) => !ends,
        ("BestEffort", _) => best_effort,
        ("NotBestEffort", _) => !best_effort,
        ("PriorityClass", "In") => among(),
        ("PriorityClass", "NotIn") => !among(),
        ("PriorityClass", "DoesNotExist") => class.is_empty(),
        ("PriorityClass", _) => !class.is_empty(),
        _ => false,
    }
}
