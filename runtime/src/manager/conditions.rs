//! Refuses two controllers that write the same conditions of one object.
//!
//! The controllers of one operator are compared by their options, at start. A controller of another operator is recognised on the
//! objects themselves: by its finalizer, and by the conditions that its field manager `<operator>/status` owns.

use super::operator::Operator;
use crate::{
    cache::{Header, ObjectKey},
    client::{Client, Target},
    condition,
    controller::{factory::Factory, worker::Running},
    informer::source::Selection,
    kind::Kind,
};
use serde_json::Value;
use std::sync::Arc;

/// How many objects with a finalizer of another operator are read at the start of a controller.
const LOOKED_AT: usize = 3;

/// Why a controller can't have the conditions that it would write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionsError {
    /// Two controllers of the operator write the same conditions, and may work on the same object.
    #[error(
        "two controllers of {kind} write the condition {condition} of the same objects; give one of them a `condition_prefix`, or \
         each a selection that excludes the other's"
    )]
    Shared {
        /// The kind.
        kind: Kind,
        /// One of the condition types.
        condition: String,
    },
    /// Another operator writes the same conditions of an object, and has its finalizer on it.
    #[error(
        "operator {operator} writes the condition {condition} of {kind} {object}, too; give this controller a \
         `condition_prefix`, or if {operator} is gone, remove its finalizer"
    )]
    OfOther {
        /// The kind.
        kind: Kind,
        /// The object, with its namespace.
        object: String,
        /// One of the condition types.
        condition: String,
        /// The other operator.
        operator: String,
    },
    /// A prefix makes no valid condition type.
    #[error(
        "condition prefix {prefix:?} of a controller of {kind} is invalid: use letters and digits, perhaps after a domain and a slash"
    )]
    Prefix {
        /// The kind.
        kind: Kind,
        /// The prefix.
        prefix: String,
    },
}

impl Operator {
    /// # Errors
    /// If a prefix makes no condition type, or two controllers of a kind have the same one and may work on the same object.
    pub(super) fn check_conditions(&self) -> Result<(), Box<ConditionsError>> {
        let factories: Vec<&Arc<dyn Factory>> =
            self.factories.iter().filter(|factory| factory.crd().is_some()).collect();
        for (at, factory) in factories.iter().enumerate() {
            let (kind, settings) = (factory.kind(), factory.settings());
            let prefix = &settings.condition_prefix;
            if !condition::is_type(&format!("{prefix}Available")) {
                return Err(Box::new(ConditionsError::Prefix { kind, prefix: prefix.clone() }));
            }
            let clashes = |other: &&&Arc<dyn Factory>| {
                other.kind() == kind
                    && other.settings().condition_prefix == *prefix
                    && may_overlap(&other.settings().selection, &settings.selection)
            };
            if factories[..at].iter().any(|other| clashes(&other)) {
                let condition = format!("{prefix}Available");
                return Err(Box::new(ConditionsError::Shared { kind, condition }));
            }
        }
        Ok(())
    }
}

/// Looks whether another operator writes the conditions of the objects that are there. Only objects with a finalizer of another
/// operator are read: without any there is no call.
///
/// # Errors
/// If one does.
pub(super) async fn check_stored(
    client: &Client,
    operator: &str,
    controller: &Running,
    controllers: &[Arc<Running>],
) -> Result<(), Box<ConditionsError>> {
    // Installs beside one another hand objects over, each with the finalizer of the one before for a while.
    if !controller.inner.reconciler.owns_status() || controller.inner.source.selects() {
        return Ok(());
    }
    let (kind, prefix) = (controller.inner.source.kind(), &controller.inner.condition_prefix);
    let own: Vec<&str> = controllers.iter().map(|other| other.inner.finalizer.as_str()).collect();
    let entries = controller.inner.source.objects().store().entries().into_iter();
    let shared = entries.filter(|entry| is_shared(&entry.header, &kind.group, &own));
    let keys: Vec<ObjectKey> = shared.take(LOOKED_AT).map(|entry| entry.header.key.clone()).collect();
    for key in keys {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        // The role may have no right to read a single one.
        let object = match client.list_named(target).await {
            Ok(object) => object,
            Err(error) => {
                tracing::warn!(%kind, object = %key, %error, "failed to read who writes the conditions");
                continue;
            }
        };
        let condition = format!("{prefix}Available");
        if let Some(other) = object.and_then(|object| writer(&object, operator, &condition)) {
            let (kind, object) = (kind.clone(), key.to_string());
            return Err(Box::new(ConditionsError::OfOther { kind, object, condition, operator: other }));
        }
    }
    Ok(())
}

