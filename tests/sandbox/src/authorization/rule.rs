//! Evaluates a policy rule: the requests that it allows, and the other rules that it covers.

use std::fmt::Write as _;

use serde::Deserialize;

use super::attributes::{About, Attributes};

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

    /// Whether the rule allows a request.
    pub(crate) fn allows(&self, attributes: &Attributes<'_>) -> bool {
        if !has(&self.verbs, attributes.verb) {
            return false;
        }
        match attributes.about {
            About::Path(path) => self.paths.iter().any(|own| path_covers(own, path)),
            About::Resource { group, resource, subresource, name, .. } => {
                has(&self.api_groups, group)
                    && self.resources.iter().any(|own| resource_covers(own, resource, subresource))
                    && (self.resource_names.is_empty() || self.resource_names.iter().any(|own| own == name))
            }
        }
    }

    /// Splits the rule into parts: one verb of one resource of one group, under one name or all; or one verb of one
    /// path.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let one = |word: &String| vec![word.clone()];
        let mut parts = Vec::new();
        for (group, resource) in self.api_groups.iter().flat_map(|g| self.resources.iter().map(move |r| (g, r))) {
            for verb in &self.verbs {
                let part =
                    Self { verbs: one(verb), api_groups: one(group), resources: one(resource), ..Self::default() };
                if self.resource_names.is_empty() {
                    parts.push(part);
                } else {
                    let named = |name| Self { resource_names: one(name), ..part.clone() };
                    parts.extend(self.resource_names.iter().map(named));
                }
            }
        }
        for (path, verb) in self.paths.iter().flat_map(|path| self.verbs.iter().map(move |verb| (path, verb))) {
            parts.push(Self { verbs: one(verb), paths: one(path), ..Self::default() });
        }
        parts
    }

    /// Whether the rule allows everything that a part of another rule allows.
    pub(crate) fn covers(&self, part: &Self) -> bool {
        let resource = |wanted: &String| {
            let (resource, subresource) = wanted.split_once('/').unwrap_or((wanted, ""));
            self.resources.iter().any(|own| resource_covers(own, resource, subresource))
        };
        part.verbs.iter().all(|verb| has(&self.verbs, verb))
            && part.api_groups.iter().all(|group| has(&self.api_groups, group))
            && part.resources.iter().all(resource)
            && part.paths.iter().all(|path| self.paths.iter().any(|own| path_covers(own, path)))
            && (self.resource_names.is_empty()
                || !part.resource_names.is_empty()
                    && part.resource_names.iter().all(|name| self.resource_names.contains(name)))
    }
}

/// Returns the parts of `wanted` that no rule of `held` covers.
pub(crate) fn uncovered(held: &[&PolicyRule], wanted: &[PolicyRule]) -> Vec<PolicyRule> {
    let parts = wanted.iter().flat_map(PolicyRule::parts);
    parts.filter(|part| !held.iter().any(|own| own.covers(part))).collect()
}

/// Formats parts of rules for messages; parts that differ only in the verb are joined.
pub(crate) fn format_rules(parts: &[PolicyRule]) -> String {
    let mut joined: Vec<PolicyRule> = Vec::new();
    for part in parts {
        let same = |own: &&mut PolicyRule| {
            own.paths.is_empty()
                && part.paths.is_empty()
                && (&own.api_groups, &own.resources, &own.resource_names)
                    == (&part.api_groups, &part.resources, &part.resource_names)
        };
        match joined.iter_mut().find(same) {
            Some(own) => own.verbs.extend(part.verbs.iter().cloned()),
            None => joined.push(part.clone()),
        }
    }
    let mut lines: Vec<String> = joined.iter().map(line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.join("\n")
}

/// Formats a rule as `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`.
fn line(rule: &PolicyRule) -> String {
    let fields = [
        ("APIGroups", &rule.api_groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.paths),
        ("ResourceNames", &rule.resource_names),
        ("Verbs", &rule.verbs),
    ];
    let fields = fields.into_iter().filter(|(_, words)| !words.is_empty());
    let fields: Vec<_> = fields.map(|(name, words)| format!("{name}:{}", quoted(words))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// Formats a list of strings as Go's `%q` does.
pub(crate) fn quoted(words: &[String]) -> String {
    let mut text = String::from("[");
    for (at, word) in words.iter().enumerate() {
        let space = if at == 0 { "" } else { " " };
        let _ = write!(text, "{space}{word:?}");
    }
    text + "]"
}

fn has(own: &[String], word: &str) -> bool {
    own.iter().any(|own| own == "*" || own == word)
}

/// Whether a resource of a rule covers a resource: `*` covers all, `pods/*` only itself, `*/scale` the subresource of
/// every resource.
fn resource_covers(own: &str, resource: &str, subresource: &str) -> bool {
    if own == "*" {
        return true;
    }
    match own.split_once('/') {
        None => subresource.is_empty() && own == resource,
        Some((of, sub)) => !subresource.is_empty() && sub == subresource && (of == "*" || of == resource),
    }
}

/// Whether a path of a rule covers a path: a path covers itself; a trailing star covers all paths with that prefix.
fn path_covers(own: &str, path: &str) -> bool {
    own == path || own.strip_suffix('*').is_some_and(|begin| path.starts_with(begin))
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
    fn resources_are_covered_as_written_or_by_a_star() {
        assert!(resource_covers("*", "pods", "log"));
        assert!(resource_covers("pods", "pods", "") && !resource_covers("pods", "pods", "log"));
        assert!(resource_covers("pods/log", "pods", "log") && !resource_covers("pods/*", "pods", "log"));
        assert!(resource_covers("*/scale", "deployments", "scale") && !resource_covers("*/scale", "deployments", ""));
        assert!(path_covers("*", "/a") && path_covers("/a/*", "/a/b") && !path_covers("/a/*", "/a"));
    }

    #[test]
    fn missing_rules_are_formatted_by_resource() {
        let held = rule(&[""], &["pods"], &[], &["get"]);
        let wanted =
            [rule(&[""], &["pods", "secrets"], &[], &["get", "list"]), rule(&["apps"], &["d"], &["a", "b"], &["get"])];
        assert_eq!(
            format_rules(&uncovered(&[&held], &wanted)),
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}\n\
             {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}\n\
             {APIGroups:[\"apps\"], Resources:[\"d\"], ResourceNames:[\"a\"], Verbs:[\"get\"]}\n\
             {APIGroups:[\"apps\"], Resources:[\"d\"], ResourceNames:[\"b\"], Verbs:[\"get\"]}"
        );
    }
}
