//! Sets the defaults of Services, and the fields that depend on their type.

use serde_json::{Map, Value, json};

use crate::object;

/// The default timeout of session affinity: three hours.
const AFFINITY_SECONDS: i64 = 10800;

pub(super) fn default(service: &mut Map<String, Value>) {
    let Some(Value::Object(spec)) = service.get_mut("spec") else { return };
    spec.entry("sessionAffinity").or_insert_with(|| "None".into());
    match spec.get("sessionAffinity").and_then(Value::as_str) {
        Some("None") => drop(spec.remove("sessionAffinityConfig")),
        Some("ClientIP") => default_affinity(spec),
        _ => {}
    }
    spec.entry("type").or_insert_with(|| "ClusterIP".into());
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        default_port(port);
    }
    let type_ = type_of(spec).to_owned();
    let on_nodes = is_on_nodes(&type_);
    let outside = spec.get("externalIPs").and_then(Value::as_array).is_some_and(|addresses| !addresses.is_empty());
    if on_nodes || type_ == "ClusterIP" && outside {
        spec.entry("externalTrafficPolicy").or_insert_with(|| "Cluster".into());
    }
    if on_nodes || type_ == "ClusterIP" {
        spec.entry("internalTrafficPolicy").or_insert_with(|| "Cluster".into());
    }
    if type_ == "LoadBalancer" {
        spec.entry("allocateLoadBalancerNodePorts").or_insert(Value::Bool(true));
        let ways = service.get_mut("status").and_then(|status| status.pointer_mut("/loadBalancer/ingress"));
        for way in ways.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut) {
            if way.contains_key("ip") {
                way.entry("ipMode").or_insert_with(|| "VIP".into());
            }
        }
    }
}

fn default_affinity(spec: &mut Map<String, Value>) {
    let explicit = spec.get("sessionAffinityConfig").and_then(|config| config.pointer("/clientIP/timeoutSeconds"));
    if explicit.is_none() {
        spec.insert("sessionAffinityConfig".into(), json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}}));
    }
}

/// Sets the target port to the port itself if it is missing. `targetPort: 0` counts as missing.
fn default_port(port: &mut Value) {
    let Value::Object(port) = port else { return };
    let explicit = port.get("targetPort").is_some_and(|target| *target != 0 && target != "");
    if let (false, Some(number)) = (explicit, port.get("port").cloned()) {
        port.insert("targetPort".into(), number);
    }
}

/// Keeps addresses and ports that an update omits, and removes those that the new type does not use.
pub(super) fn prepare_update(new: &mut Value, old: &Value) {
    keep_addresses(new, old);
    keep_node_ports(new, old);
    drop_unused(new, old);
}

fn keep_addresses(new: &mut Value, old: &Value) {
    let Some(held) = object::at(old, &["spec"]).and_then(Value::as_object) else { return };
    let spec = object::map_at(new, &["spec"]);
    if !needs_address(type_of(held)) || !needs_address(type_of(spec)) {
        return;
    }
    let text =
        |spec: &Map<String, Value>, key: &str| spec.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (was, is) = (text(held, "clusterIP"), text(spec, "clusterIP"));
    let same_list = spec.get("clusterIPs") == held.get("clusterIPs");
    // An old client sets only `clusterIP`; the list follows it.
    if was != is && !is.is_empty() && same_list {
        spec.insert("clusterIPs".into(), json!([is]));
    }
    for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if let (None, Some(value)) = (spec.get(key), held.get(key)) {
            spec.insert(key.into(), value.clone());
        }
    }
}

/// Keeps the node ports that an update omits; the name identifies a port.
fn keep_node_ports(new: &mut Value, old: &Value) {
    if !is_on_nodes(object::text(old, &["spec", "type"])) || !is_on_nodes(object::text(new, &["spec", "type"])) {
        return;
    }
    let held = ports(old);
    let wanted: Vec<i64> = ports(new).iter().filter_map(|port| object::number(port, &["nodePort"])).collect();
    let spec = object::map_at(new, &["spec"]);
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if object::number(port, &["nodePort"]).is_some_and(|number| number != 0) {
            continue;
        }
        let name = object::text(port, &["name"]).to_owned();
        let same = held.iter().rev().find(|held| object::text(held, &["name"]) == name);
        let number = same.and_then(|held| object::number(held, &["nodePort"]));
        if let Some(number) = number.filter(|number| !wanted.contains(number)) {
            object::map_at(port, &[]).insert("nodePort".into(), number.into());
        }
    }
}

/// Removes only fields that the server allocated; fields that the user sets with the new type stay for validation to
/// refuse.
fn drop_unused(new: &mut Value, old: &Value) {
    let (was, is) = (object::text(old, &["spec", "type"]).to_owned(), object::text(new, &["spec", "type"]).to_owned());
    let outside = |object: &Value| object::at(object, &["spec", "externalIPs"]).is_some();
    let reachable = |type_: &str, outside: bool| is_on_nodes(type_) || type_ == "ClusterIP" && outside;
    let was_reachable = reachable(&was, outside(old));
    let is_reachable = reachable(&is, outside(new));
    let Some(held) = object::at(old, &["spec"]).and_then(Value::as_object) else { return };
    let known: Vec<i64> = ports(old).iter().filter_map(|port| object::number(port, &["nodePort"])).collect();
    let spec = object::map_at(new, &["spec"]);
    let mut drop_same = |keys: &[&str]| {
        for key in keys {
            if spec.get(*key) == held.get(*key) {
                spec.remove(*key);
            }
        }
    };
    if needs_address(&was) && !needs_address(&is) {
        drop_same(&["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]);
    }
    if was == "LoadBalancer" && is != was {
        drop_same(&["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"]);
    }
    if was_reachable && !is_reachable {
        drop_same(&["externalTrafficPolicy"]);
    }
    if is_on_nodes(&was) && !is_on_nodes(&is) {
        for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            if object::number(port, &["nodePort"]).is_some_and(|number| known.contains(&number)) {
                object::map_at(port, &[]).remove("nodePort");
            }
        }
    }
    if is != "LoadBalancer" && object::at(new, &["status", "loadBalancer"]).is_some() {
        object::map_at(new, &["status"]).insert("loadBalancer".into(), json!({}));
    }
}

/// Whether a Service of the type has a cluster IP, which may be `None`.
pub(crate) fn needs_address(type_: &str) -> bool {
    type_ != "ExternalName"
}

/// Whether a Service of the type has node ports.
pub(crate) fn is_on_nodes(type_: &str) -> bool {
    matches!(type_, "NodePort" | "LoadBalancer")
}

pub(crate) fn ports(service: &Value) -> &[Value] {
    object::at(service, &["spec", "ports"]).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn type_of(spec: &Map<String, Value>) -> &str {
    spec.get("type").and_then(Value::as_str).unwrap_or("ClusterIP")
}
