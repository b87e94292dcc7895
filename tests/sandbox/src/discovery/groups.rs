//! `Groups`: the served API groups and versions in discovery order.

use std::{cmp::Reverse, sync::Arc};

use serde_json::{Value, json};

use crate::{kind::Kind, server::Server};

/// All groups; the core group has an empty name.
pub(super) struct Groups(Vec<Group>);

/// A served API group.
pub(super) struct Group {
    pub(super) name: String,
    /// The versions; the preferred one comes first.
    pub(super) versions: Vec<String>,
    kinds: Vec<Arc<Kind>>,
}

impl Groups {
    /// Returns the groups that are served now: built-in groups in the order of the table, then custom groups by name.
    pub(super) fn collect(server: &Server) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for kind in server.kinds.all() {
            let index = groups.iter().position(|group| group.name == kind.group).unwrap_or_else(|| {
                groups.push(Group { name: kind.group.clone(), versions: Vec::new(), kinds: Vec::new() });
                groups.len() - 1
            });
            if !groups[index].versions.contains(&kind.version) {
                groups[index].versions.push(kind.version.clone());
            }
            groups[index].kinds.push(kind);
        }
        for group in groups.iter_mut().filter(|group| group.is_custom()) {
            group.versions.sort_by(|a, b| priority(b).cmp(&priority(a)));
        }
        // The sort is stable and `None` comes first: built-in groups keep their order and precede the custom groups.
        groups.sort_by_key(|group| if group.is_custom() { Some(group.name.clone()) } else { None });
        Self(groups)
    }

    /// Returns the group of a name; `None` if it is not served.
    pub(super) fn find(&self, name: &str) -> Option<&Group> {
        self.0.iter().find(|group| group.name == name)
    }

    /// Returns all groups, the core group included.
    pub(super) fn all(&self) -> impl Iterator<Item = &Group> {
        self.0.iter()
    }

    /// Returns all groups except the core group.
    pub(super) fn others(&self) -> impl Iterator<Item = &Group> {
        self.0.iter().filter(|group| !group.name.is_empty())
    }

    /// Returns the `APIGroupList`.
    pub(super) fn list(&self) -> Value {
        let groups: Vec<Value> = self.others().map(Group::to_api_group).collect();
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    }
}

impl Group {
    /// Returns the kinds that a version of the group serves.
    pub(super) fn kinds<'a>(&'a self, version: &'a str) -> impl Iterator<Item = &'a Arc<Kind>> {
        self.kinds.iter().filter(move |kind| kind.version == version)
    }

    /// Returns whether CustomResourceDefinitions define all kinds of the group.
    pub(super) fn is_custom(&self) -> bool {
        self.kinds.iter().all(|kind| kind.custom().is_some())
    }

    /// Returns the fields of the group's `APIGroup`, without `kind` and `apiVersion`.
    pub(super) fn to_api_group(&self) -> Value {
        let version =
            |version: &String| json!({"groupVersion": format!("{}/{version}", self.name), "version": version});
        let versions: Vec<Value> = self.versions.iter().map(version).collect();
        json!({"name": self.name, "preferredVersion": versions.first(), "versions": versions})
    }
}

/// Returns the sort key of a version, like `version.CompareKubeAwareVersionStrings`: stability, major version, minor version, and the name
/// if it has another form. A version with a greater key is preferred: `v2` over `v1` over `v1beta2` over `v1alpha1` over other names.
fn priority(version: &str) -> (u8, u64, u64, Reverse<&str>) {
    let parse = || {
        let number = version.strip_prefix('v')?;
        let major_end = number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len());
        let major = number[..major_end].parse().ok()?;
        let (stability, minor) = match &number[major_end..] {
            "" => (3, ""),
            stage => match (stage.strip_prefix("beta"), stage.strip_prefix("alpha")) {
                (Some(minor), _) => (2, minor),
                (_, Some(minor)) => (1, minor),
                _ => return None,
            },
        };
        let minor = if stability == 3 { 0 } else { minor.parse().ok()? };
        Some((stability, major, minor, Reverse("")))
    };
    parse().unwrap_or((0, 0, 0, Reverse(version)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_and_stabler_versions_come_first() {
        let mut versions =
            ["foo1", "v1alpha1", "v1", "v11beta2", "v10beta3", "v2", "v10", "v3beta1", "foo10", "v12alpha1"];
        versions.sort_by_key(|version| Reverse(priority(version)));
        let expected = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v1alpha1", "foo1", "foo10"];
        assert_eq!(versions, expected);
    }
}
