//! Converts permissions to RBAC rules, compares rules, and merges them into as few as possible.

use std::{collections::BTreeMap, fmt};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::shape::{Access, AccessTarget};

/// An RBAC rule: verbs on resources of API groups, optionally on named objects only, or on non-resource URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Rule {
    #[serde(rename = "apiGroups")]
    pub(crate) groups: Vec<String>,
    pub(crate) resources: Vec<String>,
    pub(crate) resource_names: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    pub(crate) urls: Vec<String>,
    pub(crate) verbs: Vec<String>,
}

impl Rule {
    /// Returns the rule that allows `verbs` on one resource of one API group.
    pub(crate) fn on(group: &str, resource: &str, verbs: &[&str]) -> Self {
        Self {
            groups: vec![group.to_owned()],
            resources: vec![resource.to_owned()],
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Converts a permission to a rule. The namespace of the permission is not part of the rule: it decides which role gets the
    /// rule.
    pub(crate) fn of(access: &Access) -> Self {
        let verbs: Vec<_> = access.verbs.iter().flat_map(|verb| verb.rbac_verbs()).copied().collect();
        match access.target {
            AccessTarget::Url(path) => {
                let verbs = verbs.into_iter().map(str::to_owned).collect();
                Self { urls: vec![path.to_owned()], verbs, ..Self::default() }
            }
            AccessTarget::Objects { kind, subresource, names, .. } => {
                let kind = kind();
                let resource = match subresource {
                    "" => kind.plural.to_string(),
                    subresource => format!("{}/{subresource}", kind.plural),
                };
                let resource_names = names.iter().map(|name| (*name).to_owned()).collect();
                Self { resource_names, ..Self::on(&kind.group, &resource, &verbs) }
            }
        }
    }

    /// Returns the rule as JSON for a role, without empty lists.
    pub(crate) fn to_value(&self) -> Value {
        let mut rule = json!({"verbs": self.verbs});
        let lists = [
            ("apiGroups", &self.groups),
            ("resources", &self.resources),
            ("resourceNames", &self.resource_names),
            ("nonResourceURLs", &self.urls),
        ];
        for (name, list) in lists {
            if !list.is_empty() {
                rule[name] = json!(list);
            }
        }
        rule
    }
}

impl Rule {
    /// Splits the rule into rules with one verb on one resource, object or URL each: the product of its lists that are not empty.
    pub(crate) fn singles(&self) -> Vec<Self> {
        let lists = [&self.groups, &self.resources, &self.resource_names, &self.urls, &self.verbs];
        // Each list multiplies the rules so far: one rule per value of the list. A rule has its five lists in the order of `lists`.
        let mut singles = vec![[const { Vec::new() }; 5]];
        for (index, list) in lists.into_iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            let with_value = |single: &[Vec<String>; 5], value: &String| {
                let mut single = single.clone();
                single[index] = vec![value.clone()];
                single
            };
            singles = singles.iter().flat_map(|single| list.iter().map(|value| with_value(single, value))).collect();
        }
        let rules = singles.into_iter();
        rules
            .map(|[groups, resources, resource_names, urls, verbs]| Self {
                groups,
                resources,
                resource_names,
                urls,
                verbs,
            })
            .collect()
    }

    /// Returns whether this rule alone grants all rights of another rule. A `*` has no special meaning in verbs, groups and resources:
    /// only the same `*` covers it, since the rules that nodes declare name each right.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let is_subset = |subset: &[String], list: &[String]| subset.iter().all(|value| list.contains(value));
        let is_url_covered = |url: &String| self.urls.iter().any(|pattern| is_below(url, pattern));
        is_subset(&other.verbs, &self.verbs)
            && is_subset(&other.groups, &self.groups)
            && is_subset(&other.resources, &self.resources)
            // A rule without names covers all objects.
            && (self.resource_names.is_empty()
                || !other.resource_names.is_empty() && is_subset(&other.resource_names, &self.resource_names))
            && other.urls.iter().all(is_url_covered)
            // A rule for resources covers no rule for URLs, and the reverse.
            && other.urls.is_empty() == self.urls.is_empty()
    }
}

