//! Defines the rules that the Pod Security level `restricted` adds to `baseline`.

use serde_json::Value;

use super::{
    baseline::{forbidden_capabilities, seccomp, unmasked_proc},
    spec::{Offenders, PodRule, Spec, container_names, list_items, noun_and_names, quoted, sort_unique},
};

/// The rules in the order of their messages, which follow those of `baseline`.
pub(super) const RULES: [PodRule; 7] =
    [privilege_escalation, capabilities, unmasked_proc, volumes, non_root, root_user, seccomp_profile];

/// The volume types that a Pod may have.
const ALLOWED_VOLUME_TYPES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// Returns the violation message if a container does not forbid privilege escalation. Windows Pods are exempt.
fn privilege_escalation(spec: &Spec<'_>) -> Option<String> {
    if spec.is_for_windows() {
        return None;
    }
    let offenders =
        spec.containers_where(|container| container["securityContext"]["allowPrivilegeEscalation"] != false);
    let violation = || {
        let offenders = container_names(&offenders);
        format!(
            "allowPrivilegeEscalation != false ({offenders} must set securityContext.allowPrivilegeEscalation=false)"
        )
    };
    (!offenders.is_empty()).then(violation)
}

/// Returns the violation message if a container does not drop all capabilities, or adds one other than `NET_BIND_SERVICE`.
/// Windows Pods are exempt.
fn capabilities(spec: &Spec<'_>) -> Option<String> {
    if spec.is_for_windows() {
        return None;
    }
    let drops_all =
        |container: &Value| list_items(&container["securityContext"]["capabilities"], "drop").any(|name| name == "ALL");
    let offenders = spec.containers_where(|container| !drops_all(container));
    let mut violation = Vec::new();
    if !offenders.is_empty() {
        violation.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", container_names(&offenders)));
    }
    violation.extend(forbidden_capabilities(spec, &["NET_BIND_SERVICE"]));
    (!violation.is_empty()).then(|| format!("unrestricted capabilities ({})", violation.join("; ")))
}

/// Returns the violation message if the Pod has volumes of other types than the allowed ones.
fn volumes(spec: &Spec<'_>) -> Option<String> {
    // The type of a volume is the field other than its name.
    let disallowed_type = |volume: &Value| {
        let types = volume.as_object().into_iter().flatten().filter(|(key, value)| *key != "name" && !value.is_null());
        types.map(|(key, _)| key.clone()).find(|type_name| !ALLOWED_VOLUME_TYPES.contains(&type_name.as_str()))
    };
    let disallowed: Vec<_> = list_items(spec.pod, "volumes")
        .filter_map(|volume| Some((volume["name"].as_str()?, disallowed_type(volume)?)))
        .collect();
    let names: Vec<&str> = disallowed.iter().map(|(name, _)| *name).collect();
    let types = sort_unique(disallowed.iter().map(|(_, disallowed_type)| disallowed_type.clone()));
    let verb = if names.len() == 1 { "uses" } else { "use" };
    let violation = || {
        let (subject, type_list) = (noun_and_names("volume", &names), noun_and_names("restricted volume type", &types));
        format!("restricted volume types ({subject} {verb} {type_list})")
    };
    (!disallowed.is_empty()).then(violation)
}

/// Returns the violation message if a container may run as root: if the Pod or a container sets `runAsNonRoot` to `false`, or if neither
/// sets it to `true`. Pods with their own user namespace are exempt.
fn non_root(spec: &Spec<'_>) -> Option<String> {
    if spec.has_own_users() {
        return None;
    }
    let explicit_root = spec.offenders(|context| context["runAsNonRoot"] == false);
    if explicit_root.exist() {
        let subject = explicit_root.describe();
        return Some(format!("runAsNonRoot != true ({subject} must not set securityContext.runAsNonRoot=false)"));
    }
    let subject = containers_without(spec, |context| context["runAsNonRoot"] == true)?;
    Some(format!("runAsNonRoot != true (pod or {subject} must set securityContext.runAsNonRoot=true)"))
}

/// Returns the violation message if the Pod or a container sets the user id 0. Pods with their own user namespace are exempt.
fn root_user(spec: &Spec<'_>) -> Option<String> {
    let offenders: Offenders<'_> = spec.offenders(|context| context["runAsUser"] == 0);
    let is_violation = !spec.has_own_users() && offenders.exist();
    is_violation.then(|| format!("runAsUser=0 ({} must not set runAsUser=0)", offenders.describe()))
}

/// Returns the violation message if a container runs without an allowed seccomp profile. Windows Pods are exempt.
fn seccomp_profile(spec: &Spec<'_>) -> Option<String> {
    const ALLOWED: [&str; 2] = ["RuntimeDefault", "Localhost"];
    if spec.is_for_windows() {
        return None;
    }
    seccomp(spec).or_else(|| {
        let is_set =
            |context: &Value| context["seccompProfile"]["type"].as_str().is_some_and(|name| ALLOWED.contains(&name));
        let subject = containers_without(spec, is_set)?;
        let [default, local] = ALLOWED.map(|name| quoted(&[name]));
        Some(format!(
            "seccompProfile (pod or {subject} must set securityContext.seccompProfile.type to {default} or {local})"
        ))
    })
}

/// Returns the names of the containers whose `securityContext` does not satisfy the predicate. Returns `None` if there is no such
/// container, or if the `securityContext` of the Pod satisfies the predicate for all.
fn containers_without(spec: &Spec<'_>, predicate: impl Fn(&Value) -> bool) -> Option<String> {
    if predicate(&spec.pod["securityContext"]) {
        return None;
    }
    let offenders = spec.containers_where(|container| !predicate(&container["securityContext"]));
    (!offenders.is_empty()).then(|| container_names(&offenders))
}
