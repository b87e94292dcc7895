//! Defines the rules of the Pod Security level `baseline`.

use serde_json::Value;

use super::spec::{PodRule, Spec, container_names, list_items, noun_and_names, quoted, sort_unique};
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

/// The capabilities that a container may add.
const ALLOWED_CAPABILITIES: [&str; 13] = [
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

/// The sysctls that a Pod may set.
const ALLOWED_SYSCTLS: [&str; 12] = [
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

/// The SELinux types that may be set.
const ALLOWED_SE_LINUX_TYPES: [&str; 5] =
    ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];

/// An annotation that sets the AppArmor profile of a container.
struct AppArmorAnnotation<'a> {
    key: &'a str,
    container: &'a str,
    profile: &'a str,
}

/// Returns the violation message if the Pod or a container sets an AppArmor profile that is not allowed, in its `securityContext` or
/// by an annotation of the Pod.
fn app_armor(spec: &Spec<'_>) -> Option<String> {
    const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
    let unconfined = |context: &Value| context["appArmorProfile"]["type"] == "Unconfined";
    let mut offenders = spec.offenders(unconfined);
    let entries = spec.annotations.as_object().into_iter().flatten();
    let annotations = entries.filter_map(|(key, value)| {
        Some(AppArmorAnnotation { key, container: key.strip_prefix(ANNOTATION)?, profile: value.as_str()? })
    });
    let is_allowed =
        |profile: &str| profile.is_empty() || profile == "runtime/default" || profile.starts_with("localhost/");
    let disallowed: Vec<_> = annotations.filter(|annotation| !is_allowed(annotation.profile)).collect();
    // An annotation can set the profile of a container to `unconfined`, like the field of the container.
    let by_annotation = |name: &str| {
        disallowed.iter().any(|annotation| annotation.container == name && annotation.profile == "unconfined")
    };
    offenders.containers = spec.containers_where(|container| {
        unconfined(&container["securityContext"]) || by_annotation(container["name"].as_str().unwrap_or_default())
    });
    if !offenders.exist() && disallowed.is_empty() {
        return None;
    }
    let mut values: Vec<String> = if offenders.exist() { vec!["Unconfined".to_owned()] } else { Vec::new() };
    values.extend(sort_unique(
        disallowed.iter().map(|AppArmorAnnotation { key, profile, .. }| format!("{key}=\"{profile}\"")),
    ));
    let mut subjects: Vec<String> = if offenders.exist() { vec![offenders.describe()] } else { Vec::new() };
    if !disallowed.is_empty() {
        subjects.push(if disallowed.len() == 1 { "annotation".to_owned() } else { "annotations".to_owned() });
    }
    let plural = if values.len() == 1 { "" } else { "s" };
    let (subjects, values) = (subjects.join(" and "), quoted(&values));
    Some(format!("forbidden AppArmor profile{plural} ({subjects} must not set AppArmor profile type to {values})"))
}

/// Returns the violation message if a container adds a capability other than the default ones.
fn capabilities(spec: &Spec<'_>) -> Option<String> {
    forbidden_capabilities(spec, &ALLOWED_CAPABILITIES)
        .map(|violation| format!("non-default capabilities ({violation})"))
}

/// Returns the violation message if a container adds capabilities other than the allowed ones.
pub(super) fn forbidden_capabilities(spec: &Spec<'_>, allowed: &[&str]) -> Option<String> {
    let added = |container: &Value| -> Vec<String> {
        let added = list_items(&container["securityContext"]["capabilities"], "add").filter_map(Value::as_str);
        added.filter(|name| !allowed.contains(name)).map(str::to_owned).collect()
    };
    let offenders = spec.containers_where(|container| !added(container).is_empty());
    let capabilities = sort_unique(spec.containers.iter().flat_map(|container| added(container)));
    let violation = || {
        format!(
            "{} must not include {} in securityContext.capabilities.add",
            container_names(&offenders),
            quoted(&capabilities)
        )
    };
    (!offenders.is_empty()).then(violation)
}

/// Returns the violation message if the Pod shares the network, PID or IPC namespace of the node.
fn host_namespaces(spec: &Spec<'_>) -> Option<String> {
    let shared = ["hostNetwork", "hostPID", "hostIPC"].into_iter().filter(|field| spec.pod[*field] == true);
    let shared: Vec<String> = shared.map(|field| format!("{field}=true")).collect();
    (!shared.is_empty()).then(|| format!("host namespaces ({})", shared.join(", ")))
}

/// Returns the violation message if the Pod has `hostPath` volumes.
fn host_paths(spec: &Spec<'_>) -> Option<String> {
    let volumes =
        list_items(spec.pod, "volumes").filter(|volume| volume.get("hostPath").is_some_and(|path| !path.is_null()));
    let names: Vec<&str> = volumes.map(|volume| volume["name"].as_str().unwrap_or_default()).collect();
    (!names.is_empty()).then(|| format!("hostPath volumes ({})", noun_and_names("volume", &names)))
}

