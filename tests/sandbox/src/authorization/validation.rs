//! What roles and bindings must be like, and what is filled in.

use serde_json::{Value, json};

use crate::{failure::Cause, kind::Kind, object};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The API groups that a binding may leave out.
pub(crate) fn fill_in(kind: &Kind, object: &mut Value) {
    if !is_binding(kind) {
        return;
    }
    let fill = |reference: &mut Value, group: &str| {
        if let Value::Object(reference) = reference
            && !group.is_empty()
            && reference.get("apiGroup").and_then(Value::as_str).unwrap_or_default().is_empty()
        {
            reference.insert("apiGroup".into(), group.into());
        }
    };
    if let Some(role) = object.get_mut("roleRef") {
        fill(role, GROUP);
    }
    for subject in object.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        let group = if matches!(object::text(subject, &["kind"]), "User" | "Group") { GROUP } else { "" };
        fill(subject, group);
    }
}

/// What is wrong with a role or a binding.
pub(crate) fn check(kind: &Kind, new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if kind.group != GROUP {
        return causes;
    }
    if is_binding(kind) {
        check_role_ref(kind, new, &mut causes);
        let subjects = new.get("subjects").and_then(Value::as_array);
        for (at, subject) in subjects.into_iter().flatten().enumerate() {
            check_subject(kind, subject, &format!("subjects[{at}]"), &mut causes);
        }
        if let Some(old) = old.filter(|old| old["roleRef"] != new["roleRef"]) {
            let _ = old;
            let part = |key| object::text(new, &["roleRef", key]);
            let value = json!({"APIGroup": part("apiGroup"), "Kind": part("kind"), "Name": part("name")});
            causes.push(Cause::invalid("roleRef", &value, "cannot change roleRef"));
        }
        return causes;
    }
    let rules = new.get("rules").and_then(Value::as_array);
    for (at, rule) in rules.into_iter().flatten().enumerate() {
        check_rule(kind, rule, &format!("rules[{at}]"), &mut causes);
    }
    if let Some(aggregation) = object::at(new, &["aggregationRule"])
        && aggregation["clusterRoleSelectors"].as_array().is_none_or(Vec::is_empty)
    {
        let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        causes.push(Cause::required("aggregationRule.clusterRoleSelectors", why));
    }
    causes
}

fn is_binding(kind: &Kind) -> bool {
    kind.is(GROUP, "rolebindings") || kind.is(GROUP, "clusterrolebindings")
}

fn check_role_ref(kind: &Kind, new: &Value, causes: &mut Vec<Cause>) {
    let part = |key| object::text(new, &["roleRef", key]);
    if part("apiGroup") != GROUP {
        causes.push(Cause::unsupported("roleRef.apiGroup", &part("apiGroup").into(), &[GROUP]));
    }
    let kinds: &[&str] = if kind.namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&part("kind")) {
        causes.push(Cause::unsupported("roleRef.kind", &part("kind").into(), kinds));
    }
    if part("name").is_empty() {
        causes.push(Cause::required("roleRef.name", ""));
    }
}

fn check_subject(kind: &Kind, subject: &Value, path: &str, causes: &mut Vec<Cause>) {
    let part = |key| object::text(subject, &[key]);
    if part("name").is_empty() {
        causes.push(Cause::required(format!("{path}.name"), ""));
    }
    let group = match part("kind") {
        "ServiceAccount" => "",
        "User" | "Group" => GROUP,
        other => {
            let known = ["ServiceAccount", "User", "Group"];
            return causes.push(Cause::unsupported(format!("{path}.kind"), &other.into(), &known));
        }
    };
    if part("apiGroup") != group {
        causes.push(Cause::unsupported(format!("{path}.apiGroup"), &part("apiGroup").into(), &[group]));
    }
    if part("kind") == "ServiceAccount" && part("namespace").is_empty() && !kind.namespaced {
        causes.push(Cause::required(format!("{path}.namespace"), ""));
    }
}

fn check_rule(kind: &Kind, rule: &Value, path: &str, causes: &mut Vec<Cause>) {
    let empty = |key: &str| rule[key].as_array().is_none_or(Vec::is_empty);
    if empty("verbs") {
        causes.push(Cause::required(format!("{path}.verbs"), "verbs must contain at least one value"));
    }
    if !empty("nonResourceURLs") {
        let mut wrong = |why| {
            causes.push(Cause::invalid(format!("{path}.nonResourceURLs"), &rule["nonResourceURLs"], why));
        };
        if kind.namespaced {
            wrong("namespaced rules cannot apply to non-resource URLs");
        }
        if !["apiGroups", "resources", "resourceNames"].iter().all(|key| empty(key)) {
            wrong("rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
    }
    if empty("apiGroups") {
        causes.push(Cause::required(format!("{path}.apiGroups"), "resource rules must supply at least one api group"));
    }
    if empty("resources") {
        causes.push(Cause::required(format!("{path}.resources"), "resource rules must supply at least one resource"));
    }
}
