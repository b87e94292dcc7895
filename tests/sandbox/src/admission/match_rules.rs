//! Parses the rules and selectors that determine the writes to which a policy or a webhook applies.

use std::sync::Arc;

use serde_json::Value;

use crate::{call::selector::LabelSelector, kind::Kind};

/// `matchConstraints`, `matchResources`, or the rules and selectors of a webhook.
#[derive(Debug)]
pub(crate) struct MatchRules {
    /// The rules; `None` matches everything, as a binding without rules does.
    pub(super) rules: Option<Vec<MatchRule>>,
    pub(super) excluded: Vec<MatchRule>,
    pub(super) namespaces: LabelSelector,
    pub(super) objects: LabelSelector,
    /// `matchPolicy: Equivalent`: a rule for another version of the same resource matches, too.
    pub(super) equivalent: bool,
}

/// A rule that selects writes by operation, resource, scope and object name.
#[derive(Debug)]
pub(super) struct MatchRule {
    pub(super) operations: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) versions: Vec<String>,
    pub(super) resources: Vec<String>,
    /// Whether the rule matches namespaced or cluster-scoped objects; `None` for both.
    pub(super) namespaced: Option<bool>,
    /// The object names that the rule matches; empty for all.
    pub(super) names: Vec<String>,
}

/// The kind in the version that the rules name.
#[derive(Clone, Debug)]
pub(crate) struct MatchedKind {
    pub(crate) kind: Arc<Kind>,
}

impl MatchedKind {
    /// Returns an object of the request with the `apiVersion` that the rules match. Changes no other field, and no object of a built-in
    /// kind.
    pub(crate) fn in_matched_version(&self, object: &Value) -> Value {
        let mut object = object.clone();
        if let Value::Object(map) = &mut object
            && self.kind.custom().is_some()
        {
            map.insert("apiVersion".into(), self.kind.api_version().into());
        }
        object
    }
}

impl MatchRules {
    /// Parses the rules and selectors of `matchConstraints` of a policy, of `matchResources` of a binding, or of a webhook. `rules_field`
    /// is the name of the field with the rules.
    pub(crate) fn parse(constraints: &Value, rules_field: &str) -> Self {
        let rule_list =
            |key: &str| constraints[key].as_array().map(|rules| rules.iter().map(MatchRule::parse).collect::<Vec<_>>());
        Self {
            rules: rule_list(rules_field).filter(|rules| !rules.is_empty()),
            excluded: rule_list("excludeResourceRules").unwrap_or_default(),
            namespaces: LabelSelector::of_object(&constraints["namespaceSelector"]),
            objects: LabelSelector::of_object(&constraints["objectSelector"]),
            equivalent: constraints["matchPolicy"] != "Exact",
        }
    }

    /// Returns whether there are rules. A webhook without rules matches nothing.
    pub(crate) fn has_rules(&self) -> bool {
        self.rules.is_some()
    }
}

impl MatchRule {
    /// Parses a rule: `NamedRuleWithOperations` of a policy, or `RuleWithOperations` of a webhook.
    pub(super) fn parse(rule: &Value) -> Self {
        let strings = |key: &str| -> Vec<String> {
            rule[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            operations: strings("operations"),
            groups: strings("apiGroups"),
            versions: strings("apiVersions"),
            resources: strings("resources"),
            namespaced: match rule["scope"].as_str() {
                Some("Namespaced") => Some(true),
                Some("Cluster") => Some(false),
                _ => None,
            },
            names: strings("resourceNames"),
        }
    }

    /// Returns whether the rule covers a resource or subresource. A rule can list `pods`, `pods/status`, `pods/*`, `*/status`, `*` (no
    /// subresources) and `*/*`.
    pub(super) fn covers(&self, subresource: Option<&str>, plural: &str) -> bool {
        self.resources.iter().any(|resource| match (resource.split_once('/'), subresource) {
            (None, None) => resource == "*" || resource == plural,
            (None, Some(_)) => false,
            (Some((listed, "*")), None) => listed == "*" || listed == plural,
            (Some(_), None) => false,
            (Some((listed, listed_subresource)), Some(subresource)) => {
                (listed == "*" || listed == plural) && (listed_subresource == "*" || listed_subresource == subresource)
            }
        })
    }
}