/// Returns the violation message if a container uses a port of the node (`hostPort`).
fn host_ports(spec: &Spec<'_>) -> Option<String> {
    let ports = |container: &Value| -> Vec<String> {
        let ports = list_items(container, "ports").filter_map(|port| port["hostPort"].as_u64());
        ports.filter(|port| *port != 0).map(|port| port.to_string()).collect()
    };
    let offenders = spec.containers_where(|container| !ports(container).is_empty());
    let used = sort_unique(spec.containers.iter().flat_map(|container| ports(container)));
    let (verb, noun) =
        (if offenders.len() == 1 { "uses" } else { "use" }, if used.len() == 1 { "hostPort" } else { "hostPorts" });
    (!offenders.is_empty())
        .then(|| format!("hostPort ({} {verb} {noun} {})", container_names(&offenders), used.join(", ")))
}

/// Returns the violation message if a probe or lifecycle handler of a container sets a host.
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
    let offenders = spec.containers_where(|container| !hosts(container).is_empty());
    let host_names = sort_unique(spec.containers.iter().flat_map(|container| hosts(container)));
    let verb = if offenders.len() == 1 { "uses" } else { "use" };
    let violation = || {
        let host_names = noun_and_names("probe or lifecycle host", &host_names);
        format!("probe or lifecycle host ({} {verb} {host_names})", container_names(&offenders))
    };
    (!offenders.is_empty()).then(violation)
}

/// Returns the violation message if a container is privileged.
fn privileged(spec: &Spec<'_>) -> Option<String> {
    let offenders = spec.containers_where(|container| container["securityContext"]["privileged"] == true);
    (!offenders.is_empty())
        .then(|| format!("privileged ({} must not set securityContext.privileged=true)", container_names(&offenders)))
}

/// Returns the violation message of [`unmasked_proc`], unless the Pod has its own user namespace.
fn proc_mount(spec: &Spec<'_>) -> Option<String> {
    if spec.has_own_users() { None } else { unmasked_proc(spec) }
}

/// Returns the violation message if a container sets `procMount` to a value other than `Default`. The level `restricted` applies this rule
/// also to Pods with their own user namespace.
pub(super) fn unmasked_proc(spec: &Spec<'_>) -> Option<String> {
    let mount = |container: &Value| object::text(container, &["securityContext", "procMount"]).to_owned();
    let is_open = |container: &Value| !matches!(mount(container).as_str(), "" | "Default");
    let offenders = spec.containers_where(is_open);
    let mounts =
        sort_unique(spec.containers.iter().filter(|container| is_open(container)).map(|container| mount(container)));
    let violation = || {
        format!(
            "procMount ({} must not set securityContext.procMount to {})",
            container_names(&offenders),
            quoted(&mounts)
        )
    };
    (!offenders.is_empty()).then(violation)
}

/// Returns the violation message if the Pod or a container sets an SELinux user, an SELinux role or a forbidden SELinux type.
fn se_linux(spec: &Spec<'_>) -> Option<String> {
    let option = |context: &Value, name: &str| object::text(context, &["seLinuxOptions", name]).to_owned();
    let disallowed_type =
        |context: &Value| Some(option(context, "type")).filter(|name| !ALLOWED_SE_LINUX_TYPES.contains(&name.as_str()));
    let sets = |context: &Value, name: &str| !option(context, name).is_empty();
    let offenders =
        spec.offenders(|context| disallowed_type(context).is_some() || sets(context, "user") || sets(context, "role"));
    if !offenders.exist() {
        return None;
    }
    let contexts = || {
        let container_contexts = spec.containers.iter().map(|container| &container["securityContext"]);
        std::iter::once(&spec.pod["securityContext"]).chain(container_contexts)
    };
    let types = sort_unique(contexts().filter_map(disallowed_type));
    let mut violation = Vec::new();
    if !types.is_empty() {
        violation.push(noun_and_names("type", &types));
    }
    for name in ["user", "role"] {
        if contexts().any(|context| sets(context, name)) {
            violation.push(format!("{name} may not be set"));
        }
    }
    let (subject, violation) = (offenders.describe(), violation.join("; "));
    Some(format!("seLinuxOptions ({subject} set forbidden securityContext.seLinuxOptions: {violation})"))
}

/// Returns the violation message if the Pod or a container sets the seccomp profile `Unconfined`.
pub(super) fn seccomp(spec: &Spec<'_>) -> Option<String> {
    let offenders = spec.offenders(|context| context["seccompProfile"]["type"] == "Unconfined");
    let violation = || {
        let subject = offenders.describe();
        format!("seccompProfile ({subject} must not set securityContext.seccompProfile.type to \"Unconfined\")")
    };
    offenders.exist().then(violation)
}

/// Returns the violation message if the Pod sets a sysctl that is not namespaced or not safe.
fn sysctls(spec: &Spec<'_>) -> Option<String> {
    let names = list_items(&spec.pod["securityContext"], "sysctls").filter_map(|sysctl| sysctl["name"].as_str());
    let disallowed: Vec<&str> = names.filter(|name| !ALLOWED_SYSCTLS.contains(name)).collect();
    (!disallowed.is_empty()).then(|| format!("forbidden sysctls ({})", disallowed.join(", ")))
}

/// Returns the violation message if the Pod or a container is a Windows host process.
fn host_process(spec: &Spec<'_>) -> Option<String> {
    let offenders = spec.offenders(|context| context["windowsOptions"]["hostProcess"] == true);
    let subject = offenders.describe();
    let violation = || format!("hostProcess ({subject} must not set securityContext.windowsOptions.hostProcess=true)");
    offenders.exist().then(violation)
}
