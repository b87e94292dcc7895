//! Validates the containers of a Pod: images, ports, environment, mounts, probes and security context.

use std::collections::BTreeSet;

use super::{
    environment,
    field::{Causes, Field},
    name::{NameRule, port_name_violations},
    probe, resources,
};

/// The host ports that containers use, with protocol and host IP.
pub(super) type HostPorts = BTreeSet<(i64, String, String)>;

/// Validates a container or an init container of a Pod. `volumes` are the names of the Pod's volumes. `names` and `host_ports` are the
/// names and host ports of the containers that were validated before; the function adds those of this container, to find duplicates.
pub(super) fn validate_container<'a>(
    container: &Field<'a>,
    volumes: &BTreeSet<&str>,
    names: &mut BTreeSet<&'a str>,
    host_ports: &mut HostPorts,
    causes: &mut Causes,
) {
    let name = container.child("name");
    name.required_name(causes, NameRule::Label);
    if !name.is_empty() && !names.insert(name.text()) {
        name.duplicate(causes);
    }
    validate_image(&container.child("image"), causes);
    let message_policy = container.child("terminationMessagePolicy");
    message_policy.required_enum(causes, &["FallbackToLogsOnError", "File"]);
    validate_ports(&container.child("ports"), host_ports, causes);
    environment::validate_variables(&container.child("env"), causes);
    environment::validate_env_from(&container.child("envFrom"), causes);
    validate_volume_mounts(&container.child("volumeMounts"), volumes, causes);
    container.child("imagePullPolicy").required_enum(causes, &["Always", "IfNotPresent", "Never"]);
    resources::validate_requirements(&container.child("resources"), causes);
    validate_security_context(&container.child("securityContext"), causes);
    for hook in ["postStart", "preStop"] {
        let hook = container.nested(&["lifecycle", hook]);
        if hook.is_set() {
            probe::validate_handler(&hook, causes);
        }
    }
    // The failure of a liveness or startup probe restarts the container.
    probe::validate_probe(&container.child("livenessProbe"), true, causes);
    probe::validate_probe(&container.child("readinessProbe"), false, causes);
    probe::validate_probe(&container.child("startupProbe"), true, causes);
}

/// Validates that a container has an image without surrounding whitespace.
pub(super) fn validate_image(image: &Field<'_>, causes: &mut Causes) {
    if image.is_empty() {
        image.required(causes, "");
    } else if image.text() != image.text().trim() {
        image.invalid(causes, "must not have leading or trailing whitespace");
    }
}

/// Validates the ports of a container: names, numbers, protocols, and that no host port is in `host_ports`, to which it adds the host
/// ports.
fn validate_ports(ports: &Field<'_>, host_ports: &mut HostPorts, causes: &mut Causes) {
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.child("name");
        if !name.is_empty() {
            for detail in port_name_violations(name.text()) {
                name.invalid(causes, &detail);
            }
            if !names.insert(name.text()) {
                name.duplicate(causes);
            }
        }
        let number = port.child("containerPort");
        if number.number() == Some(0) {
            number.required(causes, "");
        } else {
            number.in_range(causes, 1, 65535);
        }
        let host_port = port.child("hostPort");
        host_port.in_range(causes, 1, 65535);
        port.child("protocol").required_enum(causes, &["SCTP", "TCP", "UDP"]);
        if let Some(number) = host_port.number().filter(|number| (1..65536).contains(number)) {
            let used_port = (number, port.child("protocol").text().to_owned(), port.child("hostIP").text().to_owned());
            if !host_ports.insert(used_port) {
                host_port.duplicate(causes);
            }
        }
    }
}

/// Validates that each volume mount refers to a volume of the Pod and has a path of its own.
fn validate_volume_mounts(mounts: &Field<'_>, volumes: &BTreeSet<&str>, causes: &mut Causes) {
    let mut paths = BTreeSet::new();
    for mount in mounts.items() {
        let (name, path) = (mount.child("name"), mount.child("mountPath"));
        name.require(causes, "");
        if !volumes.contains(name.text()) {
            name.not_found(causes);
        }
        path.require(causes, "");
        if !path.is_empty() && !paths.insert(path.text()) {
            path.invalid(causes, "must be unique");
        }
    }
}

/// Validates the `securityContext` of a container: ids, and no privileged container without privilege escalation.
fn validate_security_context(context: &Field<'_>, causes: &mut Causes) {
    for id in ["runAsUser", "runAsGroup"] {
        context.child(id).in_range(causes, 0, i64::from(i32::MAX));
    }
    if *context.child("privileged").value == true && *context.child("allowPrivilegeEscalation").value == false {
        context.invalid(causes, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    }
}