/// Returns whether a path matches the URL of a rule; a `*` at the end of the URL matches anything.
pub(crate) fn is_below(path: &str, url: &str) -> bool {
    url.strip_suffix('*').map_or(path == url, |start| path.starts_with(start))
}

impl fmt::Display for Rule {
    /// Writes a rule with one group in words: `get secrets/status of the core group named tls`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.verbs.join(", "), self.resources.join(", "), self.urls.join(", "))?;
        match self.groups.first().map(String::as_str) {
            None => {}
            Some("") => f.write_str(" of the core group")?,
            Some(group) => write!(f, " of {group}")?,
        }
        if self.resource_names.is_empty() { Ok(()) } else { write!(f, " named {}", self.resource_names.join(", ")) }
    }
}

/// Merges rules into few rules that grant the same rights. The result depends on the rights only, and not on the order of the
/// rules.
///
/// The algorithm is that of `controller-gen`: it splits the rules by resource and sorts their lists, then merges verbs,
/// resources, groups and URLs in this order. A `*` replaces all other verbs. The result is sorted.
pub(crate) fn merge(rules: impl IntoIterator<Item = Rule>) -> Vec<Rule> {
    let single_resource = rules.into_iter().flat_map(split_by_resource).map(normalize).collect();
    let rules = unite(single_resource, |rule| &mut rule.verbs);
    let rules = unite(rules, |rule| &mut rule.resources);
    let rules = unite(rules, |rule| &mut rule.groups);
    let mut rules = unite(rules, |rule| &mut rule.urls);
    for rule in &mut rules {
        if rule.verbs.iter().any(|verb| verb == "*") {
            rule.verbs = vec!["*".to_owned()];
        }
    }
    rules.sort();
    rules
}

/// Splits a rule into one rule for each of its resources.
fn split_by_resource(rule: Rule) -> Vec<Rule> {
    if rule.resources.len() < 2 {
        return vec![rule];
    }
    let with_only = |resource: &String| Rule { resources: vec![resource.clone()], ..rule.clone() };
    rule.resources.iter().map(with_only).collect()
}

/// Writes the group `core` as the empty string, as rules do, and sorts and deduplicates all lists.
fn normalize(mut rule: Rule) -> Rule {
    for group in &mut rule.groups {
        if group == "core" {
            group.clear();
        }
    }
    for list in [&mut rule.groups, &mut rule.resources, &mut rule.resource_names, &mut rule.urls, &mut rule.verbs] {
        list.sort();
        list.dedup();
    }
    rule
}

