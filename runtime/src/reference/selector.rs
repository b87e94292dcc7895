//! Evaluates label selectors on cached objects, and indexes the selectors of referrers.

use crate::{
    cache::{Header, ObjectKey, PackedMap},
    kind::Kind,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use std::{
    collections::{BTreeSet, HashMap},
    fmt,
};

/// A label selector for objects in one namespace or in all.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScopedSelector {
    pub(crate) namespace: Option<String>,
    pub(crate) labels: LabelSelector,
}

impl ScopedSelector {
    /// Returns the reason why the selector is invalid, for a message; `None` if it is valid.
    pub(crate) fn invalid_reason(&self) -> Option<String> {
        self.requirements().find_map(|LabelSelectorRequirement { key, operator, values }| {
            let is_empty = values.as_ref().is_none_or(Vec::is_empty);
            match operator.as_str() {
                "In" | "NotIn" if is_empty => Some(format!("`{operator}` of label `{key}` needs values")),
                "Exists" | "DoesNotExist" if !is_empty => {
                    Some(format!("`{operator}` of label `{key}` takes no values"))
                }
                "In" | "NotIn" | "Exists" | "DoesNotExist" => None,
                _ => Some(format!("`{operator}` is not one of `In`, `NotIn`, `Exists` and `DoesNotExist`")),
            }
        })
    }

    /// Returns whether the selector matches an object.
    pub(crate) fn matches(&self, header: &Header) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| header.key.namespace() == Some(namespace))
            && self.matches_labels(&header.labels)
    }

    /// Returns whether labels satisfy `matchLabels` and all `matchExpressions`, by the rules of the API server: `NotIn` also matches a
    /// missing label. `kube`'s selector takes a map, and unpacking the labels of each object would cost more than the comparison.
    fn matches_labels(&self, labels: &PackedMap) -> bool {
        self.pairs().all(|(label, value)| labels.get(label) == Some(value))
            && self.requirements().all(|LabelSelectorRequirement { key, operator, values }| {
                let (label, values) = (labels.get(key), values.as_deref().unwrap_or_default());
                let has_listed_value = label.is_some_and(|label| values.iter().any(|value| value == label));
                match operator.as_str() {
                    "In" => has_listed_value,
                    "NotIn" => !has_listed_value,
                    "Exists" => label.is_some(),
                    "DoesNotExist" => label.is_none(),
                    // An invalid operator matches no object.
                    _ => false,
                }
            })
    }

    /// Returns the names and values of the labels that `matchLabels` requires.
    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.match_labels.iter().flatten().map(|(label, value)| (label.as_str(), value.as_str()))
    }

    fn requirements(&self) -> impl Iterator<Item = &LabelSelectorRequirement> {
        self.labels.match_expressions.iter().flatten()
    }
}

impl fmt::Display for ScopedSelector {
    /// Writes the selector in the syntax of the query parameter `labelSelector`: `app=web,tier in (a,b),!old`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.pairs().map(|(label, value)| format!("{label}={value}"));
        let others = self.requirements().map(|LabelSelectorRequirement { key, operator, values }| {
            let values = values.as_deref().unwrap_or_default().join(",");
            match operator.as_str() {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "DoesNotExist" => format!("!{key}"),
                // `Exists`.
                _ => key.clone(),
            }
        });
        f.write_str(&pairs.chain(others).collect::<Vec<_>>().join(","))
    }
}

/// An index of the selectors of referrers by kind, namespace and the first label value that a selector requires, so that a change
/// of an object is compared with few selectors.
#[derive(Debug, Default)]
pub(crate) struct SelectorIndex {
    selectors: HashMap<ObjectKey, Vec<(Kind, ScopedSelector)>>,
    referrers: HashMap<(Kind, IndexKey), BTreeSet<ObjectKey>>,
}

/// The key of a selector in the index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct IndexKey {
    namespace: Option<String>,
    label: Option<(String, String)>,
}

impl IndexKey {
    /// Returns the index key of a selector: its namespace, and the first pair of its `matchLabels`, if it has one.
    fn of(selector: &ScopedSelector) -> Self {
        let label = selector.pairs().next().map(|(label, value)| (label.to_owned(), value.to_owned()));
        Self { namespace: selector.namespace.clone(), label }
    }

    /// Returns the index keys of all selectors that can match an object: each combination of a label of the object, or none, with the
    /// namespace of the object, or none. A selector without a namespace or without `matchLabels` has `None` in its key.
    fn all_for(header: &Header) -> impl Iterator<Item = Self> {
        let pair = |(label, value): (&str, &str)| Some((label.to_owned(), value.to_owned()));
        let labels: Vec<_> = header.labels.iter().map(pair).chain([None]).collect();
        // A cluster-scoped object has only the first of these keys; the second would be the same.
        let namespaces = [None, header.key.namespace().map(str::to_owned)];
        let namespaces = namespaces.into_iter().take(if header.key.namespace().is_some() { 2 } else { 1 });
        namespaces.flat_map(move |namespace| {
            labels.clone().into_iter().map(move |label| Self { namespace: namespace.clone(), label })
        })
    }
}

