//! Validates Roles, ClusterRoles and their bindings.

use super::{
    field::{Causes, Field},
    name::{self, NameRule},
    selector,
};

/// The API group of RBAC.
const GROUP: &str = "rbac.authorization.k8s.io";

/// Validates the rules of a Role (`in_namespace`) or a ClusterRole. Only a ClusterRole can have rules for non-resource URLs.
pub(super) fn validate_policy_rules(role: &Field<'_>, in_namespace: bool, causes: &mut Causes) {
    for rule in role.child("rules").items() {
        let (verbs, paths) = (rule.child("verbs"), rule.child("nonResourceURLs"));
        verbs.require(causes, "verbs must contain at least one value");
        if !paths.is_empty() {
            if in_namespace {
                paths.invalid(causes, "namespaced rules cannot apply to non-resource URLs");
            }
            let resource_fields = ["apiGroups", "resources", "resourceNames"];
            if resource_fields.iter().any(|key| !rule.child(key).is_empty()) {
                paths.invalid(causes, "rules cannot apply to both regular resources and non-resource URLs");
            }
            continue;
        }
        rule.child("apiGroups").require(causes, "resource rules must supply at least one api group");
        rule.child("resources").require(causes, "resource rules must supply at least one resource");
    }
}

/// Validates the aggregation rule of a ClusterRole, if it has one.
pub(super) fn validate_aggregation_rule(role: &Field<'_>, causes: &mut Causes) {
    let aggregates = role.child("aggregationRule");
    if !aggregates.is_set() {
        return;
    }
    let selectors = aggregates.child("clusterRoleSelectors");
    selectors.require(causes, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    for label_selector in selectors.items() {
        let count_before = causes.len();
        selector::validate_label_selector(&label_selector, causes);
        if causes.len() > count_before {
            label_selector.invalid_part(causes, "", "invalid label selector");
        }
    }
}

/// Validates a RoleBinding (`in_namespace`) or a ClusterRoleBinding: the reference to its role, and its subjects.
pub(super) fn validate_binding(binding: &Field<'_>, in_namespace: bool, causes: &mut Causes) {
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
    let name = role.child("name");
    if name.is_empty() {
        name.required(causes, "");
    } else if let Some(detail) = name::violation(NameRule::Segment, name.text()) {
        name.invalid(causes, &detail);
    }
    for subject in binding.child("subjects").items() {
        validate_subject(&subject, in_namespace, causes);
    }
}

/// Validates a subject of a RoleBinding (`in_namespace`) or a ClusterRoleBinding, which must name the namespace of a ServiceAccount
/// (upstream: `ValidateRoleBindingSubject`).
fn validate_subject(subject: &Field<'_>, in_namespace: bool, causes: &mut Causes) {
    let (kind, name, group) = (subject.child("kind"), subject.child("name"), subject.child("apiGroup"));
    name.require(causes, "");
    match kind.text() {
        "ServiceAccount" => {
            name.optional_name(causes, NameRule::Subdomain);
            if !group.is_empty() {
                group.unsupported(causes, &[""]);
            }
            if !in_namespace {
                subject.child("namespace").require(causes, "");
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

/// Validates that a binding keeps its `roleRef`. The error shows the new reference with the field names of the Go type.
pub(super) fn validate_role_ref_immutable(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    if new.value != old.value {
        let [group, kind, name] = ["apiGroup", "kind", "name"].map(|part| new.child(part).text());
        let go_value = serde_json::json!({"APIGroup": group, "Kind": kind, "Name": name});
        Field { path: new.path.clone(), value: &go_value }.invalid(causes, "cannot change roleRef");
    }
}
