//! Defines the rules that the Pod Security level `restricted` adds to `baseline`.

use serde_json::Value;

use super::{
    baseline::{forbidden_capabilities, masked, seccomp},
    spec::{Offenders, PodRule, Spec, containers, counted, items, quoted, sorted},
};

pub(super) const RULES: [PodRule; 7] =
    [privilege_escalation, capabilities, masked, volumes, non_root, user, seccomp_profile];

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

fn privilege_escalation(spec: &Spec<'_>) -> Option<String> {
    if spec.is_for_windows() {
        return None;
    }
    let who = spec.containers(|container| container["securityContext"]["allowPrivilegeEscalation"] != false);
    let violation = || {
        let who = containers(&who);
        format!("allowPrivilegeEscalation != false ({who} must set securityContext.allowPrivilegeEscalation=false)")
    };
    (!who.is_empty()).then(violation)
}

fn capabilities(spec: &Spec<'_>) -> Option<String> {
    if spec.is_for_windows() {
        return None;
    }
    let drops =
        |container: &Value| items(&container["securityContext"]["capabilities"], "drop").any(|name| name == "ALL");
    let who = spec.containers(|container| !drops(container));
    let mut violation = Vec::new();
    if !who.is_empty() {
        violation.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", containers(&who)));
    }
    violation.extend(forbidden_capabilities(spec, &["NET_BIND_SERVICE"]));
    (!violation.is_empty()).then(|| format!("unrestricted capabilities ({})", violation.join("; ")))
}

fn volumes(spec: &Spec<'_>) -> Option<String> {
    // The type of a volume is the field other than its name.
    let kind = |volume: &Value| {
        let kinds = volume.as_object().into_iter().flatten().filter(|(key, value)| *key != "name" && !value.is_null());
        kinds.map(|(key, _)| key.clone()).find(|kind| !VOLUMES.contains(&kind.as_str()))
    };
    let bad: Vec<_> =
        items(spec.pod, "volumes").filter_map(|volume| Some((volume["name"].as_str()?, kind(volume)?))).collect();
    let names: Vec<&str> = bad.iter().map(|(name, _)| *name).collect();
    let kinds = sorted(bad.iter().map(|(_, kind)| kind.clone()));
    let verb = if names.len() == 1 { "uses" } else { "use" };
    let violation = || {
        let (who, what) = (counted("volume", &names), counted("restricted volume type", &kinds));
        format!("restricted volume types ({who} {verb} {what})")
    };
    (!bad.is_empty()).then(violation)
}

fn non_root(spec: &Spec<'_>) -> Option<String> {
    if spec.has_own_users() {
        return None;
    }
    let refused = spec.offenders(|context| context["runAsNonRoot"] == false);
    if refused.are_there() {
        let who = refused.named();
        return Some(format!("runAsNonRoot != true ({who} must not set securityContext.runAsNonRoot=false)"));
    }
    let who = unsaid(spec, |context| context["runAsNonRoot"] == true)?;
    Some(format!("runAsNonRoot != true (pod or {who} must set securityContext.runAsNonRoot=true)"))
}

fn user(spec: &Spec<'_>) -> Option<String> {
    let offenders: Offenders<'_> = spec.offenders(|context| context["runAsUser"] == 0);
    let is_told = !spec.has_own_users() && offenders.are_there();
    is_told.then(|| format!("runAsUser=0 ({} must not set runAsUser=0)", offenders.named()))
}

fn seccomp_profile(spec: &Spec<'_>) -> Option<String> {
    const KNOWN: [&str; 2] = ["RuntimeDefault", "Localhost"];
    if spec.is_for_windows() {
        return None;
    }
    seccomp(spec).or_else(|| {
        let is_set =
            |context: &Value| context["seccompProfile"]["type"].as_str().is_some_and(|name| KNOWN.contains(&name));
        let who = unsaid(spec, is_set)?;
        let [default, local] = KNOWN.map(|name| quoted(&[name]));
        Some(format!(
            "seccompProfile (pod or {who} must set securityContext.seccompProfile.type to {default} or {local})"
        ))
    })
}

/// Returns the containers that don't satisfy `says`, unless the `securityContext` of the Pod does.
fn unsaid(spec: &Spec<'_>, says: impl Fn(&Value) -> bool) -> Option<String> {
    if says(&spec.pod["securityContext"]) {
        return None;
    }
    let who = spec.containers(|container| !says(&container["securityContext"]));
    (!who.is_empty()).then(|| containers(&who))
}
