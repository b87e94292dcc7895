//! `ChildStores`: the caches of the children of all trees of an operator, usually one for each kind.
//!
//! A pass reads the annotations, the readiness and the field owners of a child, which are the same in all versions. So the trees
//! share the cache of a kind, also if they apply it in different versions, and each write has the version of its node. Only a
//! node that reads the objects of another node decodes them, as a type of one version. If trees read a kind in different
//! versions, it has a cache for each of these versions.

use crate::{
    engine::child::Child,
    informer::watch::WatchedKind,
    kind::Kind,
    shape::{NodeVisit, ResourceOptions, Shape},
};
use std::{collections::BTreeMap, sync::Arc};

/// The caches of the children of an operator.
pub(crate) struct ChildStores(Vec<Arc<WatchedKind<Child>>>);

/// How the trees use a kind.
struct UsedKind {
    /// The kind in the version of the first node that needs it; of the first node, if all nodes work without the kind.
    kind: Kind,
    /// Whether all nodes work without the kind (`if_api`, `retired`).
    optional: bool,
}

impl ChildStores {
    /// Creates a cache for each kind that nodes of these trees apply. If a node reads objects of the kind, the cache keeps whole
    /// objects.
    pub(crate) fn new(trees: &[&'static Shape]) -> Self {
        Self::with_kinds(trees, |visit| visit.local_kinds())
    }

    /// Creates the caches like [`ChildStores::new`] for another cluster, in which the nodes of a tree are.
    pub(crate) fn in_remote_cluster(tree: &'static Shape) -> Self {
        Self::with_kinds(&[tree], |visit| visit.remote_kinds())
    }

    /// Creates the stores of the kinds that `kinds` returns for the nodes of the trees. A kind is optional if all its nodes work without
    /// it. If nodes read whole objects of a kind, it has one store for each API version in which they decode the objects.
    fn with_kinds(trees: &[&'static Shape], kinds: impl Fn(&NodeVisit<'_>) -> Vec<Kind>) -> Self {
        let mut used = BTreeMap::<Kind, UsedKind>::new();
        for tree in trees {
            tree.walk(&mut |visit| {
                let options = visit.edge.map(|edge| edge.resource).unwrap_or(ResourceOptions::DEFAULT);
                for kind in kinds(&visit) {
                    let optional = options.if_api || options.retired;
                    let known = used.entry(kind.clone()).or_insert_with(|| UsedKind { kind: kind.clone(), optional });
                    // The first node that needs the kind decides about its version.
                    if known.optional && !optional {
                        *known = UsedKind { kind, optional };
                    }
                }
            });
        }
        let versions_read = distinct_versions(trees.iter().flat_map(|tree| tree.kinds_read()));
        let mut stores = Vec::new();
        for UsedKind { kind, optional } in used.into_values() {
            let store =
                |kind: Kind, keeps_objects| Arc::new(WatchedKind { optional, ..WatchedKind::new(kind, keeps_objects) });
            let read: Vec<_> = versions_read.iter().filter(|read| **read == kind).collect();
            if read.is_empty() {
                stores.push(store(kind, false));
            } else {
                stores.extend(read.into_iter().map(|read| store(read.clone(), true)));
            }
        }
        Self(stores)
    }

    /// Returns all caches.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<WatchedKind<Child>>> {
        self.0.iter()
    }

    /// Returns one cache of each kind. Those of several versions have the same objects.
    pub(crate) fn by_kind(&self) -> BTreeMap<Kind, Arc<WatchedKind<Child>>> {
        // A map keeps the last value of a key: reversed, the first cache of a kind.
        self.0.iter().rev().map(|store| (store.kind.clone(), store.clone())).collect()
    }

    /// Returns the caches of the kinds that a tree applies. If the tree reads the objects of a kind, the cache is that of the API version
    /// in which it decodes them.
    pub(crate) fn of_tree(&self, tree: &'static Shape) -> BTreeMap<Kind, Arc<WatchedKind<Child>>> {
        let mut stores = self.by_kind();
        let applied = applied_kinds(tree);
        stores.retain(|kind, _| applied.contains(kind));
        for read in tree.kinds_read() {
            if let Some(store) = self.0.iter().find(|store| store.kind.is_same_version(&read)) {
                // Removed first, because `insert` would keep the old key, a kind that may have another version.
                stores.remove(&read);
                stores.insert(read, store.clone());
            }
        }
        stores
    }
}

/// Returns the first kind whose objects a tree decodes in two API versions, once in each version; `None` if there is none. A pass has one
/// cache per kind, so such a tree is an error.
pub(crate) fn conflicting_reads(tree: &'static Shape) -> Option<(Kind, Kind)> {
    let versions = distinct_versions(tree.kinds_read());
    let conflict = |(index, kind): (usize, &Kind)| {
        Some((versions[..index].iter().find(|other| *other == kind)?.clone(), kind.clone()))
    };
    versions.iter().enumerate().find_map(conflict)
}

/// Returns the kinds without repetitions. A kind in two API versions is not a repetition, although the two values are equal (`==`).
fn distinct_versions(kinds: impl IntoIterator<Item = Kind>) -> Vec<Kind> {
    let mut distinct: Vec<Kind> = Vec::new();
    for kind in kinds {
        if !distinct.iter().any(|known| known.is_same_version(&kind)) {
            distinct.push(kind);
        }
    }
    distinct
}

