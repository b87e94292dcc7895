//! `PolicyRule`, a rule of an RBAC role: determines which requests the rule allows and which other rules it covers.

use std::fmt::Write as _;

use serde::Deserialize;

use super::attributes::{AccessTarget, Attributes};

/// A `PolicyRule`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PolicyRule {
    #[serde(deserialize_with = "strings")]
    pub(crate) verbs: Vec<String>,
    #[serde(deserialize_with = "strings")]
    pub(crate) api_groups: Vec<String>,
    #[serde(deserialize_with = "strings")]
    pub(crate) resources: Vec<String>,
    #[serde(deserialize_with = "strings")]
    pub(crate) resource_names: Vec<String>,
    #[serde(rename = "nonResourceURLs", deserialize_with = "strings")]
    pub(crate) paths: Vec<String>,
}

/// Deserializes a list, with null as an empty one.
fn strings<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Option::<Vec<String>>::deserialize(from).map(Option::unwrap_or_default)
}

impl PolicyRule {
    /// Returns the rule that allows everything on all resources.
    pub(crate) fn all_resources() -> Self {
        let all = || vec!["*".to_owned()];
        Self { verbs: all(), api_groups: all(), resources: all(), ..Self::default() }
    }

    /// Returns the rule that allows every path.
    pub(crate) fn all_paths() -> Self {
        let all = || vec!["*".to_owned()];
        Self { verbs: all(), paths: all(), ..Self::default() }
    }

    /// Returns whether the rule allows a request.
    pub(crate) fn allows(&self, attributes: &Attributes<'_>) -> bool {
        if !lists(&self.verbs, attributes.verb) {
            return false;
        }
        match attributes.target {
            AccessTarget::Path(path) => self.paths.iter().any(|listed| path_covers(listed, path)),
            AccessTarget::Resource { group, resource, subresource, name, .. } => {
                lists(&self.api_groups, group)
                    && self.resources.iter().any(|listed| resource_covers(listed, resource, subresource))
                    && (self.resource_names.is_empty() || self.resource_names.iter().any(|listed| listed == name))
            }
        }
    }

    /// Splits the rule into parts, each of which is a rule with one verb on one resource of one group, for one name or all names, or with
    /// one verb on one non-resource path.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let single = |word: &String| vec![word.clone()];
        let mut parts = Vec::new();
        for (group, resource) in self.api_groups.iter().flat_map(|g| self.resources.iter().map(move |r| (g, r))) {
            for verb in &self.verbs {
                let part = Self {
                    verbs: single(verb),
                    api_groups: single(group),
                    resources: single(resource),
                    ..Self::default()
                };
                if self.resource_names.is_empty() {
                    parts.push(part);
                } else {
                    let with_name = |name| Self { resource_names: single(name), ..part.clone() };
                    parts.extend(self.resource_names.iter().map(with_name));
                }
            }
        }
        for (path, verb) in self.paths.iter().flat_map(|path| self.verbs.iter().map(move |verb| (path, verb))) {
            parts.push(Self { verbs: single(verb), paths: single(path), ..Self::default() });
        }
        parts
    }

    /// Returns whether the rule allows everything that `part` allows, a rule that [`Self::parts`] returned.
    pub(crate) fn covers(&self, part: &Self) -> bool {
        let covers_resource = |name: &String| {
            let (resource, subresource) = name.split_once('/').unwrap_or((name, ""));
            self.resources.iter().any(|listed| resource_covers(listed, resource, subresource))
        };
        part.verbs.iter().all(|verb| lists(&self.verbs, verb))
            && part.api_groups.iter().all(|group| lists(&self.api_groups, group))
            && part.resources.iter().all(covers_resource)
            && part.paths.iter().all(|path| self.paths.iter().any(|listed| path_covers(listed, path)))
            // A rule for certain names does not cover a part for all names.
            && (self.resource_names.is_empty()
                || !part.resource_names.is_empty()
                    && part.resource_names.iter().all(|name| self.resource_names.contains(name)))
    }
}

/// Splits the requested rules into parts, and returns those that no rule of `owned` covers (`Covers` of kube-apiserver).
pub(crate) fn uncovered_parts(owned: &[&PolicyRule], requested: &[PolicyRule]) -> Vec<PolicyRule> {
    let parts = requested.iter().flat_map(PolicyRule::parts);
    parts.filter(|part| !owned.iter().any(|rule| rule.covers(part))).collect()
}

