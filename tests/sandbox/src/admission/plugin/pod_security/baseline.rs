//! Defines the rules of the Pod Security level `baseline`.

use serde_json::Value;

use super::spec::{PodRule, Spec, container_names, list_items, noun_and_names, quoted, sorted};
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

/// Returns the violation if the Pod or a container sets an AppArmor profile that is not allowed, by field or by
/// annotation.
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
    offenders.containers = spec.containers_where(|container| {
        unconfined(&container["securityContext"]) || by_annotation(container["name"].as_str().unwrap_or_default())
    });
    if !offenders.exist() && bad.is_empty() {
        return None;
    }
    let mut values: Vec<String> = if offenders.exist() { vec!["Unconfined".to_owned()] } else { Vec::new() };
    values.extend(sorted(bad.iter().map(|(key, _, profile)| format!("{key}=\"{profile}\""))));
    let mut who: Vec<String> = if offenders.exist() { vec![offenders.named()] } else { Vec::new() };
    if !bad.is_empty() {
        who.push(if bad.len() == 1 { "annotation".to_owned() } else { "annotations".to_owned() });
    }
    let plural = if values.len() == 1 { "" } else { "s" };
    let (who, values) = (who.join(" and "), quoted(&values));
    Some(format!("forbidden AppArmor profile{plural} ({who} must not set AppArmor profile type to {values})"))
}

/// Returns the violation if a container adds a capability other than the default ones.
fn capabilities(spec: &Spec<'_>) -> Option<String> {
    forbidden_capabilities(spec, &CAPABILITIES).map(|violation| format!("non-default capabilities ({violation})"))
}

/// Returns the violation if a container adds capabilities other than the allowed ones.
pub(super) fn forbidden_capabilities(spec: &Spec<'_>, allowed: &[&str]) -> Option<String> {
    let added = |container: &Value| -> Vec<String> {
        let added = list_items(&container["securityContext"]["capabilities"], "add").filter_map(Value::as_str);
        added.filter(|name| !allowed.contains(name)).map(str::to_owned).collect()
    };
    let who = spec.containers_where(|container| !added(container).is_empty());
    let what = sorted(spec.containers.iter().flat_map(|container| added(container)));
    let violation =
        || format!("{} must not include {} in securityContext.capabilities.add", container_names(&who), quoted(&what));
    (!who.is_empty()).then(violation)
}

/// Returns the violation if the Pod shares the network, PID or IPC namespace of the node.
fn host_namespaces(spec: &Spec<'_>) -> Option<String> {
    let shared = ["hostNetwork", "hostPID", "hostIPC"].into_iter().filter(|field| spec.pod[*field] == true);
    let shared: Vec<String> = shared.map(|field| format!("{field}=true")).collect();
    (!shared.is_empty()).then(|| format!("host namespaces ({})", shared.join(", ")))
}

/// Returns the violation if the Pod has `hostPath` volumes.
fn host_paths(spec: &Spec<'_>) -> Option<String> {
    let volumes =
        list_items(spec.pod, "volumes").filter(|volume| volume.get("hostPath").is_some_and(|path| !path.is_null()));
    let names: Vec<&str> = volumes.map(|volume| volume["name"].as_str().unwrap_or_default()).collect();
    (!names.is_empty()).then(|| format!("hostPath volumes ({})", noun_and_names("volume", &names)))
}

/// Returns the violation if a container uses ports of the node.
fn host_ports(spec: &Spec<'_>) -> Option<String> {
    let ports = |container: &Value| -> Vec<String> {
        let ports = list_items(container, "ports").filter_map(|port| port["hostPort"].as_u64());
        ports.filter(|port| *port != 0).map(|port| port.to_string()).collect()
    };
    let who = spec.containers_where(|container| !ports(container).is_empty());
    let used = sorted(spec.containers.iter().flat_map(|container| ports(container)));
    let (verb, noun) =
        (if who.len() == 1 { "uses" } else { "use" }, if used.len() == 1 { "hostPort" } else { "hostPorts" });
    (!who.is_empty()).then(|| format!("hostPort ({} {verb} {noun} {})", container_names(&who), used.join(", ")))
}

