//! Watches child objects, with one watch and one store per kind for all controllers of the operator.

use crate::{
    cache::{Change, Header, ObjectKey, Store, Uid},
    client::Client,
    engine::{
        child::{Child, child_header},
        desired::MANAGED_BY_LABEL,
        owner_mark::OwnerMark,
    },
    error::Result,
    informer::{
        event_handler::EventHandler,
        namespaces::Namespaces,
        reflector::{self, WatchScope},
        sharded,
        watch::{Health, WatchedKind},
    },
    kind::{Kind, group_of},
    readiness::is_ready_once_created,
    shard::{gate::Shards, watch::ShardedWatch},
};
use std::sync::Arc;

/// The callback for a changed child. It gets an owner of the child.
pub(crate) type OnOwner<'a> = &'a (dyn Fn(&OwnerRef, &ChildEvent<'_>) + Send + Sync);

/// A change of a child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChildEvent<'a> {
    /// Whether the child comes from a list.
    pub(crate) from_list: bool,
    /// The child, if it has left the watch and was not being deleted before: it is deleted, or has lost the operator's label.
    pub(crate) departed: Option<&'a Header>,
}

/// An owner of a child, from the child's owner reference or from its owner mark (an annotation).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnerRef {
    /// The API group; empty for the core group.
    group: String,
    /// The kind (`ConfigMap`) in an owner reference, the plural (`configmaps`) in an owner mark.
    kind_or_plural: String,
    key: ObjectKey,
    pub(crate) uid: Uid,
}

impl OwnerRef {
    /// Returns the owner's key if the owner is of this kind, and `None` otherwise.
    pub(crate) fn key_of_kind(&self, kind: &Kind) -> Option<ObjectKey> {
        let is_of_kind =
            self.group == kind.group && (self.kind_or_plural == kind.kind || self.kind_or_plural == kind.plural);
        // An owner reference has no namespace: the owner is in the namespace of its child, or cluster-scoped.
        let key = || if kind.namespaced { self.key.clone() } else { ObjectKey::cluster(self.key.name()) };
        is_of_kind.then(key)
    }

    /// Returns the owners of a kind that the object had before the change or has after it.
    pub(crate) fn owner_keys<V>(kind: &Kind, change: &Change<V>) -> Vec<ObjectKey> {
        let headers = [change.old(), change.new_entry()].into_iter().flatten().map(|entry| &entry.header);
        headers.flat_map(Self::of_child).filter_map(|owner| owner.key_of_kind(kind)).collect()
    }

    /// Returns the owners that a child names: by the owner reference with `controller: true`, and by its owner mark, an annotation that
    /// replaces the owner reference where Kubernetes allows none.
    fn of_child(header: &Header) -> Vec<Self> {
        let mut owners: Vec<_> = header
            .owners
            .iter()
            .filter(|owner| owner.controller)
            .map(|owner| {
                let group = group_of(owner.api_version()).to_owned();
                let key = ObjectKey::new(header.key.namespace(), owner.name());
                Self { group, kind_or_plural: owner.kind().to_owned(), key, uid: owner.uid.clone() }
            })
            .collect();
        owners.extend(OwnerMark::of(header).map(Self::from_mark));
        owners
    }

    /// Returns the owner that a mark names as `<plural>.<group>`, without the group for the core group.
    fn from_mark(mark: OwnerMark<'_>) -> Self {
        let (plural, group) = mark.kind.split_once('.').unwrap_or((mark.kind, ""));
        Self { group: group.to_owned(), kind_or_plural: plural.to_owned(), key: mark.key(), uid: mark.uid() }
    }
}

/// Runs the watch of one kind of children and fills its store. It never returns.
///
/// The watch selects by the operator's label, so it sees only objects that this operator applied. With shards, the store has only
/// children of owners in the shards that this replica holds.
pub(crate) async fn run(
    client: &Client,
    children: &WatchedKind<Child>,
    operator: &str,
    namespaces: &Namespaces,
    on_owner: OnOwner<'_>,
    shards: Option<&(Shards, Arc<ShardedWatch>)>,
) {
    let labels = format!("{MANAGED_BY_LABEL}={operator}");
    let scope = WatchScope { labels: Some(&labels), ..WatchScope::all(client, namespaces) };
    let sink = ChildHandler { children, operator, on_owner, shards: shards.map(|(shards, _)| shards) };
    // For a kind without a status to wait for, the metadata is enough. So the cache has the content of a Secret only if a node reads it.
    let client = client.watch_client(is_ready_once_created(&children.kind) && !children.keeps_objects);
    match shards {
        Some((_, watch)) => sharded::run(client, &children.kind, scope, &sink, &children.health, watch).await,
        None => reflector::run(client, &children.kind, scope, &sink, &children.health).await,
    }
}

