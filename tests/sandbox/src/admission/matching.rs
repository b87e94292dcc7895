//! Which writes a policy or a webhook is about.

use std::sync::Arc;

use serde_json::Value;

use super::Review;
use crate::{call::selector::LabelSelector, kind::Kind, object};

/// `matchConstraints`, `matchResources`, or the rules and selectors of a webhook.
#[derive(Debug)]
pub(crate) struct Matching {
    /// `None` matches all, as a binding without rules does.
    rules: Option<Vec<Rule>>,
    excluded: Vec<Rule>,
    namespaces: LabelSelector,
    objects: LabelSelector,
    /// Whether a rule for another version of the same resource will do.
    equivalent: bool,
}

#[derive(Debug)]
struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    resources: Vec<String>,
    /// `None` for any.
    namespaced: Option<bool>,
    /// Empty for any.
    names: Vec<String>,
}

/// The kind in the version that the rules are about.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) kind: Arc<Kind>,
}

impl Matching {
    /// Of a policy's `matchConstraints` or a binding's `matchResources`; `rules` is the field that holds the rules.
    pub(crate) fn of(written: &Value, rules: &str) -> Self {
        let listed = |key: &str| written[key].as_array().map(|rules| rules.iter().map(Rule::of).collect::<Vec<_>>());
        Self {
            rules: listed(rules).filter(|rules| !rules.is_empty()),
            excluded: listed("excludeResourceRules").unwrap_or_default(),
            namespaces: LabelSelector::of_object(&written["namespaceSelector"]),
            objects: LabelSelector::of_object(&written["objectSelector"]),
            equivalent: written["matchPolicy"] != "Exact",
        }
    }

    /// Whether anything is named at all: a webhook without rules is about nothing.
    pub(crate) fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// The kind as which it matches a write, or `None`.
    pub(crate) fn hit(&self, review: &Review<'_>) -> Option<Hit> {
        let own = review.asked.kind;
        let hit = match &self.rules {
            None => Hit { kind: own.clone() },
            Some(rules) => self.by_rules(review, rules)?,
        };
        if self.excluded.iter().any(|rule| rule.matches(review, own)) {
            return None;
        }
        (self.selects_namespace(review) && self.selects_object(review)).then_some(hit)
    }

    fn by_rules(&self, review: &Review<'_>, rules: &[Rule]) -> Option<Hit> {
        let own = review.asked.kind;
        let matches = |kind: &Kind| rules.iter().any(|rule| rule.matches(review, kind));
        if matches(own) {
            return Some(Hit { kind: own.clone() });
        }
        // Cheap before dear: another version is looked for only where the rules may mean this resource.
        if !self.equivalent || !rules.iter().any(|rule| rule.may_mean(review, &own.plural)) {
            return None;
        }
        let others = review.asked.server.kinds.all();
        others.into_iter().find(|kind| kind.shelf == own.shelf && matches(kind)).map(|kind| Hit { kind })
    }

    /// What is in no namespace is selected, but a namespace is by its own labels.
    fn selects_namespace(&self, review: &Review<'_>) -> bool {
        if self.namespaces.is_empty() {
            return true;
        }
        let asked = review.asked;
        if asked.kind.namespaced {
            let held = asked.server.store.get("namespaces", "", asked.namespace);
            return held.is_some_and(|held| self.namespaces.matches(|key| held.label(key)));
        }
        let own = if review.object.is_null() { review.old.as_ref() } else { Some(&review.object) };
        !asked.kind.is("", "namespaces") || own.is_some_and(|own| selects(&self.namespaces, own))
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

impl Rule {
    fn of(written: &Value) -> Self {
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

    fn matches(&self, review: &Review<'_>, kind: &Kind) -> bool {
        let any = |words: &[String], word: &str| words.iter().any(|own| own == "*" || own == word);
        let scoped = self.namespaced.is_none_or(|namespaced| namespaced == kind.namespaced);
        let named = self.names.is_empty() || self.names.iter().any(|name| name == review.known_name());
        any(&self.operations, review.operation.as_str())
            && any(&self.groups, &kind.group)
            && any(&self.versions, &kind.version)
            && scoped
            && named
            && self.means(review.asked.subresource, &kind.plural)
    }

    fn may_mean(&self, review: &Review<'_>, plural: &str) -> bool {
        let operation = review.operation.as_str();
        self.operations.iter().any(|own| own == "*" || own == operation) && self.means(review.asked.subresource, plural)
    }

    /// `pods`, `pods/status`, `pods/*`, `*/status`, `*` and `*/*`.
    fn means(&self, subresource: Option<&str>, plural: &str) -> bool {
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
