//! The way down: the tree in reverse, then the finalizer.

use crate::{
    cache::{Encoded, Entry, Header, ObjectKey},
    condition::Direction,
    engine::pass::Core,
    error::{Error, Result},
    queue::Trigger,
    shape::{Node, ResourceOptions, Shape},
};
use serde_json::Value;
use std::sync::Arc;
use {
    super::reference::RING,
    crate::reconcile::{
        control_loop::Loop,
        next::{CATCH_UP, Next},
        reconciler::Opened,
        stored_status::Stored,
    },
};

impl Loop {
    pub(super) async fn tear_down(&self, entry: &Entry<Encoded>, opened: &dyn Opened) -> Result<Next> {
        let header = &entry.header;
        if self.is_orphaning(header) {
            return self.orphan(entry, opened).await;
        }
        let (outcome, status, left) = match self.await_holders(header, opened).await {
            Ok(()) => {
                // What can't be known now is let go at the end as well.
                match self.named(opened) {
                    Ok(pointers) => {
                        let (named, _) = self.resolve(&header.key, &pointers);
                        self.run(header, opened, &named, (Direction::Down, Trigger::Related)).await
                    }
                    Err(error) => (Err(error), None, Arc::default()),
                }
            }
            Err(error) => (Err(error), None, Arc::default()),
        };
        let again = *left.again.lock();
        Ok(again.in_place_of(self.ended(entry, outcome, opened, status).await?))
    }

    /// The end of an object that can't be decoded. Where all of its tree are objects that the cache knows, they can go
    /// without knowing what was wanted; a hand-written node has to see its object.
    pub(super) async fn tear_down_unread(&self, entry: &Entry<Encoded>, error: Error) -> Result<Next> {
        let header = &entry.header;
        let stored = self.stored_status(entry);
        if self.is_orphaning(header) {
            return self.orphan(entry, &stored).await;
        }
        let mut nodes = Vec::new();
        let outcome = if let Err(error) = self.await_holders(header, &stored).await {
            Err(error)
        } else if resources(self.reconciler.shape(), &mut nodes) {
            let core = Core::new(&self.shared, self.identity(header), &header.resource_version);
            remove_all(&core, nodes).await
        } else {
            Err(error)
        };
        self.ended(entry, outcome, &stored, None).await
    }

    /// The children don't wait for those that name the object, as the garbage collector doesn't either.
    async fn orphan(&self, entry: &Entry<Encoded>, stored: &dyn Stored) -> Result<Next> {
        let header = &entry.header;
        let outcome = match self.release_children(header).await {
            Ok(()) => self.await_holders(header, stored).await,
            released => released,
        };
        self.ended(entry, outcome, stored, None).await
    }

    async fn ended(
        &self,
        entry: &Entry<Encoded>,
        outcome: Result<()>,
        stored: &dyn Stored,
        left: Option<Value>,
    ) -> Result<Next> {
        let header = &entry.header;
        match outcome {
            Ok(()) => {
                self.release_vanished(&header.key).await?;
                // No last status: nobody could read it.
                let version = self.source.release(header, &self.finalizer).await?;
                match self.source.objects().store().get(&header.key) {
                    Some(_) => self.wrote(header, &version),
                    // It left the selection, so no watch will ever show the write, and no pass will look for it.
                    None => self.shared.own_writes.forget(&header.key),
                }
                self.states.release(header);
                self.shared.memory().forget(&header.key);
                Ok(Next::AwaitChange)
            }
            Err(error) => {
                let outcome = Err(error);
                let at = (entry, &header.resource_version);
                self.conclude(at, Direction::Down, &outcome, None, (stored, left)).await?;
                Ok(match outcome {
                    // Parking would leak the finalizer (unikorn §1.6).
                    Err(Error::Yield { reason, .. }) if reason == RING => Next::After(CATCH_UP),
                    Err(Error::Yield { .. }) => Next::Requeue,
                    Err(Error::Conflict(_)) => Next::Retry,
                    _ => Next::Failed,
                })
            }
        }
    }

    /// Whether the end of a deletion is only not seen yet. The answer to the removal of the last finalizer has the version from
    /// before, so the cache can't be told to catch up; and nobody can put a finalizer on an object that is to go.
    pub(super) fn is_released(&self, header: &Header) -> bool {
        header.deleting && self.states.is_released(header)
    }

    /// Drops everything that is known of an object that is gone.
    pub(super) fn forget(&self, key: &ObjectKey) {
        self.states.forget(key);
        self.shared.memory().forget(key);
        self.reported.forget(key);
        self.shared.own_writes.forget(key);
        self.shared.echoes.forget(key);
        self.reconciler.forget(key);
        self.recent.forget(key);
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
