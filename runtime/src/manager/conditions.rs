//! Refuses to run two controllers that write the same conditions of one object.
//!
//! # Controllers of one operator
//! They are compared by their options when the operator starts. A compile error is not possible: prefixes and selections are values
//! that the methods of the builder get at run time. (`operator!`, which knows the kinds, refuses one that is listed twice.)
//!
//! # Controllers of other operators
//! They are recognised on the objects: by their finalizers, and by the conditions that their field managers `<operator>/status` own.
//! - A controller does not start if another operator writes its conditions of a stored object.
//! - Two operators that start before there is an object find out when they share one. Each that finds out logs an error, once. It is not
//!   stopped, since then nobody might reconcile the objects, but it does not start again.
//!
//! Controllers with selectors are not checked, because installations with selectors hand objects over: the finalizer of the earlier one
//! stays on the object for a while.

use super::operator::Operator;
use crate::{
    cache::ObjectKey,
    client::{Client, Target},
    controller::{factory::Factory, worker::RunningController},
    error::ErrorChain,
    informer::source::Selection,
    kind::Kind,
    reconcile::other_operators::has_finalizer_of_other,
};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// The maximum number of objects with a finalizer of another operator that one check reads.
const MAX_CHECKED_OBJECTS: usize = 3;

/// The time from the finalizer of another operator on an object to the check of its conditions, which that operator writes later.
const CHECK_DELAY: Duration = Duration::from_secs(10);

/// The minimum time between two checks while a controller runs. Operators with different conditions may share objects for ever.
const CHECK_INTERVAL: Duration = Duration::from_secs(600);

/// The reason why a controller may not write its conditions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionsError {
    /// Two controllers of the operator write the same conditions, and may control the same object.
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
    /// Another operator writes the same conditions of an object, and its finalizer is on the object.
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
    /// The condition prefix does not result in a valid condition type.
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
    /// Checks that the condition prefix of each controller is valid, and that no two controllers of this operator write the same
    /// conditions of an object. Controllers of foreign kinds are left out, since they write no status.
    ///
    /// # Errors
    /// Fails if a prefix is invalid, or if two controllers of a kind have the same prefix and may select the same object.
    pub(super) fn check_conditions(&self) -> Result<(), Box<ConditionsError>> {
        let factories: Vec<&Arc<dyn Factory>> =
            self.factories.iter().filter(|factory| factory.crd().is_some()).collect();
        for (index, factory) in factories.iter().enumerate() {
            let (kind, settings) = (factory.kind(), factory.settings());
            let prefix = &settings.condition_prefix;
            if !opgen_api::__private::is_type(&format!("{prefix}Available")) {
                return Err(Box::new(ConditionsError::Prefix { kind, prefix: prefix.clone() }));
            }
            let clashes = |other: &&&Arc<dyn Factory>| {
                other.kind() == kind
                    && other.settings().condition_prefix == *prefix
                    && may_overlap(&other.settings().selection, &settings.selection)
            };
            // Each controller is compared with the earlier ones, so that each pair is compared once.
            if factories[..index].iter().any(|other| clashes(&other)) {
                let condition = format!("{prefix}Available");
                return Err(Box::new(ConditionsError::Shared { kind, condition }));
            }
        }
        Ok(())
    }
}

/// Checks whether another operator writes the conditions of the stored objects: at the start of a controller, and while it runs.
#[derive(Clone)]
pub(super) struct StoredConditionsCheck {
    pub(super) client: Client,
    /// The name of this operator.
    pub(super) operator: String,
    /// All controllers of this operator.
    pub(super) controllers: Vec<Arc<RunningController>>,
}

