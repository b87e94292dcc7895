//! The short way through a pass that finds everything as it left it: nothing is built, encoded or decoded.

use crate::{
    cache::Entry,
    engine::{
        child::{ByNode, Child},
        memory::Built,
        output::OutputObject,
        pass::Core,
        waits::Waits,
    },
    error::Result,
    informer::watch::{WatchState, Watched},
    kind::Kind,
    readiness::Readiness,
    shape::{ResourceOptions, Shape, key_below, without_keys},
};
use std::{collections::BTreeSet, sync::Arc};

impl Core<'_> {
    /// The outcome of a resource node, if its inputs are those of an earlier pass and its objects as they were left.
    pub(crate) fn as_built(
        &self,
        node: &Arc<str>,
        kind: &Kind,
        options: ResourceOptions,
        inputs: Option<u64>,
    ) -> Option<Result<()>> {
        if self.shared.rehearsal.is_some() || self.is_plan {
            return None;
        }
        let built = self.memory().is_built(&self.owner, kind, node, inputs?)?;
        if !self.memory().departing(&self.owner, kind, node).is_empty() {
            return None;
        }
        let children = self.shared.children.get(kind)?;
        children.readable().ok()?;
        let mut waits = Waits::new(node);
        for Built { key, digest } in built.iter() {
            let entry = children.store.get(key)?;
            if !self.is_unchanged(kind, &entry, digest, options) {
                return None;
            }
            if options.pods && entry.value.readiness != Readiness::Ready {
                return None;
            }
            waits.add(kind, key, &entry.value.readiness);
        }
        if self.count_of_node(children, node) != built.len() {
            return None;
        }
        let claimed = built.iter().try_for_each(|built| self.claim(kind, &built.key, node));
        self.claimed_all(node);
        Some(claimed.and_then(|()| waits.over()))
    }

    fn is_unchanged(&self, kind: &Kind, entry: &Entry<Child>, digest: &str, options: ResourceOptions) -> bool {
        if entry.header.deleting || !self.is_owner_of(&entry.header) {
            return false;
        }
        options.once
            || *entry.value.applied == *digest
                && (entry.value.is_known_complete()
                    || self.memory().is_settled(&self.owner, kind, &entry.header, entry.value.fields))
    }

    /// The children that a node has made.
    pub(crate) fn of_node(&self, children: &Watched<Child>, node: &str) -> Vec<Arc<Entry<Child>>> {
        self.with_node(children, node, <[_]>::to_vec)
    }

    fn count_of_node(&self, children: &Watched<Child>, node: &str) -> usize {
        self.with_node(children, node, <[_]>::len)
    }

    fn with_node<T>(&self, children: &Watched<Child>, node: &str, look: impl FnOnce(&[Arc<Entry<Child>>]) -> T) -> T {
        let mut by_node = self.by_node();
        let nodes = by_node.entry(children.kind.clone()).or_insert_with(|| {
            let mut nodes = ByNode::new();
            children.store.visit_owned(&self.owner.uid, |entry| match nodes.get_mut(&entry.value.node) {
                Some(held) => held.push(entry.clone()),
                None => drop(nodes.insert(entry.value.node.clone(), vec![entry.clone()])),
            });
            nodes
        });
        look(nodes.get(node).map_or(&[], Vec::as_slice))
    }

    /// The keys below `node` for which an object of its shape is there.
    pub(crate) fn keys_of(&self, node: &str, shape: &'static Shape) -> Result<BTreeSet<String>> {
        let mut keys = BTreeSet::new();
        if let Some(rehearsal) = &self.shared.rehearsal {
            return Ok(rehearsal.keys_of(node));
        }
        let mut read = Ok(());
        shape.walk(&mut |stop| {
            for kind in stop.shape.applied() {
                read = std::mem::replace(&mut read, Ok(())).and_then(|()| self.add_keys(&kind, node, &mut keys));
            }
        });
        read.map(|()| keys)
    }

    fn add_keys(&self, kind: &Kind, node: &str, keys: &mut BTreeSet<String>) -> Result<()> {
        let children = self.shared.children(kind)?;
        if children.health.state() == WatchState::Missing {
            return Ok(());
        }
        children.readable()?;
        children.store.visit_owned(&self.owner.uid, |entry| keys.extend(key_below(node, &entry.value.node)));
        // What was asked to go may have left the cache before it is gone for sure.
        keys.extend(
            self.memory().departing_of(&self.owner, kind).iter().filter_map(|departing| key_below(node, departing)),
        );
        Ok(())
    }

    /// The paths that a node of the tree's shape has among the owner's children, one for each key above it.
    pub(crate) fn paths_of(&self, kind: &Kind, plain: &str) -> Result<Vec<Arc<str>>> {
        let children = self.shared.children(kind)?;
        if children.health.state() == WatchState::Missing {
            return Ok(Vec::new());
        }
        children.readable()?;
        let mut paths = BTreeSet::from([plain.to_owned()]);
        children.store.visit_owned(&self.owner.uid, |entry| {
            if without_keys(&entry.value.node) == plain {
                paths.insert(entry.value.node.to_string());
            }
        });
        paths.extend(
            self.memory().departing_of(&self.owner, kind).into_iter().filter(|path| without_keys(path) == plain),
        );
        Ok(paths.into_iter().map(Arc::from).collect())
    }

    /// The objects that a node has made, with their content, sorted by key. What was asked to go is not among them, nor what the
    /// node doesn't want any more.
    pub(crate) fn objects_of(&self, node: &str, kind: &Kind) -> Result<Vec<OutputObject>> {
        if let Some(rehearsal) = &self.shared.rehearsal {
            return Ok(rehearsal.objects_of(node));
        }
        let children = self.shared.children(kind)?;
        if children.health.state() == WatchState::Missing {
            return Ok(Vec::new());
        }
        children.readable()?;
        let mut objects = self.made.written(node);
        let (written, going) = (objects.len(), self.memory().departing(&self.owner, kind, node));
        for entry in self.of_node(children, node) {
            let header = &entry.header;
            let uid = header.uid.to_string();
            let is_going = header.deleting || going.iter().any(|child| child.uid == header.uid);
            if is_going
                || self.is_given_up(kind, &header.key, node)
                || objects[..written].iter().any(|written| written.uid == uid)
            {
                continue;
            }
            if let Some(json) = entry.value.object.clone() {
                let version = header.resource_version.to_string();
                objects.push(OutputObject { key: header.key.clone(), uid, version, json });
            }
        }
        objects.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(objects)
    }
}
