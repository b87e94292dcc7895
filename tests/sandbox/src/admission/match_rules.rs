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
    /// Returns an object of the request in the version that the rules name.
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
    /// Parses `matchConstraints` of a policy or `matchResources` of a binding; `rules` is the name of the field with the rules.
    pub(crate) fn of(written: &Value, rules: &str) -> Self {
        let listed =
            |key: &str| written[key].as_array().map(|rules| rules.iter().map(MatchRule::of).collect::<Vec<_>>());
        Self {
            rules: listed(rules).filter(|rules| !rules.is_empty()),
            excluded: listed("excludeResourceRules").unwrap_or_default(),
            namespaces: LabelSelector::of_object(&written["namespaceSelector"]),
            objects: LabelSelector::of_object(&written["objectSelector"]),
            equivalent: written["matchPolicy"] != "Exact",
        }
    }

    /// Whether there are rules: a webhook without rules matches nothing.
    pub(crate) fn has_rules(&self) -> bool {
        self.rules.is_some()
    }
}

impl MatchRule {
    pub(super) fn of(written: &Value) -> Self {
        let words = |key: &str| -> Vec<String> {
            written[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            operations: words("operations"),
            groups: words("apiGroups"),
            versions: words("apiVersions"),
            resources: words("resources"),
            namespaced: match written["scope"].as_str() {
                Some("Namespaced") => Some(true),
                Some("Cluster") => Some(false),
                _ => None,
            },
            names: words("resourceNames"),
        }
    }

    /// Whether the rule covers a resource or subresource: `pods`, `pods/status`, `pods/*`, `*/status`, `*` and `*/*`.
    pub(super) fn covers(&self, subresource: Option<&str>, plural: &str) -> bool {
        self.resources.iter().any(|resource| match (resource.split_once('/'), subresource) {
            (None, None) => resource == "*" || resource == plural,
            (None, Some(_)) => false,
            (Some((own, "*")), None) => own == "*" || own == plural,
            (Some(_), None) => false,
            (Some((own, behind)), Some(subresource)) => {
                (own == "*" || own == plural) && (behind == "*" || behind == subresource)
            }
        })
    }
}
