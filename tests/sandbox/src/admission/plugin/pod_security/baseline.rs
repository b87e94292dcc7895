//! Defines the rules of the Pod Security level `baseline`.

use serde_json::Value;

use super::spec::{PodRule, Spec, containers, counted, items, quoted, sorted};
use crate::object;

/// The rules in the order of their messages, each with whether `restricted` includes it unchanged.
pub(super) const RULES: [(PodRule, bool); 12] = [
    (app_armor, true),
    (capabilities, false),
    (host_namespaces, true),
    (host_paths, false),
    (host_ports, true),
    (probe_hosts, true),
    (privileged, true),
    (proc_mount, false),
    (se_linux, true),
    (seccomp, false),
    (sysctls, true),
    (host_process, true),
];

const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

const SYSCTLS: [&str; 12] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_wmem",
];

const SE_LINUX: [&str; 5] = ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];

fn app_armor(spec: &Spec<'_>) -> Option<String> {
    const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
    let unconfined = |context: &Value| context["appArmorProfile"]["type"] == "Unconfined";
    let mut offenders = spec.offenders(unconfined);
    let entries = spec.annotations.as_object().into_iter().flatten();
    let profiles = entries.filter_map(|(key, value)| Some((key, key.strip_prefix(ANNOTATION)?, value.as_str()?)));
    let is_allowed =
        |profile: &str| profile.is_empty() || profile == "runtime/default" || profile.starts_with("localhost/");
    let bad: Vec<_> = profiles.filter(|(_, _, profile)| !is_allowed(profile)).collect();
    // An annotation about a container counts like the container's own field.
    let by_annotation =
        |name: &str| bad.iter().any(|(_, container, profile)| *container == name && *profile == "unconfined");
    offenders.containers = spec.containers(|container| {
        unconfined(&container["securityContext"]) || by_annotation(container["name"].as_str().unwrap_or_default())
    });
    if !offenders.are_there() && bad.is_empty() {
        return None;
    }
    let mut values: Vec<String> = if offenders.are_there() { vec!["Unconfined".to_owned()] } else { Vec::new() };
    values.extend(sorted(bad.iter().map(|(key, _, profile)| format!("{key}=\"{profile}\""))));
    let mut who: Vec<String> = if offenders.are_there() { vec![offenders.named()] } else { Vec::new() };
    if !bad.is_empty() {
        who.push(if bad.len() == 1 { "annotation".to_owned() } else { "annotations".to_owned() });
    }
    let plural = if values.len() == 1 { "" } else { "s" };
    let (who, values) = (who.join(" and "), quoted(&values));
    Some(format!("forbidden AppArmor profile{plural} ({who} must not set AppArmor profile type to {values})"))
}

fn capabilities(spec: &Spec<'_>) -> Option<String> {
    forbidden_capabilities(spec, &CAPABILITIES).map(|violation| format!("non-default capabilities ({violation})"))
}

/// Returns the violation by containers that add capabilities other than the allowed ones.
pub(super) fn forbidden_capabilities(spec: &Spec<'_>, allowed: &[&str]) -> Option<String> {
    let added = |container: &Value| -> Vec<String> {
        let added = items(&container["securityContext"]["capabilities"], "add").filter_map(Value::as_str);
        added.filter(|name| !allowed.contains(name)).map(str::to_owned).collect()
    };
    let who = spec.containers(|container| !added(container).is_empty());
    let what = sorted(spec.containers.iter().flat_map(|container| added(container)));
    let violation =
        || format!("{} must not include {} in securityContext.capabilities.add", containers(&who), quoted(&what));
    (!who.is_empty()).then(violation)
}

fn host_namespaces(spec: &Spec<'_>) -> Option<String> {
    let shared = ["hostNetwork", "hostPID", "hostIPC"].into_iter().filter(|field| spec.pod[*field] == true);
    let shared: Vec<String> = shared.map(|field| format!("{field}=true")).collect();
    (!shared.is_empty()).then(|| format!("host namespaces ({})", shared.join(", ")))
}

fn host_paths(spec: &Spec<'_>) -> Option<String> {
    let volumes =
        items(spec.pod, "volumes").filter(|volume| volume.get("hostPath").is_some_and(|path| !path.is_null()));
    let names: Vec<&str> = volumes.map(|volume| volume["name"].as_str().unwrap_or_default()).collect();
    (!names.is_empty()).then(|| format!("hostPath volumes ({})", counted("volume", &names)))
}

fn host_ports(spec: &Spec<'_>) -> Option<String> {
    let ports = |container: &Value| -> Vec<String> {
        let ports = items(container, "ports").filter_map(|port| port["hostPort"].as_u64());
        ports.filter(|port| *port != 0).map(|port| port.to_string()).collect()
    };
    let who = spec.containers(|container| !ports(container).is_empty());
    let used = sorted(spec.containers.iter().flat_map(|container| ports(container)));
    let (verb, noun) =
        (if who.len() == 1 { "uses" } else { "use" }, if used.len() == 1 { "hostPort" } else { "hostPorts" });
    (!who.is_empty()).then(|| format!("hostPort ({} {verb} {noun} {})", containers(&who), used.join(", ")))
}

