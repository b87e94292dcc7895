//! The watches of what primaries are made of: one a kind, shared by all controllers of the operator.

use crate::{
    cache::{Change, Header, ObjectKey, Store},
    client::Client,
    controller::worker::Running,
    engine::{
        child::{Child, header_of},
        desired::MANAGED_BY,
        owner_mark::Mark,
    },
    error::Result,
    informer::{
        event_handler::Follower,
        reflector::{self, WatchScope},
        watch::Watched,
    },
    kind::Kind,
    readiness::is_ready_once_there,
    shape::{ResourceOptions, Shape},
};
use std::{collections::BTreeMap, sync::Arc};

/// Whom a change of a child is told to: the owner's kind and key; `true` while it belongs to a list.
pub(crate) type OnOwner<'a> = &'a (dyn Fn(&OwnerRef, bool) + Send + Sync);

/// An owner, as its child names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnerRef {
    /// `<kind>.<group>` of an owner reference, or `<plural>.<group>` of a mark.
    group: String,
    name: String,
    key: ObjectKey,
}

impl OwnerRef {
    /// The owner's key, if it is of this kind.
    pub(crate) fn key_of(&self, kind: &Kind) -> Option<ObjectKey> {
        let is_of = self.group == kind.group && (self.name == kind.kind || self.name == kind.plural);
        // An owner reference has no namespace: the owner is where its child is, or in none.
        let key = || if kind.namespaced { self.key.clone() } else { ObjectKey::cluster(self.key.name()) };
        is_of.then(key)
    }

    /// The objects of a kind that one of these states of an object was made for.
    pub(crate) fn keys_of<V>(kind: &Kind, change: &Change<V>) -> Vec<ObjectKey> {
        let headers = [change.old(), change.new_entry()].into_iter().flatten().map(|entry| &entry.header);
        headers.flat_map(Self::all).filter_map(|owner| owner.key_of(kind)).collect()
    }

    fn all(header: &Header) -> Vec<Self> {
        let mut owners: Vec<_> = header
            .owners
            .iter()
            .filter(|owner| owner.controller)
            .map(|owner| {
                let group = owner.api_version().split_once('/').map_or("", |(group, _)| group);
                let key = ObjectKey::new(header.key.namespace(), owner.name());
                Self { group: group.to_owned(), name: owner.kind().to_owned(), key }
            })
            .collect();
        owners.extend(Mark::of(header).and_then(Self::marked));
        owners
    }

    fn marked(mark: Mark<'_>) -> Option<Self> {
        // The core group has no name.
        let (plural, group) = mark.kind.split_once('.').unwrap_or((mark.kind, ""));
        Some(Self { group: group.to_owned(), name: plural.to_owned(), key: mark.key() })
    }
}

/// Whether a change of an object is the work of one of the controller's objects: it was made for that, or has just been written by
/// its nodes.
pub(crate) fn is_work_of<V>(controller: &Running, kind: &Kind, change: &Change<V>) -> impl Fn(&ObjectKey) -> bool {
    let made_for = OwnerRef::keys_of(controller.inner.source.kind(), change);
    let shown = change.new_entry().map(|entry| &entry.header);
    let object = change.new_entry().or(change.old()).map(|entry| &entry.header.key);
    move |owner| {
        let is_by_hand = |object| controller.inner.shared.memory().is_by_hand(owner, kind, (object, shown));
        made_for.contains(owner) || object.is_some_and(is_by_hand)
    }
}

/// Fills the store of one kind of children, for ever.
pub(crate) async fn follow(
    client: &Client,
    children: &Watched<Child>,
    operator: &str,
    namespace: Option<&str>,
    on_owner: OnOwner<'_>,
) {
    let labels = format!("{MANAGED_BY}={operator}");
    let scope = WatchScope { labels: Some(&labels), ..WatchScope::all(client, namespace) };
    let sink = ChildEvents { children, operator, on_owner };
    // What has no status to wait for is known well enough by its metadata; so a Secret's content is never held.
    let client = client.to_watch(is_ready_once_there(&children.kind) && !children.whole);
    reflector::follow(client, &children.kind, scope, &sink, &children.health).await;
}

