//! Computes the resource requests and limits of a Pod.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{object, quantity::Quantity};

/// Amounts by resource name.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

/// Parses a resource list such as `requests`. Omits invalid quantities.
pub(crate) fn amounts(list: &Value) -> Amounts {
    let entries = list.as_object().into_iter().flatten();
    entries.filter_map(|(name, value)| Some((name.clone(), Quantity::of_value(value)?))).collect()
}

/// Returns the containers in a list of the Pod's spec, such as `initContainers`.
pub(crate) fn containers<'a>(pod: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    object::at(pod, &["spec", list]).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the total `requests` or `limits` (`field`) of a Pod, like `PodRequests` and `PodLimits` of kube-apiserver: the sum over the
/// containers, or the highest amount while an init container runs if that is higher. Amounts in the resources of the Pod itself replace
/// these totals, and the overhead of the Pod is added.
pub(crate) fn pod_total(pod: &Value, field: &str) -> Amounts {
    let mut sum = Amounts::new();
    for container in containers(pod, "containers") {
        add(&mut sum, &amounts(&container["resources"][field]));
    }
    // A restartable init container (sidecar) keeps running next to the others.
    let mut sidecars = Amounts::new();
    let mut init_maximum = Amounts::new();
    for container in containers(pod, "initContainers") {
        let container_amounts = amounts(&container["resources"][field]);
        let mut during_init = sidecars.clone();
        add(&mut during_init, &container_amounts);
        if container["restartPolicy"] == "Always" {
            add(&mut sidecars, &container_amounts);
            add(&mut sum, &container_amounts);
        }
        raise_to(&mut init_maximum, &during_init);
    }
    raise_to(&mut sum, &init_maximum);
    let pod_level = amounts(&pod["spec"]["resources"][field]);
    sum.extend(pod_level);
    add(&mut sum, &amounts(&pod["spec"]["overhead"]));
    sum
}

/// Adds the amounts of `more` to `sum`, by resource name.
pub(crate) fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        sum.entry(name.clone()).and_modify(|current| *current = current.plus(*amount)).or_insert(*amount);
    }
}

/// Raises each amount in `sum` to the amount in `other` if the latter is higher.
fn raise_to(sum: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let current = sum.entry(name.clone()).or_insert(*amount);
        if *amount > *current {
            *current = *amount;
        }
    }
}