/// Whether another operator of the kind's group has a finalizer on an object.
fn is_shared(header: &Header, group: &str, own: &[&str]) -> bool {
    let of_group = |finalizer: &str| finalizer.split_once('/').is_some_and(|(domain, _)| domain == group);
    header.finalizers.iter().any(|finalizer| of_group(finalizer) && !own.contains(&finalizer))
}

/// The other operator that writes a condition of an object.
fn writer(object: &Value, operator: &str, condition: &str) -> Option<String> {
    let path = ["f:status", "f:conditions", &format!("k:{{\"type\":\"{condition}\"}}")];
    let entries = object["metadata"]["managedFields"].as_array()?;
    let others = entries.iter().filter(|entry| entry["subresource"] == "status");
    let mut owners = others.filter(|entry| path.iter().fold(&entry["fieldsV1"], |at, step| &at[*step]).is_object());
    let other = |entry: &Value| Some(entry["manager"].as_str()?.strip_suffix("/status")?.to_owned());
    owners.find_map(|entry| other(entry).filter(|other| other != operator))
}

/// Whether an object may be selected by both: nothing that one asks for contradicts what the other does.
fn may_overlap(one: &Selection, other: &Selection) -> bool {
    let contradicts = |value: Option<&String>, wanted: &String| value.is_some_and(|value| value != wanted);
    let labels = one.labels.iter().any(|(name, value)| contradicts(other.labels.get(name), value));
    let fields = one.fields.iter().any(|(path, value)| contradicts(other.fields.get(path), value));
    !labels && !fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn who_else_applies_a_condition_is_found_by_the_ownership_of_fields() {
        let entry = |manager: &str, operation: &str, condition: &str| {
            let fields = json!({"f:status": {"f:conditions": {format!("k:{{\"type\":\"{condition}\"}}"): {".": {}}}}});
            json!({"manager": manager, "operation": operation, "subresource": "status", "fieldsV1": fields})
        };
        let writer = |entries: Value| writer(&json!({"metadata": {"managedFields": entries}}), "shop", "Available");
        let (own, other) = (entry("shop/status", "Apply", "Available"), entry("dns/status", "Apply", "Available"));
        assert_eq!(writer(json!([own, other])), Some("dns".to_owned()));
        assert_eq!(writer(json!([own])), None);
        assert_eq!(writer(json!([entry("dns/status", "Apply", "DnsAvailable")])), None);
        // A person's edit is none of an operator's.
        assert_eq!(writer(json!([entry("kubectl-edit", "Update", "Available")])), None);
        assert_eq!(writer(json!([])), None);
    }

    #[test]
    fn only_selections_that_contradict_each_other_have_no_object_in_common() {
        let selection = |labels: &[(&str, &str)], fields: &[(&str, &str)]| {
            let owned = |pairs: &[(&str, &str)]| {
                pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
            };
            Selection { labels: owned(labels), fields: owned(fields) }
        };
        let (a, b) = (selection(&[("class", "a")], &[]), selection(&[("class", "b")], &[]));
        assert!(!may_overlap(&a, &b) && may_overlap(&a, &a) && may_overlap(&a, &Selection::default()));
        assert!(may_overlap(&a, &selection(&[("team", "b")], &[])));
        let (one, two) = (selection(&[], &[("spec.class", "a")]), selection(&[], &[("spec.class", "b")]));
        assert!(!may_overlap(&one, &two) && may_overlap(&one, &a));
    }
}