struct ChildEvents<'a> {
    children: &'a Watched<Child>,
    operator: &'a str,
    on_owner: OnOwner<'a>,
}

impl Follower for ChildEvents<'_> {
    type Kept = Child;

    fn kind(&self) -> &Kind {
        &self.children.kind
    }

    fn store(&self) -> &Store<Child> {
        &self.children.store
    }

    fn take_in(&self, json: &[u8], _listing: bool) -> Result<Change<Child>> {
        let header = header_of(json)?;
        let whole = self.children.whole;
        let project = |header: &Header| Child::project(self.kind(), self.operator, header, json, whole);
        Ok(self.store().try_project(header, project)?)
    }

    fn tell(&self, change: &Change<Child>, listing: bool) {
        self.children.unowned.on_change(change);
        if let Change::Updated { old, new } = change
            && old.value.is_as(&new.value)
            && old.header.uid == new.header.uid
            && old.header.deleting == new.header.deleting
        {
            return;
        }
        // The old one's, too: an owner reference may be what changed.
        let mut owners = change.new_entry().map_or_else(Vec::new, |new| OwnerRef::all(&new.header));
        for owner in change.old().map_or_else(Vec::new, |old| OwnerRef::all(&old.header)) {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        owners.iter().for_each(|owner| (self.on_owner)(owner, listing));
    }
}

/// A store for each kind of the resource nodes of these trees; those that nodes read hold whole objects.
pub(crate) fn stores(trees: &[&'static Shape]) -> BTreeMap<Kind, Arc<Watched<Child>>> {
    let read: Vec<Kind> = trees.iter().flat_map(|tree| tree.kinds_read()).collect();
    let mut stores = BTreeMap::<Kind, Watched<Child>>::new();
    for tree in trees {
        tree.walk(&mut |stop| {
            let options = stop.edge.map(|edge| edge.resource).unwrap_or(ResourceOptions::DEFAULT);
            for kind in stop.shape.applied() {
                let store = stores
                    .entry(kind.clone())
                    .or_insert_with(|| Watched { optional: true, ..Watched::new(kind.clone(), read.contains(&kind)) });
                store.optional &= options.if_api || options.retired;
            }
        });
    }
    stores.into_iter().map(|(kind, store)| (kind, Arc::new(store))).collect()
}

/// The kinds of a tree's resource nodes.
pub(crate) fn kinds(tree: &'static Shape) -> Vec<Kind> {
    let mut kinds = Vec::new();
    tree.walk(&mut |stop| kinds.extend(stop.shape.applied()));
    kinds
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::ConfigMap;

    /// A list that shows an object as it was costs no projection: what a projection could not read is not looked at.
    #[test]
    fn a_child_that_is_listed_again_as_it_was_is_not_projected_again() {
        let children = Watched::new(kind_of::<ConfigMap>(), false);
        let sink = ChildEvents { children: &children, operator: "web", on_owner: &|_, _| {} };
        let json = |status: &str| format!(r#"{{"metadata":{{"name":"a","uid":"u","resourceVersion":"1"}}{status}}}"#);
        let first = sink.take_in(json("").as_bytes(), true).unwrap();
        assert!(matches!(first, Change::Added { .. }));
        let again = sink.take_in(json(r#","status":{},"status":{}"#).as_bytes(), true);
        assert!(matches!(again, Ok(Change::Unchanged)), "{again:?}");
    }

    #[test]
    fn a_mark_names_an_owner_of_any_group() {
        let marked = OwnerRef::marked(Mark::parse("configmaps/ns/settings/u-1").unwrap()).unwrap();
        assert_eq!(marked.key_of(&kind_of::<ConfigMap>()), Some(ObjectKey::namespaced("ns", "settings")));
        let marked = OwnerRef::marked(Mark::parse("widgets.demo.example.com/ns/w/u-1").unwrap()).unwrap();
        assert_eq!((marked.group.as_str(), marked.name.as_str()), ("demo.example.com", "widgets"));
        assert_eq!(marked.key_of(&kind_of::<ConfigMap>()), None);
    }
}
