//! Defines the rules that the Pod Security level `restricted` adds to `baseline`.

use serde_json::Value;

use super::{
    baseline::{forbidden_capabilities, seccomp, unmasked_proc},
    spec::{Offenders, PodRule, Spec, container_names, list_items, noun_and_names, quoted, sorted},
};

pub(super) const RULES: [PodRule; 7] =
    [privilege_escalation, capabilities, unmasked_proc, volumes, non_root, root_user, seccomp_profile];

const VOLUMES: [&str; 9] = [
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

/// Returns the violation if a container does not forbid privilege escalation. Windows Pods are exempt.
fn privilege_escalation(spec: &Spec<'_>) -> Option<String> {
    if spec.is_for_windows() {
        return None;
    }
    let who = spec.containers_where(|container| container["securityContext"]["allowPrivilegeEscalation"] != false);
    let violation = || {
        let who = container_names(&who);
        format!("allowPrivilegeEscalation != false ({who} must set securityContext.allowPrivilegeEscalation=false)")
    };
    (!who.is_empty()).then(violation)
}

/// Returns the violation if a container does not drop all capabilities, or adds one other than `NET_BIND_SERVICE`.
/// Windows Pods are exempt.
fn capabilities(spec: &Spec<'_>) -> Option<String> {
    if spec.is_for_windows() {
        return None;
    }
    let drops =
        |container: &Value| list_items(&container["securityContext"]["capabilities"], "drop").any(|name| name == "ALL");
    let who = spec.containers_where(|container| !drops(container));
    let mut violation = Vec::new();
    if !who.is_empty() {
        violation.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", container_names(&who)));
    }
    violation.extend(forbidden_capabilities(spec, &["NET_BIND_SERVICE"]));
    (!violation.is_empty()).then(|| format!("unrestricted capabilities ({})", violation.join("; ")))
}

/// Returns the violation if the Pod has volumes of other types than the allowed ones.
fn volumes(spec: &Spec<'_>) -> Option<String> {
    // The type of a volume is the field other than its name.
    let kind = |volume: &Value| {
        let kinds = volume.as_object().into_iter().flatten().filter(|(key, value)| *key != "name" && !value.is_null());
        kinds.map(|(key, _)| key.clone()).find(|kind| !VOLUMES.contains(&kind.as_str()))
    };
    let bad: Vec<_> =
        list_items(spec.pod, "volumes").filter_map(|volume| Some((volume["name"].as_str()?, kind(volume)?))).collect();
    let names: Vec<&str> = bad.iter().map(|(name, _)| *name).collect();
    let kinds = sorted(bad.iter().map(|(_, kind)| kind.clone()));
    let verb = if names.len() == 1 { "uses" } else { "use" };
    let violation = || {
        let (who, what) = (noun_and_names("volume", &names), noun_and_names("restricted volume type", &kinds));
        format!("restricted volume types ({who} {verb} {what})")
    };
    (!bad.is_empty()).then(violation)
}

/// Returns the violation if a container may run as root. Pods with their own user namespace are exempt.
fn non_root(spec: &Spec<'_>) -> Option<String> {
    if spec.has_own_users() {
        return None;
    }
    let refused = spec.offenders(|context| context["runAsNonRoot"] == false);
    if refused.exist() {
        let who = refused.named();
        return Some(format!("runAsNonRoot != true ({who} must not set securityContext.runAsNonRoot=false)"));
    }
    let who = containers_without(spec, |context| context["runAsNonRoot"] == true)?;
    Some(format!("runAsNonRoot != true (pod or {who} must set securityContext.runAsNonRoot=true)"))
}

/// Returns the violation if the Pod or a container sets the user id 0. Pods with their own user namespace are exempt.
fn root_user(spec: &Spec<'_>) -> Option<String> {
    let offenders: Offenders<'_> = spec.offenders(|context| context["runAsUser"] == 0);
    let is_violation = !spec.has_own_users() && offenders.exist();
    is_violation.then(|| format!("runAsUser=0 ({} must not set runAsUser=0)", offenders.named()))
}

/// Returns the violation if a container runs without an allowed seccomp profile. Windows Pods are exempt.
fn seccomp_profile(spec: &Spec<'_>) -> Option<String> {
    const KNOWN: [&str; 2] = ["RuntimeDefault", "Localhost"];
    if spec.is_for_windows() {
        return None;
    }
    seccomp(spec).or_else(|| {
        let is_set =
            |context: &Value| context["seccompProfile"]["type"].as_str().is_some_and(|name| KNOWN.contains(&name));
        let who = containers_without(spec, is_set)?;
        let [default, local] = KNOWN.map(|name| quoted(&[name]));
        Some(format!(
            "seccompProfile (pod or {who} must set securityContext.seccompProfile.type to {default} or {local})"
        ))
    })
}

/// Returns the names of the containers that don't satisfy the predicate; `None` if all do, or if the `securityContext`
/// of the Pod does.
fn containers_without(spec: &Spec<'_>, predicate: impl Fn(&Value) -> bool) -> Option<String> {
    if predicate(&spec.pod["securityContext"]) {
        return None;
    }
    let who = spec.containers_where(|container| !predicate(&container["securityContext"]));
    (!who.is_empty()).then(|| container_names(&who))
}