impl StoredConditionsCheck {
    /// Checks that no other operator writes the conditions of a controller's objects. It reads at most [`MAX_CHECKED_OBJECTS`] objects
    /// whose cached state has a finalizer of another operator, and looks at the field managers of their status. So usually it sends no
    /// request.
    ///
    /// # Errors
    /// Fails if another operator writes the same conditions.
    pub(super) async fn run(&self, controller: &RunningController) -> Result<(), Box<ConditionsError>> {
        let control_loop = &controller.control_loop;
        if !is_checked(controller) {
            return Ok(());
        }
        let (kind, prefix) = (control_loop.source.kind(), &control_loop.condition_prefix);
        let own_finalizers: Vec<&str> =
            self.controllers.iter().map(|other| other.control_loop.finalizer.as_str()).collect();
        let entries = control_loop.source.objects().store().entries().into_iter();
        let suspects = entries.filter(|entry| has_finalizer_of_other(&entry.header, &kind.group, &own_finalizers));
        let keys: Vec<ObjectKey> = suspects.take(MAX_CHECKED_OBJECTS).map(|entry| entry.header.key.clone()).collect();
        for key in keys {
            let target = Target { kind, namespace: key.namespace(), name: key.name() };
            // A list with a field selector: the role may not grant `get`.
            let object = match self.client.list_named(target).await {
                Ok(object) => object,
                Err(error) => {
                    let error = ErrorChain(&error);
                    tracing::warn!(%kind, object = %key, %error, "failed to read the writers of the conditions");
                    continue;
                }
            };
            let condition = format!("{prefix}Available");
            if let Some(other) = object.and_then(|object| other_writer(&object, &self.operator, &condition)) {
                let (kind, object) = (kind.clone(), key.to_string());
                return Err(Box::new(ConditionsError::OfOther { kind, object, condition, operator: other }));
            }
        }
        Ok(())
    }

    /// Repeats the check whenever an object with a finalizer of another operator has appeared. Returns after the first check that fails,
    /// with an error in the log, and at once for a controller whose conditions are not checked.
    pub(super) async fn repeat(&self, controller: &RunningController) {
        while is_checked(controller) {
            controller.control_loop.wait_for_other_operator().await;
            tokio::time::sleep(CHECK_DELAY).await;
            if let Err(error) = self.run(controller).await {
                let kind = controller.control_loop.source.kind();
                tracing::error!(%kind, %error, "another operator writes the same conditions; this operator will refuse its next start");
                return;
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    }
}

/// Returns whether the conditions of a controller are compared with those of other operators. Neither a controller of a foreign kind is
/// checked, since it writes no status, nor one with a selector, since installations with selectors hand objects over to each other.
fn is_checked(controller: &RunningController) -> bool {
    let control_loop = &controller.control_loop;
    control_loop.reconciler.owns_status() && !control_loop.source.has_selector()
}

/// Returns the name of an operator other than `operator` that writes a condition of an object; `None` if there is none. It is found in
/// `metadata.managedFields`: an entry for the status that owns the condition and has the manager `<operator>/status`.
fn other_writer(object: &Value, operator: &str, condition: &str) -> Option<String> {
    let path = ["f:status", "f:conditions", &format!("k:{{\"type\":\"{condition}\"}}")];
    let entries = object["metadata"]["managedFields"].as_array()?;
    let status_entries = entries.iter().filter(|entry| entry["subresource"] == "status");
    let owns_condition = |entry: &&Value| path.iter().fold(&entry["fieldsV1"], |set, name| &set[*name]).is_object();
    let operator_of = |entry: &Value| Some(entry["manager"].as_str()?.strip_suffix("/status")?.to_owned());
    status_entries.filter(owns_condition).find_map(|entry| operator_of(entry).filter(|other| other != operator))
}

/// Returns whether an object can match two selections, which is impossible only if they require different values of the same label or of
/// the same field.
fn may_overlap(one: &Selection, other: &Selection) -> bool {
    let contradicts = |value: Option<&String>, required: &String| value.is_some_and(|value| value != required);
    let labels_differ = one.labels.iter().any(|(name, value)| contradicts(other.labels.get(name), value));
    let fields_differ = one.fields.iter().any(|(path, value)| contradicts(other.fields.get(path), value));
    !labels_differ && !fields_differ
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
        let writer =
            |entries: Value| other_writer(&json!({"metadata": {"managedFields": entries}}), "shop", "Available");
        let (own, other) = (entry("shop/status", "Apply", "Available"), entry("dns/status", "Apply", "Available"));
        assert_eq!(writer(json!([own, other])), Some("dns".to_owned()));
        assert_eq!(writer(json!([own])), None);
        assert_eq!(writer(json!([entry("dns/status", "Apply", "DnsAvailable")])), None);
        // `kubectl edit` has a manager without the suffix `/status`, so it is no operator.
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
