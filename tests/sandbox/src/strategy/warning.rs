//! Computes the warnings that the API server sends to clients about accepted objects.

use serde_json::Value;

use crate::{kind::Kind, object, quantity::Quantity};

/// The kinds whose Pods are named after them.
const NAMING_KINDS: [(&str, &str); 6] = [
    ("", "replicationcontrollers"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
];

/// The deprecated labels of nodes, with their replacements.
const DEPRECATED_LABELS: [(&str, &str); 5] = [
    ("beta.kubernetes.io/arch", "v1.14; use \"kubernetes.io/arch\""),
    ("beta.kubernetes.io/instance-type", "v1.17; use \"node.kubernetes.io/instance-type\""),
    ("beta.kubernetes.io/os", "v1.14; use \"kubernetes.io/os\""),
    ("failure-domain.beta.kubernetes.io/region", "v1.17; use \"topology.kubernetes.io/region\""),
    ("failure-domain.beta.kubernetes.io/zone", "v1.17; use \"topology.kubernetes.io/zone\""),
];

/// Returns the warnings about a new object or a new state of an object, whose old state is `old`. Most warnings are
/// about changed parts only.
pub(crate) fn warnings(kind: &Kind, new: &Value, old: Option<&Value>) -> Vec<String> {
    let mut messages = Vec::new();
    if kind.custom().is_some() {
        warn_finalizers(new, old, &mut messages);
        return messages;
    }
    // An update that doesn't change the pod spec gets no warnings about it.
    let is_unchanged = |path: &[&str]| old.is_some_and(|old| object::at(old, path) == object::at(new, path));
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => {
            warn_dotted_name(new, old, "this is used in the Pod's hostname", &mut messages);
            if !is_unchanged(&["spec"]) {
                warn_pod_spec(new, &["spec"], &mut messages);
            }
        }
        ("", "services") => warn_service(new, &mut messages),
        ("", "persistentvolumeclaims") => warn_claim(new, &mut messages),
        ("networking.k8s.io", "ingresses") if old.is_none() => warn_ingress(new, &mut messages),
        _ => warn_workload(kind, new, old, &mut messages),
    }
    messages
}

/// Adds the warnings about the name and the pod template of a workload, such as a Deployment. Does nothing for other kinds.
fn warn_workload(kind: &Kind, new: &Value, old: Option<&Value>, messages: &mut Vec<String>) {
    let names_pods = NAMING_KINDS.iter().any(|(group, plural)| kind.is(group, plural));
    if !names_pods && !kind.is("apps", "statefulsets") {
        return;
    }
    if names_pods {
        warn_dotted_name(new, old, "this is used in Pod names and hostnames", messages);
    }
    let path: &[&str] = match kind.plural.as_str() {
        "cronjobs" => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => &["spec", "template", "spec"],
    };
    if old.is_none_or(|old| object::at(old, path) != object::at(new, path)) {
        warn_pod_spec(new, path, messages);
    }
}

/// Adds the warning about a new object whose name contains dots. `usage` is the part of the message about the use of names.
fn warn_dotted_name(new: &Value, old: Option<&Value>, usage: &str, messages: &mut Vec<String>) {
    if old.is_none() && object::name(new).contains('.') {
        messages.push(format!(
            "metadata.name: {usage}, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"
        ));
    }
}

/// Adds the warnings about added finalizers that are not of the form `DOMAIN/NAME`, which other controllers might use, too.
fn warn_finalizers(new: &Value, old: Option<&Value>, messages: &mut Vec<String>) {
    let old_finalizers = old.map(object::finalizers).unwrap_or_default();
    let mut added: Vec<&str> =
        object::finalizers(new).into_iter().filter(|name| !old_finalizers.contains(name)).collect();
    added.sort_unstable();
    for name in added.into_iter().filter(|name| !name.contains('/')) {
        let is_standard = ["orphan", "foregroundDeletion"].contains(&name);
        let path = if name.contains('.') { " including a path (/)" } else { "" };
        if !is_standard {
            messages.push(format!(
                "metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
            ));
        }
    }
}

