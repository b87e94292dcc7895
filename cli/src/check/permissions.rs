//! Compares the rules of two releases of a role, permission by permission.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The verbs by what they apply to: a resource, with its names if the rule has some, or a URL.
type Permissions = BTreeMap<String, BTreeSet<String>>;

/// What one release of a role allows and another one does not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PermissionChanges {
    /// The permissions of the new release only, each as `VERBS on RESOURCE`.
    pub(super) gained: Vec<String>,
    /// The permissions of the old release only.
    pub(super) lost: Vec<String>,
}

impl PermissionChanges {
    /// Compares two releases of a role; `Value::Null` for one that doesn't exist.
    pub(super) fn new(old: &Value, new: &Value) -> Self {
        let (old, new) = (permissions(old), permissions(new));
        Self { gained: difference(&new, &old), lost: difference(&old, &new) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.gained.is_empty() && self.lost.is_empty()
    }
}

/// Returns the permissions in `left` that `right` lacks, one text for each resource or URL, for example `get, list on secrets`.
fn difference(left: &Permissions, right: &Permissions) -> Vec<String> {
    let missing = |(target, verbs): (&String, &BTreeSet<String>)| {
        let known = right.get(target).cloned().unwrap_or_default();
        let verbs: Vec<_> = verbs.difference(&known).map(String::as_str).collect();
        (!verbs.is_empty()).then(|| format!("{} on {target}", verbs.join(", ")))
    };
    left.iter().filter_map(missing).collect()
}

/// Returns the verbs that the rules of a role allow, by resource or URL. Rules for the same resource or URL are merged.
fn permissions(role: &Value) -> Permissions {
    let mut permissions = Permissions::new();
    for rule in role["rules"].as_array().into_iter().flatten() {
        let verbs: BTreeSet<_> = texts(&rule["verbs"]).map(ToOwned::to_owned).collect();
        for target in texts(&rule["nonResourceURLs"]).map(|url| format!("URL {url}")).chain(resources(rule)) {
            permissions.entry(target).or_default().extend(verbs.iter().cloned());
        }
    }
    permissions
}

/// Returns the resources of a rule as texts: `deployments.apps`, or `deployments.apps web` for each name in its `resourceNames`.
fn resources(rule: &Value) -> Vec<String> {
    let names: Vec<_> = texts(&rule["resourceNames"]).collect();
    let mut found = Vec::new();
    for group in texts(&rule["apiGroups"]) {
        for resource in texts(&rule["resources"]) {
            let full = if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") };
            match names.is_empty() {
                true => found.push(full),
                false => found.extend(names.iter().map(|name| format!("{full} {name}"))),
            }
        }
    }
    found
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn permissions_are_compared_and_not_the_order_or_grouping_of_rules() {
        let old = json!({"rules": [
            {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["get", "list"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"], "verbs": ["patch"]},
            {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
        ]});
        let regrouped = json!({"rules": [
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["list", "get"]},
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"], "verbs": ["patch"]},
            {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
        ]});
        assert!(PermissionChanges::new(&old, &regrouped).is_empty());
        let new = json!({"rules": [
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "delete"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["patch"]},
        ]});
        let changes = PermissionChanges::new(&old, &new);
        assert_eq!(changes.gained, ["delete on configmaps", "patch on deployments.apps"]);
        assert_eq!(changes.lost, ["get on URL /metrics", "patch on deployments.apps web", "get, list on secrets"]);
    }
}
