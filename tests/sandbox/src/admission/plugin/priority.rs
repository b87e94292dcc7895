//! Implements `Priority`: resolves the priority class of a Pod, and allows only one default class.

use serde_json::Value;

use super::lookup::{stored_object, stored_objects};
use crate::{
    admission::{Operation, Review},
    failure::Failure,
    object,
};

const GROUP_RESOURCE: &str = "priorityclasses.scheduling.k8s.io";

/// The values that a Pod gets from its priority class.
struct Priority {
    class: String,
    value: i64,
    preemption: String,
}

/// Sets the priority, preemption policy and class name of a new Pod from its PriorityClass, and rejects a Pod that sets other values
/// itself. Keeps the values of an existing Pod in an update that omits them.
pub(crate) fn mutate(review: &mut Review<'_>) -> Result<(), Failure> {
    if review.writes(Operation::Update, "", "pods") {
        keep_priority(review);
    }
    if !review.writes(Operation::Create, "", "pods") {
        return Ok(());
    }
    let class = object::text(&review.object, &["spec", "priorityClassName"]);
    let priority = if class.is_empty() { default_priority(review) } else { named_priority(review, class)? };
    let pod_priority = object::number(&review.object, &["spec", "priority"]);
    if let Some(pod_priority) = pod_priority.filter(|pod_priority| *pod_priority != priority.value) {
        return Err(review.forbidden(&format!(
            "the integer value of priority ({pod_priority}) must not be provided in pod spec; priority admission controller \
             computed {} from the given PriorityClass name",
            priority.value
        )));
    }
    let policy = object::text(&review.object, &["spec", "preemptionPolicy"]);
    if !policy.is_empty() && policy != priority.preemption {
        return Err(review.forbidden(&format!(
            "the string value of PreemptionPolicy ({policy}) must not be provided in pod spec; priority admission \
             controller computed {} from the given PriorityClass name",
            priority.preemption
        )));
    }
    let spec = object::map_at(&mut review.object, &["spec"]);
    if !priority.class.is_empty() {
        spec.insert("priorityClassName".into(), priority.class.into());
    }
    spec.insert("priority".into(), priority.value.into());
    spec.insert("preemptionPolicy".into(), priority.preemption.into());
    Ok(())
}

/// Copies the priority and preemption policy of an existing Pod into an update that omits them.
fn keep_priority(review: &mut Review<'_>) {
    let Some(old) = &review.old else { return };
    for field in ["priority", "preemptionPolicy"] {
        let old_value = object::at(old, &["spec", field]).cloned();
        if let Some(old_value) = old_value.filter(|_| object::at(&review.object, &["spec", field]).is_none()) {
            object::map_at(&mut review.object, &["spec"]).insert(field.into(), old_value);
        }
    }
}

/// Rejects a PriorityClass with `globalDefault` if another PriorityClass is already the default.
pub(crate) fn validate(review: &Review<'_>) -> Result<(), Failure> {
    let written = matches!(review.operation, Operation::Create | Operation::Update);
    if !written || !review.request.kind.is("scheduling.k8s.io", "priorityclasses") {
        return Ok(());
    }
    if review.object["globalDefault"] != true {
        return Ok(());
    }
    let other = |class: &&Value| class["globalDefault"] == true && object::name(class) != review.name();
    match stored_objects(review.request.server, GROUP_RESOURCE, None).iter().find(other) {
        Some(other) => Err(review.forbidden(&format!(
            "PriorityClass {} is already marked as default. Only one default can exist",
            object::name(other)
        ))),
        None => Ok(()),
    }
}

/// Returns the priority of the class that a Pod names. Returns a 403 error if the class does not exist.
fn named_priority(review: &Review<'_>, class: &str) -> Result<Priority, Failure> {
    // The two system classes always exist.
    let system_value = match class {
        "system-node-critical" => Some(2_000_001_000),
        "system-cluster-critical" => Some(2_000_000_000),
        _ => None,
    };
    match (stored_object(review.request.server, GROUP_RESOURCE, "", class), system_value) {
        (Some(stored), _) => Ok(priority_of_class(&stored)),
        (None, Some(system_value)) => {
            Ok(Priority { class: class.to_owned(), value: system_value, preemption: "PreemptLowerPriority".to_owned() })
        }
        (None, None) => Err(review.forbidden(&format!("no PriorityClass with name {class} was found"))),
    }
}

/// Returns the priority of the default class, or priority 0 without a class if there is none.
fn default_priority(review: &Review<'_>) -> Priority {
    let classes = stored_objects(review.request.server, GROUP_RESOURCE, None);
    let defaults = classes.iter().filter(|class| class["globalDefault"] == true);
    // If several classes are marked as the default, the API server also uses the lowest value.
    let lowest = defaults.min_by_key(|class| object::number(class, &["value"]));
    lowest.map_or_else(
        || Priority { class: String::new(), value: 0, preemption: "PreemptLowerPriority".into() },
        priority_of_class,
    )
}

/// Returns the values that a PriorityClass gives to its Pods.
fn priority_of_class(class: &Value) -> Priority {
    let preemption = class["preemptionPolicy"].as_str().unwrap_or("PreemptLowerPriority");
    Priority {
        class: object::name(class).to_owned(),
        value: object::number(class, &["value"]).unwrap_or(0),
        preemption: preemption.to_owned(),
    }
}
