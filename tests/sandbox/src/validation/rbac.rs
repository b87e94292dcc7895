//! Validates roles and bindings.

use super::{
    at::{At, Causes},
    name::{self, NameRule},
    selector,
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The rules of a role; only those of a cluster speak of paths.
pub(super) fn rules(role: &At<'_>, in_namespace: bool, causes: &mut Causes) {
    for rule in role.child("rules").items() {
        let (verbs, paths) = (rule.child("verbs"), rule.child("nonResourceURLs"));
        verbs.demand(causes, "verbs must contain at least one value");
        if !paths.is_empty() {
            if in_namespace {
                paths.invalid(causes, "namespaced rules cannot apply to non-resource URLs");
            }
            let parts = ["apiGroups", "resources", "resourceNames"];
            if parts.iter().any(|part| !rule.child(part).is_empty()) {
                paths.invalid(causes, "rules cannot apply to both regular resources and non-resource URLs");
            }
            continue;
        }
        rule.child("apiGroups").demand(causes, "resource rules must supply at least one api group");
        rule.child("resources").demand(causes, "resource rules must supply at least one resource");
    }
}

pub(super) fn aggregation(role: &At<'_>, causes: &mut Causes) {
    let aggregates = role.child("aggregationRule");
    if !aggregates.is_set() {
        return;
    }
    let selectors = aggregates.child("clusterRoleSelectors");
    selectors.demand(causes, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    for one in selectors.items() {
        let before = causes.len();
        selector::selector(&one, causes);
        if causes.len() > before {
            one.invalid_part(causes, "", "invalid label selector");
        }
    }
}

pub(super) fn binding(binding: &At<'_>, in_namespace: bool, causes: &mut Causes) {
    let role = binding.child("roleRef");
    let group = role.child("apiGroup");
    if group.text() != GROUP {
        group.unsupported(causes, &[GROUP]);
    }
    let kinds: &[&str] = if in_namespace { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    let kind = role.child("kind");
    if !kinds.contains(&kind.text()) {
        kind.unsupported(causes, kinds);
    }
    let named = role.child("name");
    if named.is_empty() {
        named.required(causes, "");
    } else if let Some(why) = name::fault(NameRule::Segment, named.text()) {
        named.invalid(causes, &why);
    }
    for subject in binding.child("subjects").items() {
        self::subject(&subject, in_namespace, causes);
    }
}

fn subject(subject: &At<'_>, in_namespace: bool, causes: &mut Causes) {
    let (kind, named, group) = (subject.child("kind"), subject.child("name"), subject.child("apiGroup"));
    named.demand(causes, "");
    match kind.text() {
        "ServiceAccount" => {
            named.if_named(causes, NameRule::Subdomain);
            if !group.is_empty() {
                group.unsupported(causes, &[""]);
            }
            if !in_namespace {
                subject.child("namespace").demand(causes, "");
            }
        }
        "User" | "Group" => {
            if group.text() != GROUP {
                group.unsupported(causes, &[GROUP]);
            }
        }
        _ => kind.unsupported(causes, &["ServiceAccount", "User", "Group"]),
    }
}

/// A binding is to one role for ever. The fields of the refused one are told by their names in Go.
pub(super) fn keeps_role(new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    if new.value != old.value {
        let [group, kind, name] = ["apiGroup", "kind", "name"].map(|part| new.child(part).text());
        let told = serde_json::json!({"APIGroup": group, "Kind": kind, "Name": name});
        At { path: new.path.clone(), value: &told }.invalid(causes, "cannot change roleRef");
    }
}