/// Merges rules that differ only in the list that `list` selects, such as their verbs: the merged rule has the union of these lists. A rule
/// with an empty list is merged only with other rules with an empty list, so that no rule gets both resources and URLs.
fn unite(rules: Vec<Rule>, list: impl Fn(&mut Rule) -> &mut Vec<String>) -> Vec<Rule> {
    // The key is the rule without the list, and whether the list is empty.
    let mut united: BTreeMap<(bool, Rule), Vec<String>> = BTreeMap::new();
    for mut rule in rules {
        let values = std::mem::take(list(&mut rule));
        united.entry((values.is_empty(), rule)).or_default().extend(values);
    }
    let with_union = |((_, mut rule), values): ((bool, Rule), Vec<String>)| {
        *list(&mut rule) = values;
        normalize(rule)
    };
    united.into_iter().map(with_union).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Pseudo-random numbers from a fixed seed, equal in every run.
    struct Numbers(u64);

    impl Numbers {
        /// Returns the next number of a linear congruential generator, from 0 to `end - 1`.
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % end
        }

        fn some_of(&mut self, words: &[&str]) -> Vec<String> {
            (0..=self.below(3)).map(|_| words[self.below(words.len())].to_owned()).collect()
        }

        fn rules(&mut self) -> Vec<Rule> {
            (0..self.below(12)).map(|_| self.rule()).collect()
        }

        /// Returns a random rule: one in six is for URLs, and of the others one in three is for named objects.
        fn rule(&mut self) -> Rule {
            let verbs = self.some_of(&["get", "list", "watch", "create", "patch", "*"]);
            if self.below(6) == 0 {
                return Rule { urls: self.some_of(&["/metrics", "/healthz", "/a"]), verbs, ..Rule::default() };
            }
            let names = if self.below(3) == 0 { self.some_of(&["x", "y"]) } else { Vec::new() };
            Rule {
                groups: self.some_of(&["", "core", "apps", "batch"]),
                resources: self.some_of(&["pods", "pods/status", "secrets", "deployments"]),
                resource_names: names,
                urls: Vec::new(),
                verbs,
            }
        }

        /// Returns the rules in a random order (Fisher-Yates).
        fn shuffled(&mut self, mut rules: Vec<Rule>) -> Vec<Rule> {
            for end in (1..rules.len()).rev() {
                rules.swap(end, self.below(end + 1));
            }
            rules
        }
    }

    /// Returns the rights that rules grant, each as group, resource, object name, URL and verb; a missing value is `-`. A right with the
    /// verb `*` replaces the rights with other verbs on the same objects.
    fn allowed(rules: &[Rule]) -> BTreeSet<[String; 5]> {
        let or_none = |list: &[String]| if list.is_empty() { vec!["-".to_owned()] } else { list.to_vec() };
        let mut all = BTreeSet::new();
        for rule in rules {
            let rule = normalize(rule.clone());
            for group in or_none(&rule.groups) {
                for resource in or_none(&rule.resources) {
                    for name in or_none(&rule.resource_names) {
                        for url in or_none(&rule.urls) {
                            for verb in &rule.verbs {
                                all.insert([&group, &resource, &name, &url, verb].map(Clone::clone));
                            }
                        }
                    }
                }
            }
        }
        let all_verbs: Vec<_> = all.iter().filter(|[.., verb]| verb == "*").cloned().collect();
        all.retain(|right| right[4] == "*" || !all_verbs.iter().any(|other| other[..4] == right[..4]));
        all
    }

    /// Merges 2000 random sets of rules.
    #[test]
    fn merging_is_independent_of_order_and_keeps_all_rights() {
        let mut numbers = Numbers(7);
        for _ in 0..2000 {
            let rules = numbers.rules();
            let merged = merge(rules.clone());
            assert_eq!(merged, merge(numbers.shuffled(rules.clone())), "{rules:?}");
            assert_eq!(allowed(&rules), allowed(&merged), "{rules:?}");
        }
    }

    #[test]
    fn verbs_then_resources_then_groups_are_united() {
        let merged = merge([
            Rule::on("apps", "deployments", &["watch", "get"]),
            Rule::on("apps", "statefulsets", &["get", "list", "watch"]),
            Rule::on("apps", "deployments", &["list", "get"]),
            Rule::on("core", "pods", &["list"]),
            Rule::on("metrics.k8s.io", "pods", &["list"]),
        ]);
        let workloads = Rule {
            resources: vec!["deployments".into(), "statefulsets".into()],
            ..Rule::on("apps", "", &["get", "list", "watch"])
        };
        let pods = Rule { groups: vec![String::new(), "metrics.k8s.io".into()], ..Rule::on("", "pods", &["list"]) };
        assert_eq!(merged, [pods, workloads]);
    }

    #[test]
    fn a_star_replaces_the_other_verbs() {
        let merged = merge([Rule::on("", "pods", &["get"]), Rule::on("", "pods", &["*"])]);
        assert_eq!(merged, [Rule::on("", "pods", &["*"])]);
    }

    #[test]
    fn rules_with_object_names_or_urls_are_not_merged_with_others() {
        let named = Rule { resource_names: vec!["ca".into()], ..Rule::on("", "secrets", &["get"]) };
        let url = |path: &str| Rule { urls: vec![path.into()], verbs: vec!["get".into()], ..Rule::default() };
        let merged = merge([url("/b"), Rule::on("", "secrets", &["get"]), named.clone(), url("/a")]);
        let urls = Rule { urls: vec!["/a".into(), "/b".into()], ..url("") };
        assert_eq!(merged, [urls, Rule::on("", "secrets", &["get"]), named]);
        assert_eq!(merged[0].to_value(), json!({"nonResourceURLs": ["/a", "/b"], "verbs": ["get"]}));
    }
}
