//! The way down: the tree in reverse, then the finalizer.

use super::{Loop, Next, Opened, unreadable};
use crate::{
    cache::{Encoded, Entry, Header, ReadError},
    condition::Direction,
    error::{Error, Result},
    pass::Core,
    provisioner::shape::{Node, ResourceOptions, Shape},
};
use serde_json::Value;

impl Loop {
    pub(super) async fn tear_down(&self, header: &Header, opened: &dyn Opened) -> Result<Next> {
        let (outcome, status) = match self.is_free(header) {
            Ok(()) => {
                let (outcome, status, _) = self.run(header, opened, Direction::Down).await;
                (outcome, status)
            }
            Err(error) => (Err(error), opened.status()),
        };
        self.ended(header, outcome, opened.status(), status).await
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
        self.ended(header, outcome, stored.clone(), stored).await
    }

    async fn ended(&self, header: &Header, outcome: Result<()>, stored: Value, status: Value) -> Result<Next> {
        match outcome {
            Ok(()) => {
                self.release_vanished(&header.key).await?;
                // No last status: nobody could read it.
                let version = self.source.release(header, &self.finalizer).await?;
                self.wrote(header, &version);
                self.let_go(&header.key);
                Ok(Next::AwaitChange)
            }
            Err(error) => {
                let outcome = Err(error);
                self.conclude(header, Direction::Down, &outcome, stored, status).await?;
                Ok(match outcome {
                    // Parking would leak the finalizer (unikorn §1.6).
                    Err(Error::Yield { .. }) => Next::Requeue,
                    Err(Error::Conflict(_)) => Next::Soon,
                    _ => Next::Failed,
                })
            }
        }
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
