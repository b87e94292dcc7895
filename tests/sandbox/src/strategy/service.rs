//! Sets the defaults of Services, and the fields that depend on their type.

use serde_json::{Map, Value, json};

use crate::object;

/// The default timeout of session affinity: three hours.
const AFFINITY_SECONDS: i64 = 10800;

/// Sets the defaults of a Service (upstream: `SetDefaults_Service`).
pub(super) fn default_service(service: &mut Map<String, Value>) {
    let Some(Value::Object(spec)) = service.get_mut("spec") else { return };
    spec.entry("sessionAffinity").or_insert_with(|| "None".into());
    match spec.get("sessionAffinity").and_then(Value::as_str) {
        Some("None") => drop(spec.remove("sessionAffinityConfig")),
        Some("ClientIP") => default_affinity_timeout(spec),
        _ => {}
    }
    spec.entry("type").or_insert_with(|| "ClusterIP".into());
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        default_port(port);
    }
    let type_ = type_of(spec).to_owned();
    let has_node_ports = has_node_ports(&type_);
    let has_external_ips =
        spec.get("externalIPs").and_then(Value::as_array).is_some_and(|addresses| !addresses.is_empty());
    // The policy concerns traffic from outside, which arrives at node ports or external IPs.
    if has_node_ports || type_ == "ClusterIP" && has_external_ips {
        spec.entry("externalTrafficPolicy").or_insert_with(|| "Cluster".into());
    }
    if has_node_ports || type_ == "ClusterIP" {
        spec.entry("internalTrafficPolicy").or_insert_with(|| "Cluster".into());
    }
    if type_ == "LoadBalancer" {
        spec.entry("allocateLoadBalancerNodePorts").or_insert(Value::Bool(true));
        let ingress_points = service.get_mut("status").and_then(|status| status.pointer_mut("/loadBalancer/ingress"));
        for ingress_point in
            ingress_points.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
        {
            if ingress_point.contains_key("ip") {
                ingress_point.entry("ipMode").or_insert_with(|| "VIP".into());
            }
        }
    }
}

/// Sets a missing timeout of session affinity by client IP.
fn default_affinity_timeout(spec: &mut Map<String, Value>) {
    let explicit = spec.get("sessionAffinityConfig").and_then(|config| config.pointer("/clientIP/timeoutSeconds"));
    if explicit.is_none() {
        spec.insert("sessionAffinityConfig".into(), json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}}));
    }
}

/// Sets a missing target port to the port itself. The values 0 and `""` count as missing.
fn default_port(port: &mut Value) {
    let Value::Object(port) = port else { return };
    let has_target = port.get("targetPort").is_some_and(|target| *target != 0 && target != "");
    if let (false, Some(number)) = (has_target, port.get("port").cloned()) {
        port.insert("targetPort".into(), number);
    }
}

/// Restores the cluster IPs and node ports that an update omits, and removes allocated fields that the new type of the
/// Service does not use.
pub(super) fn prepare_update(new: &mut Value, old: &Value) {
    keep_addresses(new, old);
    keep_node_ports(new, old);
    drop_unused_fields(new, old);
}

/// Restores the cluster IPs and IP families that an update omits, if both the old and the new type have a cluster IP.
fn keep_addresses(new: &mut Value, old: &Value) {
    let Some(old_spec) = object::at(old, &["spec"]).and_then(Value::as_object) else { return };
    let spec = object::map_at(new, &["spec"]);
    if !has_cluster_ip(type_of(old_spec)) || !has_cluster_ip(type_of(spec)) {
        return;
    }
    let text =
        |spec: &Map<String, Value>, key: &str| spec.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (old_ip, new_ip) = (text(old_spec, "clusterIP"), text(spec, "clusterIP"));
    let same_list = spec.get("clusterIPs") == old_spec.get("clusterIPs");
    // A client that knows only `clusterIP` has changed it; `clusterIPs` must have the same address.
    if old_ip != new_ip && !new_ip.is_empty() && same_list {
        spec.insert("clusterIPs".into(), json!([new_ip]));
    }
    for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if let (None, Some(value)) = (spec.get(key), old_spec.get(key)) {
            spec.insert(key.into(), value.clone());
        }
    }
}

