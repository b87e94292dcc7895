//! Matches a write against the rules and selectors of a policy or a webhook.

use serde_json::Value;

use super::{
    match_rules::{MatchRule, MatchRules, MatchedKind},
    review::Review,
};
use crate::{call::selector::LabelSelector, kind::Kind, object};

impl MatchRules {
    /// Returns the matched kind of a write; `None` if the write does not match.
    pub(crate) fn hit(&self, review: &Review<'_>) -> Option<MatchedKind> {
        let own = review.request.kind;
        let hit = match &self.rules {
            None => MatchedKind { kind: own.clone() },
            Some(rules) => self.by_rules(review, rules)?,
        };
        if self.excluded.iter().any(|rule| rule.matches(review, own)) {
            return None;
        }
        (self.selects_namespace(review) && self.selects_object(review)).then_some(hit)
    }

    fn by_rules(&self, review: &Review<'_>, rules: &[MatchRule]) -> Option<MatchedKind> {
        let own = review.request.kind;
        let matches = |kind: &Kind| rules.iter().any(|rule| rule.matches(review, kind));
        if matches(own) {
            return Some(MatchedKind { kind: own.clone() });
        }
        // Cheap checks first: other versions are searched only if a rule may cover this resource.
        if !self.equivalent || !rules.iter().any(|rule| rule.may_cover(review, &own.plural)) {
            return None;
        }
        let others = review.request.server.kinds.all();
        others
            .into_iter()
            .find(|kind| kind.group_resource == own.group_resource && matches(kind))
            .map(|kind| MatchedKind { kind })
    }

    /// Whether the namespace selector matches. It always matches cluster-scoped objects, except Namespaces, to whose
    /// own labels it applies.
    fn selects_namespace(&self, review: &Review<'_>) -> bool {
        if self.namespaces.is_empty() {
            return true;
        }
        let request = review.request;
        if request.kind.namespaced {
            let held = request.server.store.get("namespaces", "", request.namespace);
            return held.is_some_and(|held| self.namespaces.matches(|key| held.label(key)));
        }
        let own = if review.object.is_null() { review.old.as_ref() } else { Some(&review.object) };
        !request.kind.is("", "namespaces") || own.is_some_and(|own| selects(&self.namespaces, own))
    }

    fn selects_object(&self, review: &Review<'_>) -> bool {
        self.objects.is_empty()
            || [Some(&review.object), review.old.as_ref()]
                .into_iter()
                .flatten()
                .any(|one| one.is_object() && selects(&self.objects, one))
    }
}

fn selects(selector: &LabelSelector, object: &Value) -> bool {
    let labels: Vec<(&str, &str)> = object::labels(object).collect();
    selector.matches(|key| labels.iter().find(|(own, _)| *own == key).map(|(_, value)| *value))
}

impl MatchRule {
    fn matches(&self, review: &Review<'_>, kind: &Kind) -> bool {
        let any = |words: &[String], word: &str| words.iter().any(|own| own == "*" || own == word);
        let scoped = self.namespaced.is_none_or(|namespaced| namespaced == kind.namespaced);
        let named = self.names.is_empty() || self.names.iter().any(|name| name == review.known_name());
        any(&self.operations, review.operation.as_str())
            && any(&self.groups, &kind.group)
            && any(&self.versions, &kind.version)
            && scoped
            && named
            && self.covers(review.request.subresource, &kind.plural)
    }

    fn may_cover(&self, review: &Review<'_>, plural: &str) -> bool {
        let operation = review.operation.as_str();
        self.operations.iter().any(|own| own == "*" || own == operation)
            && self.covers(review.request.subresource, plural)
    }
}
