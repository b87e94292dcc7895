//! Finds where a program makes objects, and by which labels they are known, so that objects of somebody else stand beside them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    prepared::Prepared,
    state::{Kept, State},
};

/// The namespace in which neither a sample nor anything of the program is.
pub(crate) const ANOTHER: &str = "of-somebody-else";

/// More sets of labels are not tried.
const SETS: usize = 3;

/// Labels by which applications are known, whoever has installed them.
const COMMON: [&str; 6] = ["app", "component", "k8s-app", "release", "role", "tier"];
const RECOMMENDED: &str = "app.kubernetes.io/";

/// By this, who has made an object says so: nobody else gives it the same value.
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// Labels with their values.
pub(crate) type Labels = BTreeMap<String, String>;

/// Where the objects of a program are, and how they are labelled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// The namespaces of its samples and of what is made of them, without those that are made as well; and one more.
    pub(crate) namespaces: BTreeSet<String>,
    /// The labels that others may well have, too.
    pub(crate) labels: Vec<Labels>,
}

impl Surroundings {
    /// What is known before the program has run.
    pub(crate) fn of_samples(prepared: &Prepared) -> Self {
        let samples = prepared.manifests.samples.iter();
        let namespaces = samples.filter_map(|sample| sample["metadata"]["namespace"].as_str()).map(str::to_owned);
        Self { namespaces: namespaces.chain([ANOTHER.to_owned()]).collect(), labels: Vec::new() }
    }

    /// What is known once the program has made all.
    pub(crate) fn of(prepared: &Prepared, made: &State) -> Self {
        let mut found = Self::of_samples(prepared);
        let children: Vec<&Kept> = made.children(&prepared.name, &prepared.manifests.samples).collect();
        let is_made = |name: &str| {
            let mut objects = made.objects.values().map(|kept| &kept.origin);
            objects.any(|object| object["kind"] == "Namespace" && object["metadata"]["name"] == name)
        };
        let of_children = children.iter().filter_map(|child| child.origin["metadata"]["namespace"].as_str());
        found.namespaces.extend(of_children.filter(|name| !is_made(name)).map(str::to_owned));
        let sets: BTreeSet<Labels> =
            children.iter().map(|child| common(&child.origin)).filter(|labels| !labels.is_empty()).collect();
        found.labels = sets.into_iter().take(SETS).collect();
        found
    }
}

/// The labels of an object that others may well have.
fn common(object: &Value) -> Labels {
    let is_common = |key: &str| COMMON.contains(&key) || key.starts_with(RECOMMENDED) && key != MANAGED_BY;
    let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
    let common = labels.filter(|(key, _)| is_common(key));
    common.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_of_applications_are_common_and_a_makers_own_are_not() {
        let labels = json!({
            "app": "shop", "app.kubernetes.io/name": "shop", "app.kubernetes.io/managed-by": "shop", "shop": "home",
        });
        let found = common(&json!({"metadata": {"labels": labels}}));
        assert_eq!(found.keys().collect::<Vec<_>>(), ["app", "app.kubernetes.io/name"]);
        assert!(common(&json!({"metadata": {}})).is_empty());
    }
}