/// Restores the node ports that an update omits, if both the old and the new type have node ports. A port gets the node
/// port of the old port with the same name, unless another port of the update requests it.
fn keep_node_ports(new: &mut Value, old: &Value) {
    if !has_node_ports(object::text(old, &["spec", "type"])) || !has_node_ports(object::text(new, &["spec", "type"])) {
        return;
    }
    let old_ports = ports(old);
    let requested: Vec<i64> = ports(new).iter().filter_map(|port| object::number(port, &["nodePort"])).collect();
    let spec = object::map_at(new, &["spec"]);
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if object::number(port, &["nodePort"]).is_some_and(|number| number != 0) {
            continue;
        }
        let name = object::text(port, &["name"]).to_owned();
        let old_port = old_ports.iter().rev().find(|port| object::text(port, &["name"]) == name);
        let number = old_port.and_then(|old_port| object::number(old_port, &["nodePort"]));
        if let Some(number) = number.filter(|number| !requested.contains(number)) {
            object::map_at(port, &[]).insert("nodePort".into(), number.into());
        }
    }
}

/// Removes fields that the old type of the Service uses and the new type doesn't. Keeps such a field if the update changes
/// its value, so that validation rejects the update.
fn drop_unused_fields(new: &mut Value, old: &Value) {
    let (old_type, new_type) =
        (object::text(old, &["spec", "type"]).to_owned(), object::text(new, &["spec", "type"]).to_owned());
    let has_external_ips = |object: &Value| object::at(object, &["spec", "externalIPs"]).is_some();
    // Whether traffic from outside the cluster arrives at the Service, so that it has an `externalTrafficPolicy`.
    let is_external =
        |type_: &str, has_external_ips: bool| has_node_ports(type_) || type_ == "ClusterIP" && has_external_ips;
    let was_external = is_external(&old_type, has_external_ips(old));
    let is_external_now = is_external(&new_type, has_external_ips(new));
    let Some(old_spec) = object::at(old, &["spec"]).and_then(Value::as_object) else { return };
    let old_node_ports: Vec<i64> = ports(old).iter().filter_map(|port| object::number(port, &["nodePort"])).collect();
    let spec = object::map_at(new, &["spec"]);
    let mut drop_unchanged = |keys: &[&str]| {
        for key in keys {
            if spec.get(*key) == old_spec.get(*key) {
                spec.remove(*key);
            }
        }
    };
    if has_cluster_ip(&old_type) && !has_cluster_ip(&new_type) {
        drop_unchanged(&["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]);
    }
    if old_type == "LoadBalancer" && new_type != old_type {
        drop_unchanged(&["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"]);
    }
    if was_external && !is_external_now {
        drop_unchanged(&["externalTrafficPolicy"]);
    }
    if has_node_ports(&old_type) && !has_node_ports(&new_type) {
        for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            if object::number(port, &["nodePort"]).is_some_and(|number| old_node_ports.contains(&number)) {
                object::map_at(port, &[]).remove("nodePort");
            }
        }
    }
    if new_type != "LoadBalancer" && object::at(new, &["status", "loadBalancer"]).is_some() {
        object::map_at(new, &["status"]).insert("loadBalancer".into(), json!({}));
    }
}

/// Returns whether a Service of the type has a cluster IP, which may be `None`.
pub(crate) fn has_cluster_ip(type_: &str) -> bool {
    type_ != "ExternalName"
}

/// Returns whether a Service of the type has node ports.
pub(crate) fn has_node_ports(type_: &str) -> bool {
    matches!(type_, "NodePort" | "LoadBalancer")
}

/// Returns the ports of a Service.
pub(crate) fn ports(service: &Value) -> &[Value] {
    object::at(service, &["spec", "ports"]).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the type of a Service; `ClusterIP` if it has none.
fn type_of(spec: &Map<String, Value>) -> &str {
    spec.get("type").and_then(Value::as_str).unwrap_or("ClusterIP")
}