/// Adds the warnings about the pod spec at a path of an object (upstream: `warningsForPodSpecAndMeta`).
fn warn_pod_spec(object: &Value, path: &[&str], messages: &mut Vec<String>) {
    let Some(spec) = object::at(object, path) else { return };
    let field_path = path.join(".");
    for (label, since) in DEPRECATED_LABELS {
        if object::at(spec, &["nodeSelector", label]).is_some() {
            messages.push(format!("{field_path}.nodeSelector[{label}]: deprecated since {since} instead"));
        }
    }
    for (index, secret) in items(spec, "imagePullSecrets").enumerate() {
        if object::text(secret, &["name"]).is_empty() {
            messages.push(format!("{field_path}.imagePullSecrets[{index}].name: invalid empty name \"\""));
        }
    }
    for containers in ["initContainers", "containers"] {
        for (index, container) in items(spec, containers).enumerate() {
            let field_path = format!("{field_path}.{containers}[{index}]");
            warn_fractional_bytes(container, &field_path, messages);
            warn_duplicate_variables(container, &field_path, messages);
            warn_duplicate_ports(container, &field_path, messages);
        }
    }
}

/// Adds the warnings about limits and requests of memory or ephemeral storage that are not a whole number of bytes.
fn warn_fractional_bytes(container: &Value, field_path: &str, messages: &mut Vec<String>) {
    for bound in ["limits", "requests"] {
        for resource in ["memory", "ephemeral-storage"] {
            let text = object::text(container, &["resources", bound, resource]);
            if let Some(why) = fraction_warning(text) {
                messages.push(format!("{field_path}.resources.{bound}[{resource}]: {why}"));
            }
        }
    }
}

/// Returns the warning about a number of bytes with a fraction; `None` if the text is an integer or no quantity.
fn fraction_warning(text: &str) -> Option<String> {
    let is_whole = Quantity::parse(text).ok()?.is_whole();
    (!is_whole).then(|| format!("fractional byte value {text:?} is invalid, must be an integer"))
}

/// Adds the warnings about environment variables of a container whose name an earlier variable has, too.
fn warn_duplicate_variables(container: &Value, field_path: &str, messages: &mut Vec<String>) {
    let names: Vec<&str> = items(container, "env").map(|variable| object::text(variable, &["name"])).collect();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            let why = "which may be dropped when using apply";
            messages.push(format!("{field_path}.env[{index}]: hides previous definition of {name:?}, {why}"));
        }
    }
}

/// Adds the warnings about ports of a container that have the same number, protocol, host port and host IP as an earlier
/// port.
fn warn_duplicate_ports(container: &Value, field_path: &str, messages: &mut Vec<String>) {
    let identifying_fields = ["containerPort", "protocol", "hostPort", "hostIP"];
    let ports: Vec<[Option<&Value>; 4]> =
        items(container, "ports").map(|port| identifying_fields.map(|field| port.get(field))).collect();
    for (index, port) in ports.iter().enumerate() {
        if let Some(first) = ports[..index].iter().position(|other| other == port) {
            messages.push(format!(
                "{field_path}.ports[{index}]: duplicate port definition with {field_path}.ports[{first}]"
            ));
        }
    }
}

/// Adds the warnings about deprecated or ignored fields of a Service.
fn warn_service(service: &Value, messages: &mut Vec<String>) {
    if object::at(service, &["spec", "externalIPs"]).is_some() {
        messages.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".to_owned());
    }
    let headless = object::text(service, &["spec", "clusterIP"]) == "None";
    if headless && !matches!(object::text(service, &["spec", "sessionAffinity"]), "" | "None") {
        messages.push("spec.SessionAffinity is ignored for headless services".to_owned());
    }
}

/// Adds the warnings about a PersistentVolumeClaim: its deprecated class annotation, and a requested fraction of a byte.
fn warn_claim(claim: &Value, messages: &mut Vec<String>) {
    const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
    if object::at(claim, &["metadata", "annotations", CLASS]).is_some() {
        messages.push(format!(
            "metadata.annotations[{CLASS}]: deprecated since v1.8; use \"storageClassName\" attribute instead"
        ));
    }
    if let Some(why) = fraction_warning(object::text(claim, &["spec", "resources", "requests", "storage"])) {
        messages.push(format!("spec.resources.requests[storage]: {why}"));
    }
}

/// Adds the warning about the deprecated class annotation of an Ingress.
fn warn_ingress(ingress: &Value, messages: &mut Vec<String>) {
    const CLASS: &str = "kubernetes.io/ingress.class";
    if object::at(ingress, &["metadata", "annotations", CLASS]).is_some() {
        messages.push(format!("annotation {CLASS:?} is deprecated, please use 'spec.ingressClassName' instead"));
    }
}

/// Returns the items of a list; nothing if there is no list.
fn items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}