/// Formats parts of rules for messages, in sorted lines. Joins parts for resources that differ only in the verb into one line.
pub(crate) fn format_rules(parts: &[PolicyRule]) -> String {
    let mut joined: Vec<PolicyRule> = Vec::new();
    for part in parts {
        let is_same_resource = |rule: &&mut PolicyRule| {
            rule.paths.is_empty()
                && part.paths.is_empty()
                && (&rule.api_groups, &rule.resources, &rule.resource_names)
                    == (&part.api_groups, &part.resources, &part.resource_names)
        };
        match joined.iter_mut().find(is_same_resource) {
            Some(rule) => rule.verbs.extend(part.verbs.iter().cloned()),
            None => joined.push(part.clone()),
        }
    }
    let mut lines: Vec<String> = joined.iter().map(format_rule).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.join("\n")
}

/// Formats a rule as `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`.
fn format_rule(rule: &PolicyRule) -> String {
    let fields = [
        ("APIGroups", &rule.api_groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.paths),
        ("ResourceNames", &rule.resource_names),
        ("Verbs", &rule.verbs),
    ];
    let fields = fields.into_iter().filter(|(_, values)| !values.is_empty());
    let fields: Vec<_> = fields.map(|(name, values)| format!("{name}:{}", quoted(values))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// Formats a list of strings as Go's `%q` does.
pub(crate) fn quoted(values: &[String]) -> String {
    let mut text = String::from("[");
    for (index, value) in values.iter().enumerate() {
        let space = if index == 0 { "" } else { " " };
        let _ = write!(text, "{space}{value:?}");
    }
    text + "]"
}

/// Returns whether a list of a rule contains a value or `*`.
fn lists(values: &[String], value: &str) -> bool {
    values.iter().any(|listed| listed == "*" || listed == value)
}

/// Returns whether a resource of a rule covers a resource: `*` covers all, `pods/*` only itself, `*/scale` the
/// subresource of every resource.
fn resource_covers(listed: &str, resource: &str, subresource: &str) -> bool {
    if listed == "*" {
        return true;
    }
    match listed.split_once('/') {
        None => subresource.is_empty() && listed == resource,
        Some((listed_resource, listed_subresource)) => {
            !subresource.is_empty()
                && listed_subresource == subresource
                && (listed_resource == "*" || listed_resource == resource)
        }
    }
}

/// Returns whether a path of a rule covers a path: a path covers itself; a trailing star covers all paths with that
/// prefix.
fn path_covers(listed: &str, path: &str) -> bool {
    listed == path || listed.strip_suffix('*').is_some_and(|prefix| path.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(groups: &[&str], resources: &[&str], names: &[&str], verbs: &[&str]) -> PolicyRule {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        PolicyRule {
            verbs: words(verbs),
            api_groups: words(groups),
            resources: words(resources),
            resource_names: words(names),
            paths: Vec::new(),
        }
    }

    #[test]
    fn resources_and_paths_are_covered_exactly_or_by_a_star() {
        assert!(resource_covers("*", "pods", "log"));
        assert!(resource_covers("pods", "pods", "") && !resource_covers("pods", "pods", "log"));
        assert!(resource_covers("pods/log", "pods", "log") && !resource_covers("pods/*", "pods", "log"));
        assert!(resource_covers("*/scale", "deployments", "scale") && !resource_covers("*/scale", "deployments", ""));
        assert!(path_covers("*", "/a") && path_covers("/a/*", "/a/b") && !path_covers("/a/*", "/a"));
    }

    #[test]
    fn missing_rules_are_formatted_by_resource() {
        let held = rule(&[""], &["pods"], &[], &["get"]);
        let requested =
            [rule(&[""], &["pods", "secrets"], &[], &["get", "list"]), rule(&["apps"], &["d"], &["a", "b"], &["get"])];
        assert_eq!(
            format_rules(&uncovered_parts(&[&held], &requested)),
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}\n\
             {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}\n\
             {APIGroups:[\"apps\"], Resources:[\"d\"], ResourceNames:[\"a\"], Verbs:[\"get\"]}\n\
             {APIGroups:[\"apps\"], Resources:[\"d\"], ResourceNames:[\"b\"], Verbs:[\"get\"]}"
        );
    }
}
