//! Matches a write against the rules and selectors of a policy or a webhook.

use serde_json::Value;

use super::{
    match_rules::{MatchRule, MatchRules, MatchedKind},
    review::Review,
};
use crate::{call::selector::LabelSelector, kind::Kind, object};

impl MatchRules {
    /// Returns the kind in the version that the rules match. Returns `None` if no rule matches the write, an excluded rule matches it, or a
    /// selector does not match.
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

    /// Returns the kind of the request if a rule matches it. With `matchPolicy: Equivalent`, returns another version of the resource if a
    /// rule matches only that version. Returns `None` if no rule matches.
    fn kind_matched_by_rules(&self, review: &Review<'_>, rules: &[MatchRule]) -> Option<MatchedKind> {
        let requested = review.request.kind;
        let matches = |kind: &Kind| rules.iter().any(|rule| rule.matches(review, kind));
        if matches(requested) {
            return Some(MatchedKind { kind: requested.clone() });
        }
        // Avoids the search through the other versions if no rule can cover the resource.
        if !self.equivalent || !rules.iter().any(|rule| rule.may_cover(review, &requested.plural)) {
            return None;
        }
        let others = review.request.server.kinds.all();
        others
            .into_iter()
            .find(|kind| kind.group_resource == requested.group_resource && matches(kind))
            .map(|kind| MatchedKind { kind })
    }

    /// Returns whether the namespace selector matches the namespace of the write. The selector applies to the labels of a Namespace that is
    /// written itself, and always matches other cluster-scoped objects.
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

    /// Returns whether the object selector matches the labels of the new or the old object.
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
    /// Returns whether the rule matches the operation, the object and the subresource of the write, and the group, version and scope of
    /// `kind`, which may be another version of the resource than the request names.
    fn matches(&self, review: &Review<'_>, kind: &Kind) -> bool {
        let includes = |values: &[String], value: &str| values.iter().any(|listed| listed == "*" || listed == value);
        let scope_matches = self.namespaced.is_none_or(|namespaced| namespaced == kind.namespaced);
        let name_matches = self.names.is_empty() || self.names.iter().any(|name| name == review.known_name());
        includes(&self.operations, review.operation.as_str())
            && includes(&self.groups, &kind.group)
            && includes(&self.versions, &kind.version)
            && scope_matches
            && name_matches
            && self.covers(review.request.subresource, &kind.plural)
    }

    /// Returns whether the rule matches the operation, the resource and the subresource of the write, regardless of its group and version.
    fn may_cover(&self, review: &Review<'_>, plural: &str) -> bool {
        let operation = review.operation.as_str();
        self.operations.iter().any(|listed| listed == "*" || listed == operation)
            && self.covers(review.request.subresource, plural)
    }
}
