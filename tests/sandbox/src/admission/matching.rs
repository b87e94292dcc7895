//! Matches a write against the rules and selectors of a policy or a webhook.

use serde_json::Value;

use super::{
    match_rules::{MatchRule, MatchRules, MatchedKind},
    review::Review,
};
use crate::{call::selector::LabelSelector, kind::Kind, object};

impl MatchRules {
    /// Returns the kind in the version that the rules match; `None` if the write does not match the rules, the excluded
    /// rules or the selectors.
    pub(crate) fn matched_kind(&self, review: &Review<'_>) -> Option<MatchedKind> {
        let kind = review.request.kind;
        let matched = match &self.rules {
            None => MatchedKind { kind: kind.clone() },
            Some(rules) => self.kind_matched_by_rules(review, rules)?,
        };
        if self.excluded.iter().any(|rule| rule.matches(review, kind)) {
            return None;
        }
        (self.selects_namespace(review) && self.selects_object(review)).then_some(matched)
    }

    /// Returns the kind of the request if a rule matches it, or, with `matchPolicy: Equivalent`, another version of the
    /// same resource that a rule matches. Returns `None` if no rule matches.
    fn kind_matched_by_rules(&self, review: &Review<'_>, rules: &[MatchRule]) -> Option<MatchedKind> {
        let requested = review.request.kind;
        let matches = |kind: &Kind| rules.iter().any(|rule| rule.matches(review, kind));
        if matches(requested) {
            return Some(MatchedKind { kind: requested.clone() });
        }
        // Cheap checks first: other versions are searched only if a rule may cover this resource.
        if !self.equivalent || !rules.iter().any(|rule| rule.may_cover(review, &requested.plural)) {
            return None;
        }
        let others = review.request.server.kinds.all();
        others
            .into_iter()
            .find(|kind| kind.group_resource == requested.group_resource && matches(kind))
            .map(|kind| MatchedKind { kind })
    }

    /// Returns whether the namespace selector matches the namespace of the write. For a Namespace, the selector applies
    /// to its own labels; it always matches other cluster-scoped objects.
    fn selects_namespace(&self, review: &Review<'_>) -> bool {
        if self.namespaces.is_empty() {
            return true;
        }
        let request = review.request;
        if request.kind.namespaced {
            let namespace = request.server.store.get("namespaces", "", request.namespace);
            return namespace.is_some_and(|namespace| self.namespaces.matches(|key| namespace.label(key)));
        }
        let object = if review.object.is_null() { review.old.as_ref() } else { Some(&review.object) };
        !request.kind.is("", "namespaces") || object.is_some_and(|object| selects(&self.namespaces, object))
    }

    /// Returns whether the object selector matches the new or the old object.
    fn selects_object(&self, review: &Review<'_>) -> bool {
        self.objects.is_empty()
            || [Some(&review.object), review.old.as_ref()]
                .into_iter()
                .flatten()
                .any(|object| object.is_object() && selects(&self.objects, object))
    }
}

/// Returns whether a label selector matches the labels of an object.
fn selects(selector: &LabelSelector, object: &Value) -> bool {
    let labels: Vec<(&str, &str)> = object::labels(object).collect();
    selector.matches(|key| labels.iter().find(|(label, _)| *label == key).map(|(_, value)| *value))
}

impl MatchRule {
    /// Returns whether the rule matches the write, with `kind` as the resource, which may be another version than the
    /// request names.
    fn matches(&self, review: &Review<'_>, kind: &Kind) -> bool {
        let lists = |values: &[String], value: &str| values.iter().any(|listed| listed == "*" || listed == value);
        let scope_matches = self.namespaced.is_none_or(|namespaced| namespaced == kind.namespaced);
        let name_matches = self.names.is_empty() || self.names.iter().any(|name| name == review.known_name());
        lists(&self.operations, review.operation.as_str())
            && lists(&self.groups, &kind.group)
            && lists(&self.versions, &kind.version)
            && scope_matches
            && name_matches
            && self.covers(review.request.subresource, &kind.plural)
    }

    /// Returns whether the rule matches the operation and the resource of the write, regardless of the group and
    /// version.
    fn may_cover(&self, review: &Review<'_>, plural: &str) -> bool {
        let operation = review.operation.as_str();
        self.operations.iter().any(|listed| listed == "*" || listed == operation)
            && self.covers(review.request.subresource, plural)
    }
}