impl SelectorIndex {
    /// Replaces the selectors of a referrer in the index; without `selectors`, removes the referrer.
    pub(crate) fn set(&mut self, referrer: &ObjectKey, selectors: Vec<(Kind, ScopedSelector)>) {
        // Without a change, the index is left as it is.
        if self.selectors.get(referrer).map_or(&[][..], Vec::as_slice) == selectors {
            return;
        }
        for (kind, old) in self.selectors.remove(referrer).unwrap_or_default() {
            let key = (kind, IndexKey::of(&old));
            if let Some(referrers) = self.referrers.get_mut(&key) {
                referrers.remove(referrer);
                if referrers.is_empty() {
                    self.referrers.remove(&key);
                }
            }
        }
        for (kind, new) in &selectors {
            self.referrers.entry((kind.clone(), IndexKey::of(new))).or_default().insert(referrer.clone());
        }
        if !selectors.is_empty() {
            self.selectors.insert(referrer.clone(), selectors);
        }
    }

    /// Returns the referrers with a selector that matches an object.
    pub(crate) fn of(&self, kind: &Kind, header: &Header) -> BTreeSet<ObjectKey> {
        if self.selectors.is_empty() {
            return BTreeSet::new();
        }
        let candidates = IndexKey::all_for(header).filter_map(|key| self.referrers.get(&(kind.clone(), key)));
        // The index compares only one label, so the whole selectors of each candidate are evaluated.
        let matches = |referrer: &&ObjectKey| {
            let selectors = self.selectors.get(*referrer).into_iter().flatten();
            selectors.into_iter().any(|(selected_kind, selector)| selected_kind == kind && selector.matches(header))
        };
        candidates.flatten().filter(matches).cloned().collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    fn selected(namespace: Option<&str>, labels: serde_json::Value) -> ScopedSelector {
        ScopedSelector { namespace: namespace.map(str::to_owned), labels: serde_json::from_value(labels).unwrap() }
    }

    fn header(namespace: &str, labels: serde_json::Value) -> Header {
        let object = json!({"metadata": {"name": "a", "namespace": namespace, "labels": labels}});
        Header::parse(object.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn labels_are_compared_by_the_rules_of_the_api_server() {
        let web = header("shop", json!({"app": "web", "tier": "a"}));
        let expression = |key: &str, operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        for (is_match, labels) in [
            (true, json!({})),
            (true, json!({"matchLabels": {"app": "web", "tier": "a"}})),
            (false, json!({"matchLabels": {"app": "web", "tier": "b"}})),
            (true, expression("tier", "In", &["a", "b"])),
            (false, expression("tier", "NotIn", &["a"])),
            (true, expression("zone", "NotIn", &["a"])),
            (true, expression("app", "Exists", &[])),
            (false, expression("zone", "Exists", &[])),
            (true, expression("zone", "DoesNotExist", &[])),
        ] {
            let selector = selected(Some("shop"), labels);
            assert_eq!((selector.matches(&web), selector.invalid_reason()), (is_match, None), "{selector}");
            assert!(!selector.matches(&header("other", json!({"app": "web"}))), "{selector}");
        }
    }

    #[test]
    fn the_problem_of_an_invalid_selector_is_named() {
        for (expression, problem) in [
            (json!({"key": "a", "operator": "In"}), "`In` of label `a` needs values"),
            (json!({"key": "a", "operator": "Exists", "values": ["b"]}), "`Exists` of label `a` takes no values"),
            (json!({"key": "a", "operator": "Is"}), "`Is` is not one of `In`, `NotIn`, `Exists` and `DoesNotExist`"),
        ] {
            assert_eq!(selected(None, json!({"matchExpressions": [expression]})).invalid_reason().unwrap(), problem);
        }
    }

    /// The referrer `one` selects the object by its namespace and label, `two` selects another label, `all` everything, and `far` another
    /// namespace.
    #[test]
    fn the_referrers_of_an_object_are_found_by_its_labels() {
        let (kind, web) = (kind_of::<ConfigMap>(), header("shop", json!({"app": "web", "tier": "a"})));
        let mut selectors = SelectorIndex::default();
        let by_app = |namespace| selected(namespace, json!({"matchLabels": {"app": "web"}}));
        let referrers = ["one", "two", "all", "far"].map(|name| ObjectKey::namespaced("shop", name));
        let [one, two, all, far] = &referrers;
        selectors.set(one, vec![(kind.clone(), by_app(Some("shop")))]);
        selectors.set(two, vec![(kind.clone(), selected(None, json!({"matchLabels": {"app": "db"}})))]);
        selectors.set(all, vec![(kind.clone(), selected(None, json!({})))]);
        selectors.set(far, vec![(kind.clone(), by_app(Some("other")))]);
        assert_eq!(selectors.of(&kind, &web), [all.clone(), one.clone()].into());
        selectors.set(one, Vec::new());
        selectors.set(all, vec![(kind.clone(), by_app(None))]);
        assert_eq!(selectors.of(&kind, &web), [all.clone()].into());
        referrers.iter().for_each(|referrer| selectors.set(referrer, Vec::new()));
        assert!(selectors.selectors.is_empty() && selectors.referrers.is_empty());
    }
}
