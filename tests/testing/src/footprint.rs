//! `Footprint`: the namespaces and common labels of an operator's objects. The test puts objects of other clients there, which the operator
//! must not touch.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::snapshot::{Entry, Snapshot};

/// A namespace that has only foreign objects.
pub(crate) const FOREIGN_NAMESPACE: &str = "of-somebody-else";

/// How many sets of labels foreign objects get at most.
const MAX_LABEL_SETS: usize = 3;

/// Labels that applications of any vendor have.
const COMMON_KEYS: [&str; 6] = ["app", "component", "k8s-app", "release", "role", "tier"];
const RECOMMENDED_PREFIX: &str = "app.kubernetes.io/";

/// The label that names the manager of an object, so foreign objects do not share it.
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// The labels of an object.
pub(crate) type Labels = BTreeMap<String, String>;

/// The namespaces and labels of a program's objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// The namespaces of the samples and their children, without those that the program creates, and the foreign one.
    pub(crate) namespaces: BTreeSet<String>,
    /// Sets of labels that objects of another application may have as well.
    pub(crate) labels: Vec<Labels>,
}

impl Footprint {
    /// Returns the footprint before the first run of the program: the namespaces of its samples, and a namespace with only foreign objects.
    pub(crate) fn of_samples(samples: &[Value]) -> Self {
        let namespaces = samples.iter().filter_map(|sample| sample["metadata"]["namespace"].as_str());
        let namespaces = namespaces.chain([FOREIGN_NAMESPACE]).map(str::to_owned).collect();
        Self { namespaces, labels: Vec::new() }
    }

    /// Returns the footprint of a program: the namespaces of its samples and of their children in the snapshot `created`, except namespaces
    /// that the program creates itself, and some sets of the children's labels that other applications also use.
    pub(crate) fn of(program: &str, samples: &[Value], created: &Snapshot) -> Self {
        let mut footprint = Self::of_samples(samples);
        let children: Vec<&Entry> = created.children(program, samples).collect();
        let is_created = |name: &str| {
            let mut objects = created.objects.values().map(|entry| &entry.raw);
            objects.any(|object| object["kind"] == "Namespace" && object["metadata"]["name"] == name)
        };
        let of_children = children.iter().filter_map(|child| child.raw["metadata"]["namespace"].as_str());
        footprint.namespaces.extend(of_children.filter(|name| !is_created(name)).map(str::to_owned));
        let sets: BTreeSet<Labels> =
            children.iter().map(|child| common_labels(&child.raw)).filter(|labels| !labels.is_empty()).collect();
        footprint.labels = sets.into_iter().take(MAX_LABEL_SETS).collect();
        footprint
    }
}

/// Returns the labels of an object that objects of another application may have as well, such as `app` and `app.kubernetes.io/name`.
fn common_labels(object: &Value) -> Labels {
    let is_common = |key: &str| COMMON_KEYS.contains(&key) || key.starts_with(RECOMMENDED_PREFIX) && key != MANAGED_BY;
    let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
    let common = labels.filter(|(key, _)| is_common(key));
    common.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn application_labels_are_common_and_managed_by_is_not() {
        let labels = json!({
            "app": "shop", "app.kubernetes.io/name": "shop", "app.kubernetes.io/managed-by": "shop", "shop": "home",
        });
        let found = common_labels(&json!({"metadata": {"labels": labels}}));
        assert_eq!(found.keys().collect::<Vec<_>>(), ["app", "app.kubernetes.io/name"]);
        assert!(common_labels(&json!({"metadata": {}})).is_empty());
    }
}
