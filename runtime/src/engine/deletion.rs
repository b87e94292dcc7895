//! The end of a child: asked for once, believed when the server says so.

use crate::{
    cache::{Entry, ObjectKey, Uid},
    client::{Deletion, Target},
    engine::{child::Child, memory::Departing, pass::Core, repair::Damage, waits::Waits},
    error::Result,
    informer::watch::Watched,
    kind::Kind,
};
use kube::api::{DeleteParams, Preconditions, PropagationPolicy};

impl Core<'_> {
    pub(crate) async fn delete_child(&self, kind: &Kind, entry: &Entry<Child>) -> Result<()> {
        let header = &entry.header;
        let child = Departing::new(kind, &entry.value.node, header);
        self.memory().removed(&self.owner, kind, &header.key);
        if header.deleting || self.memory().is_gone(&self.owner, &child) {
            self.memory().depart(&self.owner, child);
            return Ok(());
        }
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        let deletion = self.shared.client.delete(target, &of_this(kind, &header.uid)).await?;
        let replaced = Damage::Replaced { node: entry.value.node.clone() };
        self.note_repair(kind, &header.key, self.is_for_children().then_some(replaced));
        self.memory().depart(&self.owner, Departing { gone: deletion != Deletion::Begun, ..child });
        if deletion != Deletion::Absent {
            let note = format!("deleted {kind} {}", header.key);
            self.shared.recorder.normal(&self.owner.regarding(), "Deleted", "Delete", &note);
        }
        Ok(())
    }

    /// The objects of this node whose deletion was asked for and that are not gone.
    ///
    /// The cache is not believed alone: an object that loses its label leaves the watch just as a deleted one does.
    pub(crate) async fn still_there(
        &self,
        children: &Watched<Child>,
        kind: &Kind,
        node: &str,
        waits: &mut Waits<'_>,
    ) -> Result<()> {
        let departing = self.memory().departing(&self.owner, kind, node);
        for child in departing {
            let cached = children.store.get(&child.key).is_some_and(|entry| entry.header.uid == child.uid);
            if !child.gone && (cached || self.is_alive(kind, &child.key, &child.uid).await?) {
                waits.push(&format!("{kind} {} is being deleted", child.key));
            } else if !cached {
                self.memory().departed(&self.owner, &child);
            }
        }
        Ok(())
    }

    async fn is_alive(&self, kind: &Kind, key: &ObjectKey, uid: &Uid) -> Result<bool> {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let Some(found) = self.shared.client.get_metadata(target).await? else { return Ok(false) };
        Ok(found["metadata"]["uid"].as_str() == Some(uid.to_string().as_str()))
    }
}

/// Deletes the object with this uid, and no other that may have taken its name.
pub(crate) fn of_this(kind: &Kind, uid: &Uid) -> DeleteParams {
    DeleteParams {
        propagation_policy: Some(propagation(kind)),
        preconditions: Some(Preconditions { uid: Some(uid.to_string()), resource_version: None }),
        ..DeleteParams::default()
    }
}

/// Gating on real absence includes what the object itself is made of.
fn propagation(kind: &Kind) -> PropagationPolicy {
    match kind.group.as_ref() {
        "apps" | "batch" => PropagationPolicy::Foreground,
        _ => PropagationPolicy::Background,
    }
}