/// Returns the violation if a probe or lifecycle handler of a container sets a host.
fn probe_hosts(spec: &Spec<'_>) -> Option<String> {
    const HANDLERS: [&[&str]; 5] = [
        &["livenessProbe"],
        &["readinessProbe"],
        &["startupProbe"],
        &["lifecycle", "postStart"],
        &["lifecycle", "preStop"],
    ];
    let hosts = |container: &Value| -> Vec<String> {
        let handlers = HANDLERS.iter().filter_map(|path| object::at(container, path));
        let hosts = handlers
            .flat_map(|handler| ["httpGet", "tcpSocket"].map(|action| object::text(handler, &[action, "host"])));
        hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect()
    };
    let who = spec.containers_where(|container| !hosts(container).is_empty());
    let host_names = sorted(spec.containers.iter().flat_map(|container| hosts(container)));
    let verb = if who.len() == 1 { "uses" } else { "use" };
    let violation = || {
        let host_names = noun_and_names("probe or lifecycle host", &host_names);
        format!("probe or lifecycle host ({} {verb} {host_names})", container_names(&who))
    };
    (!who.is_empty()).then(violation)
}

/// Returns the violation if a container is privileged.
fn privileged(spec: &Spec<'_>) -> Option<String> {
    let who = spec.containers_where(|container| container["securityContext"]["privileged"] == true);
    (!who.is_empty())
        .then(|| format!("privileged ({} must not set securityContext.privileged=true)", container_names(&who)))
}

/// Returns the violation of [`unmasked_proc`], unless the Pod has its own user namespace.
fn proc_mount(spec: &Spec<'_>) -> Option<String> {
    if spec.has_own_users() { None } else { unmasked_proc(spec) }
}

/// Returns the violation if a container sets `procMount` to a value other than `Default`. Restricted applies it even to
/// Pods with their own user namespace.
pub(super) fn unmasked_proc(spec: &Spec<'_>) -> Option<String> {
    let mount = |container: &Value| object::text(container, &["securityContext", "procMount"]).to_owned();
    let is_open = |container: &Value| !matches!(mount(container).as_str(), "" | "Default");
    let who = spec.containers_where(is_open);
    let mounts =
        sorted(spec.containers.iter().filter(|container| is_open(container)).map(|container| mount(container)));
    let violation = || {
        format!("procMount ({} must not set securityContext.procMount to {})", container_names(&who), quoted(&mounts))
    };
    (!who.is_empty()).then(violation)
}

/// Returns the violation if the Pod or a container sets an SELinux user, role or forbidden type.
fn se_linux(spec: &Spec<'_>) -> Option<String> {
    let option = |context: &Value, name: &str| object::text(context, &["seLinuxOptions", name]).to_owned();
    let bad_type = |context: &Value| Some(option(context, "type")).filter(|name| !SE_LINUX.contains(&name.as_str()));
    let sets = |context: &Value, name: &str| !option(context, name).is_empty();
    let offenders =
        spec.offenders(|context| bad_type(context).is_some() || sets(context, "user") || sets(context, "role"));
    if !offenders.exist() {
        return None;
    }
    let contexts = || {
        let own = spec.containers.iter().map(|container| &container["securityContext"]);
        std::iter::once(&spec.pod["securityContext"]).chain(own)
    };
    let types = sorted(contexts().filter_map(bad_type));
    let mut violation = Vec::new();
    if !types.is_empty() {
        violation.push(noun_and_names("type", &types));
    }
    for name in ["user", "role"] {
        if contexts().any(|context| sets(context, name)) {
            violation.push(format!("{name} may not be set"));
        }
    }
    let (who, violation) = (offenders.named(), violation.join("; "));
    Some(format!("seLinuxOptions ({who} set forbidden securityContext.seLinuxOptions: {violation})"))
}

/// Returns the violation if the Pod or a container sets the seccomp profile `Unconfined`.
pub(super) fn seccomp(spec: &Spec<'_>) -> Option<String> {
    let offenders = spec.offenders(|context| context["seccompProfile"]["type"] == "Unconfined");
    let violation = || {
        let who = offenders.named();
        format!("seccompProfile ({who} must not set securityContext.seccompProfile.type to \"Unconfined\")")
    };
    offenders.exist().then(violation)
}

/// Returns the violation if the Pod sets a sysctl that is not namespaced or not safe.
fn sysctls(spec: &Spec<'_>) -> Option<String> {
    let named = list_items(&spec.pod["securityContext"], "sysctls").filter_map(|sysctl| sysctl["name"].as_str());
    let bad: Vec<&str> = named.filter(|name| !SYSCTLS.contains(name)).collect();
    (!bad.is_empty()).then(|| format!("forbidden sysctls ({})", bad.join(", ")))
}

/// Returns the violation if the Pod or a container is a Windows host process.
fn host_process(spec: &Spec<'_>) -> Option<String> {
    let offenders = spec.offenders(|context| context["windowsOptions"]["hostProcess"] == true);
    let who = offenders.named();
    let violation = || format!("hostProcess ({who} must not set securityContext.windowsOptions.hostProcess=true)");
    offenders.exist().then(violation)
}
