//! Validates containers.

use std::collections::BTreeSet;

use super::{
    at::{At, Causes},
    environment,
    name::{NameRule, port_faults},
    probe, resources,
};

/// What is taken of the node: the port with protocol and address.
pub(super) type HostPorts = BTreeSet<(i64, String, String)>;

/// One container among others, whose names and ports of the node are not its.
pub(super) fn container<'a>(
    container: &At<'a>,
    volumes: &BTreeSet<&str>,
    names: &mut BTreeSet<&'a str>,
    host_ports: &mut HostPorts,
    causes: &mut Causes,
) {
    let named = container.child("name");
    named.named(causes, NameRule::Label);
    if !named.is_empty() && !names.insert(named.text()) {
        named.duplicate(causes);
    }
    image(&container.child("image"), causes);
    let message = container.child("terminationMessagePolicy");
    message.one_of(causes, &["FallbackToLogsOnError", "File"]);
    ports(&container.child("ports"), host_ports, causes);
    environment::variables(&container.child("env"), causes);
    environment::sources(&container.child("envFrom"), causes);
    mounts(&container.child("volumeMounts"), volumes, causes);
    container.child("imagePullPolicy").one_of(causes, &["Always", "IfNotPresent", "Never"]);
    resources::requirements(&container.child("resources"), causes);
    security(&container.child("securityContext"), causes);
    for hook in ["postStart", "preStop"] {
        let hook = container.at(&["lifecycle", hook]);
        if hook.is_set() {
            probe::action(&hook, causes);
        }
    }
    probe::probe(&container.child("livenessProbe"), true, causes);
    probe::probe(&container.child("readinessProbe"), false, causes);
    probe::probe(&container.child("startupProbe"), true, causes);
}

pub(super) fn image(image: &At<'_>, causes: &mut Causes) {
    if image.is_empty() {
        image.required(causes, "");
    } else if image.text() != image.text().trim() {
        image.invalid(causes, "must not have leading or trailing whitespace");
    }
}

fn ports(ports: &At<'_>, host_ports: &mut HostPorts, causes: &mut Causes) {
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let named = port.child("name");
        if !named.is_empty() {
            for why in port_faults(named.text()) {
                named.invalid(causes, &why);
            }
            if !names.insert(named.text()) {
                named.duplicate(causes);
            }
        }
        let number = port.child("containerPort");
        if number.number() == Some(0) {
            number.required(causes, "");
        } else {
            number.within(causes, 1, 65535);
        }
        let on_host = port.child("hostPort");
        on_host.within(causes, 1, 65535);
        port.child("protocol").one_of(causes, &["SCTP", "TCP", "UDP"]);
        if let Some(number) = on_host.number().filter(|number| (1..65536).contains(number)) {
            let taken = (number, port.child("protocol").text().to_owned(), port.child("hostIP").text().to_owned());
            if !host_ports.insert(taken) {
                on_host.duplicate(causes);
            }
        }
    }
}

fn mounts(mounts: &At<'_>, volumes: &BTreeSet<&str>, causes: &mut Causes) {
    let mut paths = BTreeSet::new();
    for mount in mounts.items() {
        let (named, path) = (mount.child("name"), mount.child("mountPath"));
        named.demand(causes, "");
        if !volumes.contains(named.text()) {
            named.not_found(causes);
        }
        path.demand(causes, "");
        if !path.is_empty() && !paths.insert(path.text()) {
            path.invalid(causes, "must be unique");
        }
    }
}

fn security(context: &At<'_>, causes: &mut Causes) {
    for id in ["runAsUser", "runAsGroup"] {
        context.child(id).within(causes, 0, i64::from(i32::MAX));
    }
    if *context.child("privileged").value == true && *context.child("allowPrivilegeEscalation").value == false {
        context.invalid(causes, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    }
}
