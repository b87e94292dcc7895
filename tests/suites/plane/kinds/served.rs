//! That no kind is forgotten.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kube::Client;
use opgen_tests::Plane;

use super::{sample, tree};

/// Kinds that are served and not in the tree.
const LEFT_OUT: [(&str, &str); 5] = [
    ("/Event", "a record of what has happened, nothing wanted"),
    ("events.k8s.io/Event", "a record of what has happened, nothing wanted"),
    ("/Node", "a machine's kubelet makes it"),
    ("storage.k8s.io/CSINode", "a machine's kubelet makes it"),
    ("networking.k8s.io/IPAddress", "the API server makes it with a Service, and removes what has none"),
];

/// What a resource node does.
const VERBS: [&str; 6] = ["create", "delete", "get", "list", "patch", "watch"];

pub(crate) async fn every_kind_is_tried_or_left_out(plane: Arc<Plane>) {
    let served = served(&plane.client()).await;
    let tried: BTreeSet<_> = tree::kinds().iter().map(|kind| format!("{}/{}", kind.group, kind.kind)).collect();
    let left_out: BTreeMap<_, _> = LEFT_OUT.into_iter().collect();
    for kind in &served {
        let known = tried.contains(kind) || left_out.contains_key(kind.as_str());
        assert!(known, "{kind} is served; add it to the tree, or say why it is left out");
    }
    for (kind, why) in left_out {
        assert!(served.contains(kind) && !tried.contains(kind), "{kind} is not left out ({why})");
    }
    for kind in tree::kinds() {
        assert!(served.contains(&format!("{}/{}", kind.group, kind.kind)), "{kind} is not served");
        assert!(sample::all().iter().any(|sample| sample.is_of(&kind)), "{kind} has no sample");
    }
    for sample in sample::all() {
        assert!(tree::kinds().iter().any(|kind| sample.is_of(kind)), "{sample:?} has no node");
    }
}

/// The built-in kinds that a tree can own, as `group/Kind`.
async fn served(client: &Client) -> BTreeSet<String> {
    let mut lists = vec![(String::new(), client.list_core_api_resources("v1").await.unwrap())];
    for group in client.list_api_groups().await.unwrap().groups {
        // Custom kinds of other cases have groups of their own.
        if !group.name.contains('.') || group.name.ends_with(".k8s.io") {
            for version in &group.versions {
                let list = client.list_api_group_resources(&version.group_version).await.unwrap();
                lists.push((group.name.clone(), list));
            }
        }
    }
    let mut kinds = BTreeSet::new();
    for (group, list) in lists {
        let whole = |verbs: &[String]| VERBS.iter().all(|verb| verbs.iter().any(|own| own == verb));
        let resources = list.resources.into_iter().filter(|resource| !resource.name.contains('/'));
        kinds.extend(resources.filter(|r| whole(&r.verbs)).map(|resource| format!("{group}/{}", resource.kind)));
    }
    kinds
}
