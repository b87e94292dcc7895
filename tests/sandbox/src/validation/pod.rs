//! Validates Pods and pod templates: spec, containers, security context and seccomp annotations.

use std::collections::BTreeSet;

use super::{
    container,
    field::{Causes, Field},
    metadata,
    name::NameRule,
    scheduling, volume,
};

const DNS_POLICIES: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const RESTART_POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];

/// Validates a new Pod (upstream: `ValidatePodCreate`).
pub(super) fn validate_new_pod(pod: &Field<'_>, causes: &mut Causes) {
    validate_seccomp_annotations(&pod.nested(&["metadata", "annotations"]), causes);
    let pod_spec = pod.child("spec");
    validate_spec(&pod_spec, causes);
    let ephemeral = pod_spec.child("ephemeralContainers");
    if !ephemeral.is_empty() {
        ephemeral.forbidden(causes, "cannot be set on create");
    }
}

/// Validates the deprecated annotations with seccomp profiles of a Pod and its containers.
fn validate_seccomp_annotations(annotations: &Field<'_>, causes: &mut Causes) {
    const POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
    const CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
    for (key, value) in annotations.entries().filter(|(key, _)| *key == POD || key.starts_with(CONTAINER)) {
        let profile = value.as_str().unwrap_or_default();
        let known = matches!(profile, "runtime/default" | "docker/default" | "unconfined");
        if !known && !profile.starts_with("localhost/") {
            annotations.child(key).invalid(causes, "must be a valid seccomp profile");
        }
    }
}

/// Validates the pod template of a workload. Errors about its metadata refer to `template.labels`, without `metadata`.
pub(super) fn validate_template(template: &Field<'_>, causes: &mut Causes) {
    let metadata_field =
        |part: &str| Field { path: template.child(part).path, value: template.nested(&["metadata", part]).value };
    metadata::validate_labels(&metadata_field("labels"), causes);
    metadata::validate_annotations(&metadata_field("annotations"), causes);
    validate_spec(&template.child("spec"), causes);
}

/// Validates the spec of a Pod or a pod template (upstream: `ValidatePodSpec`).
pub(super) fn validate_spec(spec: &Field<'_>, causes: &mut Causes) {
    let volumes = volume::validate_volumes(&spec.child("volumes"), causes);
    validate_containers(spec, &volumes, causes);
    spec.child("restartPolicy").required_enum(causes, &RESTART_POLICIES);
    spec.child("dnsPolicy").required_enum(causes, &DNS_POLICIES);
    metadata::validate_labels(&spec.child("nodeSelector"), causes);
    validate_security_context(&spec.child("securityContext"), causes);
    scheduling::validate_affinity(&spec.child("affinity"), causes);
    spec.child("serviceAccountName").optional_name(causes, NameRule::Subdomain);
    spec.child("nodeName").optional_name(causes, NameRule::Subdomain);
    spec.child("activeDeadlineSeconds").in_range(causes, 1, i64::from(i32::MAX));
    spec.child("hostname").optional_name(causes, NameRule::Label);
    spec.child("subdomain").optional_name(causes, NameRule::Label);
    scheduling::validate_tolerations(&spec.child("tolerations"), causes);
    for alias in spec.child("hostAliases").items() {
        let ip = alias.child("ip");
        if ip.text().parse::<std::net::IpAddr>().is_err() {
            ip.invalid(causes, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        }
    }
    spec.child("priorityClassName").optional_name(causes, NameRule::Subdomain);
    spec.child("runtimeClassName").optional_name(causes, NameRule::Subdomain);
    scheduling::validate_topology_spread(&spec.child("topologySpreadConstraints"), causes);
}

/// Validates the containers and init containers of a Pod, which must have unique names. `volumes` are the names of the volumes of the Pod.
fn validate_containers(spec: &Field<'_>, volumes: &BTreeSet<&str>, causes: &mut Causes) {
    let containers = spec.child("containers");
    if containers.is_empty() {
        containers.required(causes, "");
    }
    let (mut names, mut host_ports) = (BTreeSet::new(), BTreeSet::new());
    for container in containers.items() {
        container::validate_container(&container, volumes, &mut names, &mut host_ports, causes);
    }
    // Init containers run one after another, so they can use the same host ports.
    let mut init_host_ports = BTreeSet::new();
    for container in spec.child("initContainers").items() {
        container::validate_container(&container, volumes, &mut names, &mut init_host_ports, causes);
        init_host_ports.clear();
    }
}

/// Validates the `securityContext` of a Pod.
fn validate_security_context(context: &Field<'_>, causes: &mut Causes) {
    for id in ["fsGroup", "runAsUser", "runAsGroup"] {
        context.child(id).in_range(causes, 0, i64::from(i32::MAX));
    }
    for group in context.child("supplementalGroups").items() {
        group.in_range(causes, 0, i64::from(i32::MAX));
    }
    context.child("fsGroupChangePolicy").optional_enum(causes, &["Always", "OnRootMismatch"]);
}