fn probe_hosts(spec: &Spec<'_>) -> Option<String> {
    const ASKED: [&[&str]; 5] = [
        &["livenessProbe"],
        &["readinessProbe"],
        &["startupProbe"],
        &["lifecycle", "postStart"],
        &["lifecycle", "preStop"],
    ];
    let hosts = |container: &Value| -> Vec<String> {
        let request = ASKED.iter().filter_map(|path| object::at(container, path));
        let hosts =
            request.flat_map(|request| ["httpGet", "tcpSocket"].map(|way| object::text(request, &[way, "host"])));
        hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect()
    };
    let who = spec.containers(|container| !hosts(container).is_empty());
    let named = sorted(spec.containers.iter().flat_map(|container| hosts(container)));
    let verb = if who.len() == 1 { "uses" } else { "use" };
    let violation = || {
        let named = counted("probe or lifecycle host", &named);
        format!("probe or lifecycle host ({} {verb} {named})", containers(&who))
    };
    (!who.is_empty()).then(violation)
}

fn privileged(spec: &Spec<'_>) -> Option<String> {
    let who = spec.containers(|container| container["securityContext"]["privileged"] == true);
    (!who.is_empty()).then(|| format!("privileged ({} must not set securityContext.privileged=true)", containers(&who)))
}

/// A Pod with its own user namespace may have an unmasked `/proc`.
fn proc_mount(spec: &Spec<'_>) -> Option<String> {
    if spec.has_own_users() { None } else { masked(spec) }
}

pub(super) fn masked(spec: &Spec<'_>) -> Option<String> {
    let mount = |container: &Value| object::text(container, &["securityContext", "procMount"]).to_owned();
    let is_open = |container: &Value| !matches!(mount(container).as_str(), "" | "Default");
    let who = spec.containers(is_open);
    let mounts =
        sorted(spec.containers.iter().filter(|container| is_open(container)).map(|container| mount(container)));
    let violation =
        || format!("procMount ({} must not set securityContext.procMount to {})", containers(&who), quoted(&mounts));
    (!who.is_empty()).then(violation)
}

fn se_linux(spec: &Spec<'_>) -> Option<String> {
    let option = |context: &Value, name: &str| object::text(context, &["seLinuxOptions", name]).to_owned();
    let bad_type = |context: &Value| Some(option(context, "type")).filter(|name| !SE_LINUX.contains(&name.as_str()));
    let sets = |context: &Value, name: &str| !option(context, name).is_empty();
    let offenders =
        spec.offenders(|context| bad_type(context).is_some() || sets(context, "user") || sets(context, "role"));
    if !offenders.are_there() {
        return None;
    }
    let contexts = || {
        let own = spec.containers.iter().map(|container| &container["securityContext"]);
        std::iter::once(&spec.pod["securityContext"]).chain(own)
    };
    let types = sorted(contexts().filter_map(bad_type));
    let mut violation = Vec::new();
    if !types.is_empty() {
        violation.push(counted("type", &types));
    }
    for name in ["user", "role"] {
        if contexts().any(|context| sets(context, name)) {
            violation.push(format!("{name} may not be set"));
        }
    }
    let (who, violation) = (offenders.named(), violation.join("; "));
    Some(format!("seLinuxOptions ({who} set forbidden securityContext.seLinuxOptions: {violation})"))
}

pub(super) fn seccomp(spec: &Spec<'_>) -> Option<String> {
    let offenders = spec.offenders(|context| context["seccompProfile"]["type"] == "Unconfined");
    let violation = || {
        let who = offenders.named();
        format!("seccompProfile ({who} must not set securityContext.seccompProfile.type to \"Unconfined\")")
    };
    offenders.are_there().then(violation)
}

fn sysctls(spec: &Spec<'_>) -> Option<String> {
    let named = items(&spec.pod["securityContext"], "sysctls").filter_map(|sysctl| sysctl["name"].as_str());
    let bad: Vec<&str> = named.filter(|name| !SYSCTLS.contains(name)).collect();
    (!bad.is_empty()).then(|| format!("forbidden sysctls ({})", bad.join(", ")))
}

fn host_process(spec: &Spec<'_>) -> Option<String> {
    let offenders = spec.offenders(|context| context["windowsOptions"]["hostProcess"] == true);
    let who = offenders.named();
    let violation = || format!("hostProcess ({who} must not set securityContext.windowsOptions.hostProcess=true)");
    offenders.are_there().then(violation)
}
