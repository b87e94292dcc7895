//! The way down: the tree in reverse, then the finalizer.

use super::{Loop, Next, Opened, status::Stored, unreadable};
use crate::{
    cache::{Encoded, Entry, Header, ObjectKey, ReadError},
    condition::Direction,
    error::{Error, Result},
    pass::Core,
    provisioner::shape::{Node, ResourceOptions, Shape},
};
use serde_json::Value;
use std::sync::Arc;

impl Loop {
    pub(super) async fn tear_down(&self, header: &Header, opened: &dyn Opened) -> Result<Next> {
        let (outcome, status, left) = match self.is_free(header) {
            Ok(()) => {
                // What can't be known now is let go at the end as well.
                let (named, _) = self.resolve(&header.key, &self.named(opened));
                self.run(header, opened, &named, Direction::Down).await
            }
            Err(error) => (Err(error), None, Arc::default()),
        };
        let again = *left.again.lock();
        Ok(again.in_place_of(self.ended(header, outcome, opened, status).await?))
    }

    /// The end of an object that can't be decoded. Where all of its tree are objects that the cache knows, they can go
    /// without knowing what was wanted; a hand-written node has to see its object.
    pub(super) async fn tear_down_unread(&self, entry: &Entry<Encoded>, error: ReadError) -> Result<Next> {
        let header = &entry.header;
        let stored = self.stored_status(entry);
        let mut nodes = Vec::new();
        let outcome = if let Err(error) = self.is_free(header) {
            Err(error)
        } else if resources(self.reconciler.shape(), &mut nodes) {
            let core = Core::new(&self.shared, self.identity(header), &header.resource_version);
            remove_all(&core, nodes).await
        } else {
            Err(unreadable(&error))
        };
        self.ended(header, outcome, &stored, None).await
    }

    async fn ended(
        &self,
        header: &Header,
        outcome: Result<()>,
        stored: &dyn Stored,
        left: Option<Value>,
    ) -> Result<Next> {
        match outcome {
            Ok(()) => {
                self.release_vanished(&header.key).await?;
                // No last status: nobody could read it.
                let version = self.source.release(header, &self.finalizer).await?;
                self.wrote(header, &version);
                self.let_go(&header.key);
                if header.deleting {
                    self.released.lock().insert(header.key.clone(), header.uid.clone());
                }
                Ok(Next::AwaitChange)
            }
            Err(error) => {
                let outcome = Err(error);
                self.conclude(header, Direction::Down, &outcome, None, (stored, left)).await?;
                Ok(match outcome {
                    // Parking would leak the finalizer (unikorn §1.6).
                    Err(Error::Yield { .. }) => Next::Requeue,
                    Err(Error::Conflict(_)) => Next::Soon,
                    _ => Next::Failed,
                })
            }
        }
    }

    /// Whether the end of a deletion is only not seen yet. The answer to the removal of the last finalizer has the version from
    /// before, so the cache can't be told to catch up; and nobody can put a finalizer on an object that is to go.
    pub(super) fn is_released(&self, header: &Header) -> bool {
        header.deleting && self.released.lock().get(&header.key) == Some(&header.uid)
    }

    /// Drops what is known of an object for which nothing is left.
    pub(super) fn let_go(&self, key: &ObjectKey) {
        self.parked().remove(key);
        self.said().remove(key);
        self.conflicts.forget(key);
        self.shared.memory().forget(key);
    }

    /// Drops everything that is known of an object that is gone.
    pub(super) fn forget(&self, key: &ObjectKey) {
        self.let_go(key);
        self.released.lock().remove(key);
        self.doubted.lock().remove(key);
        self.shared.own_writes.forget(key);
        self.reconciler.forget(key);
    }
}

async fn remove_all(core: &Core<'_>, nodes: Vec<(String, &'static Shape)>) -> Result<()> {
    for (plain, shape) in nodes.into_iter().rev() {
        // In the order in which they are made, as the nodes.
        for kind in shape.applied().into_iter().rev() {
            for node in core.paths_of(&kind, &plain)? {
                core.converge(
                    &node,
                    &kind,
                    ResourceOptions { if_api: true, ..ResourceOptions::DEFAULT },
                    None,
                    Vec::new(),
                )
                .await?;
            }
        }
    }
    Ok(())
}

/// The nodes of a tree that apply objects; `false` if it has nodes of another make.
fn resources(shape: &'static Shape, nodes: &mut Vec<(String, &'static Shape)>) -> bool {
    let mut known = true;
    shape.walk(&mut |stop| match stop.shape.node {
        Node::Resource | Node::Manifest(_) => nodes.push((stop.path.to_owned(), stop.shape)),
        Node::Group { .. } => {}
        Node::Custom => known = false,
    });
    known
}