/// Returns the kinds of the objects that the nodes of a tree apply.
fn applied_kinds(tree: &'static Shape) -> Vec<Kind> {
    let mut kinds = Vec::new();
    tree.walk(&mut |visit| kinds.extend(visit.local_kinds()));
    kinds
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{
        kind::kind_of,
        shape::{Access, Edge, Node, SourceLocation},
    };
    use k8s_openapi::api::autoscaling::{v1, v2};

    const OLD: Shape = leaf(&[Access::applied(kind_of::<v1::HorizontalPodAutoscaler>)]);
    const NEW: Shape = leaf(&[Access::applied(kind_of::<v2::HorizontalPodAutoscaler>)]);
    const CUSTOM: Shape = Shape { node: Node::Custom, access: &[], children: &[] };

    const fn leaf(access: &'static [Access]) -> Shape {
        Shape { node: Node::Resource, access, children: &[] }
    }

    const fn edge(name: &'static str, shape: &'static Shape) -> Edge {
        Edge::plain(name, shape, SourceLocation::UNKNOWN)
    }

    const fn reading(name: &'static str, reads: &'static [&'static str]) -> Edge {
        Edge { reads, ..edge(name, &CUSTOM) }
    }

    const fn tree(children: &'static [Edge]) -> Shape {
        Shape { node: Node::SERIAL, access: &[], children }
    }

    fn versions(stores: &ChildStores) -> Vec<(String, bool)> {
        stores.iter().map(|store| (store.kind.version.to_string(), store.keeps_objects)).collect()
    }

    #[test]
    fn trees_that_apply_a_kind_in_two_versions_share_its_cache() {
        const APPLIES_OLD: Shape = tree(&[edge("old", &OLD)]);
        const APPLIES_NEW: Shape = tree(&[edge("new", &NEW)]);
        let stores = ChildStores::new(&[&APPLIES_OLD, &APPLIES_NEW]);
        assert_eq!(versions(&stores), [("v1".to_owned(), false)]);
        let [one, other] = [&APPLIES_OLD, &APPLIES_NEW].map(|tree| stores.of_tree(tree).into_values().next().unwrap());
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn the_cache_has_the_version_of_a_node_that_needs_the_kind() {
        const OPTIONAL: ResourceOptions = ResourceOptions { if_api: true, ..ResourceOptions::DEFAULT };
        const TREE: Shape = tree(&[Edge { resource: OPTIONAL, ..edge("old", &OLD) }, edge("new", &NEW)]);
        let stores = ChildStores::new(&[&TREE]);
        assert_eq!(versions(&stores), [("v2".to_owned(), false)]);
        assert!(!stores.0[0].optional);
    }

    #[test]
    fn a_tree_that_reads_a_kind_gets_the_cache_of_the_version_that_it_decodes() {
        const APPLIES_OLD: Shape = tree(&[edge("old", &OLD)]);
        const READS_OLD: Shape = tree(&[edge("old", &OLD), reading("hand", &["old"])]);
        const READS_NEW: Shape = tree(&[edge("old", &OLD), edge("new", &NEW), reading("hand", &["new"])]);
        let version =
            |stores: &ChildStores, tree| stores.of_tree(tree).into_values().next().unwrap().kind.version.to_string();
        let stores = ChildStores::new(&[&APPLIES_OLD, &READS_NEW]);
        assert_eq!(versions(&stores), [("v2".to_owned(), true)]);
        assert_eq!([version(&stores, &APPLIES_OLD), version(&stores, &READS_NEW)], ["v2", "v2"]);
        let stores = ChildStores::new(&[&READS_OLD, &READS_NEW]);
        assert_eq!(versions(&stores), [("v1".to_owned(), true), ("v2".to_owned(), true)]);
        assert_eq!([version(&stores, &READS_OLD), version(&stores, &READS_NEW)], ["v1", "v2"]);
        assert_eq!(stores.by_kind().len(), 1);
    }

    #[test]
    fn objects_that_are_read_below_a_remote_node_are_kept_only_for_its_cluster() {
        const INSIDE: Shape = tree(&[edge("old", &OLD), reading("hand", &["old"])]);
        const TREE: Shape = tree(&[edge("old", &OLD), edge("remote", &INSIDE).in_remote_cluster(false)]);
        let kind = kind_of::<v1::HorizontalPodAutoscaler>();
        let keeps_objects =
            |stores: &ChildStores| stores.iter().find(|store| store.kind == kind).map(|store| store.keeps_objects);
        assert_eq!(keeps_objects(&ChildStores::new(&[&TREE])), Some(false));
        assert_eq!(keeps_objects(&ChildStores::in_remote_cluster(&INSIDE)), Some(true));
    }

    #[test]
    fn a_tree_can_not_read_a_kind_in_two_versions() {
        const READS_NEW: Shape = tree(&[edge("old", &OLD), edge("new", &NEW), reading("hand", &["new"])]);
        const READS_BOTH: Shape = tree(&[edge("old", &OLD), edge("new", &NEW), reading("hand", &["old", "new"])]);
        assert_eq!(conflicting_reads(&READS_NEW), None);
        let (one, other) = conflicting_reads(&READS_BOTH).unwrap();
        assert_eq!([one.api_version(), other.api_version()], ["autoscaling/v1", "autoscaling/v2"]);
    }
}