/// Stores children of one kind and reports each change to their owners.
struct ChildHandler<'a> {
    children: &'a WatchedKind<Child>,
    operator: &'a str,
    on_owner: OnOwner<'a>,
    shards: Option<&'a Shards>,
}

impl EventHandler for ChildHandler<'_> {
    type Projection = Child;

    fn health(&self) -> &Health {
        &self.children.health
    }

    fn store(&self) -> &Store<Child> {
        &self.children.store
    }

    /// Projects a child into the store. A child of an owner in the shard of another replica is removed from the store instead.
    fn store_object(&self, json: &[u8], _from_list: bool) -> Result<Change<Child>> {
        let header = child_header(json)?;
        if !self.is_own(&header) {
            return Ok(self.store().delete(&header));
        }
        let keeps_objects = self.children.keeps_objects;
        let project = |header: &Header| Child::project(self.kind(), self.operator, header, json, keeps_objects);
        Ok(self.store().try_project(header, project)?)
    }

    /// Reports the change to each owner that the child names before or after it. An update is not reported if the two states of the child
    /// are the same for a pass.
    fn on_change(&self, change: &Change<Child>, from_list: bool) {
        if let Change::Updated { old, new } = change
            && old.has_same_state(new)
            && old.header.uid == new.header.uid
            && old.header.deleting == new.header.deleting
        {
            return;
        }
        // The change may have removed an owner reference, so the owners of the old state are added.
        let mut owners = change.new_entry().map_or_else(Vec::new, |new| OwnerRef::of_child(&new.header));
        for owner in change.old().map_or_else(Vec::new, |old| OwnerRef::of_child(&old.header)) {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        let departed = match change {
            Change::Deleted { old } => Some(&old.header).filter(|header| !header.deleting),
            Change::Added { .. } | Change::Updated { .. } | Change::Unchanged => None,
        };
        owners.iter().for_each(|owner| (self.on_owner)(owner, &ChildEvent { from_list, departed }));
    }

    /// Returns whether this replica holds the shard of an owner of the child. The shard of a child without an owner is unknown, so every
    /// replica stores it: a pass that builds an object of this name decides whether to adopt it.
    fn is_own(&self, header: &Header) -> bool {
        let Some(shards) = self.shards else { return true };
        header.owners.is_empty() || header.owners.iter().any(|owner| shards.contains(&owner.uid))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
    use serde_json::json;

    /// A second list with the same object does not project it again, so a content that no projection can read is no error.
    #[test]
    fn a_child_that_is_listed_again_as_it_was_is_not_projected_again() {
        let children = WatchedKind::new(kind_of::<ConfigMap>(), false);
        let sink = ChildHandler { children: &children, operator: "web", on_owner: &|_, _| {}, shards: None };
        let json = |status: &str| format!(r#"{{"metadata":{{"name":"a","uid":"u","resourceVersion":"1"}}{status}}}"#);
        let first = sink.store_object(json("").as_bytes(), true).unwrap();
        assert!(matches!(first, Change::Added { .. }));
        let second = sink.store_object(json(r#","status":{},"status":{}"#).as_bytes(), true);
        assert!(matches!(second, Ok(Change::Unchanged)), "{second:?}");
    }

    #[test]
    fn an_owner_reference_names_an_owner_in_any_version_of_its_group() {
        let deployment_key = |version: &str| {
            let owner =
                json!({"apiVersion": version, "kind": "Deployment", "name": "web", "uid": "u-1", "controller": true});
            let child = json!({"metadata": {"namespace": "ns", "name": "a", "ownerReferences": [owner]}});
            let header = Header::parse(child.to_string().as_bytes()).unwrap();
            OwnerRef::of_child(&header)[0].key_of_kind(&kind_of::<Deployment>())
        };
        for version in ["apps/v1", "apps/v1beta2"] {
            assert_eq!(deployment_key(version), Some(ObjectKey::namespaced("ns", "web")), "{version}");
        }
        for version in ["v1", "extensions/v1"] {
            assert_eq!(deployment_key(version), None, "{version}");
        }
    }

    #[test]
    fn a_mark_names_an_owner_of_any_group() {
        let owner = OwnerRef::from_mark(OwnerMark::parse("configmaps/ns/settings/u-1").unwrap());
        assert_eq!(owner.key_of_kind(&kind_of::<ConfigMap>()), Some(ObjectKey::namespaced("ns", "settings")));
        let owner = OwnerRef::from_mark(OwnerMark::parse("widgets.demo.example.com/ns/w/u-1").unwrap());
        assert_eq!((owner.group.as_str(), owner.kind_or_plural.as_str()), ("demo.example.com", "widgets"));
        assert_eq!(owner.key_of_kind(&kind_of::<ConfigMap>()), None);
    }
}
