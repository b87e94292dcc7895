//! Computes the resource requests and limits of a Pod.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{object, quantity::Quantity};

/// Amounts by resource name.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

/// Parses a resource list.
pub(crate) fn amounts(list: &Value) -> Amounts {
    let entries = list.as_object().into_iter().flatten();
    entries.filter_map(|(name, value)| Some((name.clone(), Quantity::of_value(value)?))).collect()
}

/// Returns the containers in a list of the spec.
pub(crate) fn containers<'a>(pod: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    object::at(pod, &["spec", list]).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the total of a Pod: the sum of the containers, or the amount of an init container if that is higher. `side`
/// is `requests` or `limits`.
pub(crate) fn of_pod(pod: &Value, side: &str) -> Amounts {
    let mut sum = Amounts::new();
    for container in containers(pod, "containers") {
        add(&mut sum, &amounts(&container["resources"][side]));
    }
    // A restartable init container keeps running next to the others.
    let mut beside = Amounts::new();
    let mut highest = Amounts::new();
    for container in containers(pod, "initContainers") {
        let own = amounts(&container["resources"][side]);
        let mut then = beside.clone();
        add(&mut then, &own);
        if container["restartPolicy"] == "Always" {
            add(&mut beside, &own);
            add(&mut sum, &own);
        }
        raise(&mut highest, &then);
    }
    raise(&mut sum, &highest);
    let whole = amounts(&pod["spec"]["resources"][side]);
    sum.extend(whole);
    add(&mut sum, &amounts(&pod["spec"]["overhead"]));
    sum
}

pub(crate) fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        sum.entry(name.clone()).and_modify(|held| *held = held.plus(*amount)).or_insert(*amount);
    }
}

fn raise(sum: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let held = sum.entry(name.clone()).or_insert(*amount);
        if *amount > *held {
            *held = *amount;
        }
    }
}
