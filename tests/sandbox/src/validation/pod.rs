//! Validates Pods and pod templates.

use std::collections::BTreeSet;

use super::{
    at::{At, Causes},
    container, metadata,
    name::NameRule,
    scheduling, volume,
};

const DNS_POLICIES: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const RESTART_POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];

/// A new Pod.
pub(super) fn create(pod: &At<'_>, causes: &mut Causes) {
    profiles(&pod.at(&["metadata", "annotations"]), causes);
    let of_a_pod = pod.child("spec");
    spec(&of_a_pod, causes);
    let ephemeral = of_a_pod.child("ephemeralContainers");
    if !ephemeral.is_empty() {
        ephemeral.forbidden(causes, "cannot be set on create");
    }
}

/// Annotations that were the place of seccomp profiles, of the Pod or of one of its containers.
fn profiles(annotations: &At<'_>, causes: &mut Causes) {
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

/// A template, as `spec.template`. Its metadata is told of without the word.
pub(super) fn template(template: &At<'_>, causes: &mut Causes) {
    let at = |part: &str| At { path: template.child(part).path, value: template.at(&["metadata", part]).value };
    metadata::labels(&at("labels"), causes);
    metadata::annotations(&at("annotations"), causes);
    spec(&template.child("spec"), causes);
}

pub(super) fn spec(spec: &At<'_>, causes: &mut Causes) {
    let volumes = volume::volumes(&spec.child("volumes"), causes);
    containers(spec, &volumes, causes);
    spec.child("restartPolicy").one_of(causes, &RESTART_POLICIES);
    spec.child("dnsPolicy").one_of(causes, &DNS_POLICIES);
    metadata::labels(&spec.child("nodeSelector"), causes);
    security(&spec.child("securityContext"), causes);
    scheduling::affinity(&spec.child("affinity"), causes);
    spec.child("serviceAccountName").if_named(causes, NameRule::Subdomain);
    spec.child("nodeName").if_named(causes, NameRule::Subdomain);
    spec.child("activeDeadlineSeconds").within(causes, 1, i64::from(i32::MAX));
    spec.child("hostname").if_named(causes, NameRule::Label);
    spec.child("subdomain").if_named(causes, NameRule::Label);
    scheduling::tolerations(&spec.child("tolerations"), causes);
    for alias in spec.child("hostAliases").items() {
        let ip = alias.child("ip");
        if ip.text().parse::<std::net::IpAddr>().is_err() {
            ip.invalid(causes, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        }
    }
    spec.child("priorityClassName").if_named(causes, NameRule::Subdomain);
    spec.child("runtimeClassName").if_named(causes, NameRule::Subdomain);
    scheduling::spread(&spec.child("topologySpreadConstraints"), causes);
}

fn containers(spec: &At<'_>, volumes: &BTreeSet<&str>, causes: &mut Causes) {
    let listed = spec.child("containers");
    if listed.is_empty() {
        listed.required(causes, "");
    }
    let (mut names, mut host_ports) = (BTreeSet::new(), BTreeSet::new());
    for one in listed.items() {
        container::container(&one, volumes, &mut names, &mut host_ports, causes);
    }
    // The ports of init containers are free again when the others start.
    let mut own_ports = BTreeSet::new();
    for one in spec.child("initContainers").items() {
        container::container(&one, volumes, &mut names, &mut own_ports, causes);
        own_ports.clear();
    }
}

fn security(context: &At<'_>, causes: &mut Causes) {
    for id in ["fsGroup", "runAsUser", "runAsGroup"] {
        context.child(id).within(causes, 0, i64::from(i32::MAX));
    }
    for group in context.child("supplementalGroups").items() {
        group.within(causes, 0, i64::from(i32::MAX));
    }
    context.child("fsGroupChangePolicy").if_one_of(causes, &["Always", "OnRootMismatch"]);
}
