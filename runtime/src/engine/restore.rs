//! Restores the operator's label and the owner reference of child objects after another client has removed them.
//!
//! When a node writes its object, that restores both. This module handles the children that no node writes in the pass.
//!
//! # Labels
//! An object that loses the operator's label leaves the watch just as a deleted one does. The pass that follows may not reach its
//! node, because an earlier node is not ready, and then an edit may make the object unwanted. So the end of each pass reads the
//! objects that left the watch and that no node has claimed: one that still exists gets its label back, and the watch delivers it
//! again. A label that is removed while no operator runs is not restored before a node applies the object.
//!
//! # Owner references
//! A child without its owner reference still has the uid of the owner in an annotation, see
//! [`applied_mark`](crate::engine::applied_mark). A teardown restores the reference first. The exception is a deleted owner that
//! no child references any more: its children were orphaned by `kubectl delete --cascade=orphan` while no operator ran, since the
//! garbage collector then removes all references. These children stay.

use crate::{
    cache::{Entry, Header, Uid},
    client::CallError,
    engine::{
        child::{Child, child_header},
        desired::{MANAGED_BY_LABEL, add_owner},
        identity::OwnerNaming,
        owner_state::StrippedChild,
        pass::PassCore,
    },
    error::{Error, Result},
    scope::is_record,
};
use serde_json::{Map, Value, json, value::RawValue};
use std::borrow::Cow;

impl PassCore<'_> {
    /// Restores the operator's label of the owner's children that left the watch and that no node has claimed in this pass. The control
    /// loop calls it at the end of each pass.
    ///
    /// # Errors
    /// A yield if it has restored a label: the next pass decides about this child. The error of a failed call; the next pass looks up the
    /// remaining children.
    pub(crate) async fn restore_labels(&self) -> Result<()> {
        let departed = self.owner_states().departed_children(&self.owner);
        let mut outcome = Ok(());
        for child in departed {
            let is_cached = self.shared.children(&child.kind)?.store.get(&child.key).is_some();
            // The node that wants the child restores its label when it applies the child.
            if !is_cached && self.is_claimed(&child.kind, &child.key) {
                continue;
            }
            if !is_cached && self.restore_label(&child).await? {
                let StrippedChild { kind, key, .. } = &child;
                outcome =
                    Err(Error::yielding("WaitingFor", format!("{kind} {key} had lost the label of the operator")));
            }
            self.owner_states().remove_departed_child(&self.owner, &child);
        }
        outcome
    }

    /// Prepares a teardown: restores the owner references that other clients have removed from children. If the owner is being deleted
    /// (`is_deleted`) and none of its children has an owner reference any more, the garbage collector has orphaned the children: then it
    /// restores nothing, and the teardown leaves these children alone.
    ///
    /// # Errors
    /// A yield if it has restored a reference: the watch delivers the child again. The error of a failed call.
    pub(crate) async fn restore_owner_references(&mut self, is_deleted: bool) -> Result<()> {
        let (mut is_referenced, mut stripped) = (false, Vec::new());
        for (kind, children) in &self.shared.children {
            children.store.visit_owned(&self.owner.uid, |child| match self.is_owner_of(&child.header) {
                true => is_referenced |= has_owner_reference(&child.header, &self.owner.uid),
                false => stripped.push(StrippedChild::new(kind, &child.header)),
            });
        }
        // The garbage collector orphans no children of an owner in a bucket.
        self.keeps_orphans = is_deleted && !is_referenced && self.owner.naming == OwnerNaming::Reference;
        if self.keeps_orphans {
            return Ok(());
        }
        let mut outcome = Ok(());
        for child in &stripped {
            if self.restore_owner(child).await? {
                let message = format!("{} {} had lost its owner reference", child.kind, child.key);
                outcome = Err(Error::yielding("WaitingFor", message));
            }
        }
        outcome
    }

    /// Returns whether the nodes of the pass handle a cached child. In the teardown of an owner whose children were orphaned, they handle
    /// only children that still name the owner, and the records of remote clusters.
    pub(crate) fn takes_part(&self, child: &Entry<Child>) -> bool {
        !self.keeps_orphans || self.is_owner_of(&child.header) || is_record(&child.header)
    }

    /// Restores the operator's label of an object. Returns `false` if the object is gone or being deleted, or no longer names the owner.
    async fn restore_label(&self, child: &StrippedChild) -> Result<bool, CallError> {
        let Some((header, _)) = self.live_metadata(child).await?.filter(|(header, _)| !header.deleting) else {
            return Ok(false);
        };
        let labels = json!({MANAGED_BY_LABEL: self.shared.operator});
        self.restore(child, &header, json!({"labels": labels})).await
    }

    /// Restores the owner reference of an object, or the owner mark (an annotation) where no reference is possible. Returns `false` if the
    /// object is gone, or has a controller by now.
    async fn restore_owner(&self, child: &StrippedChild) -> Result<bool, CallError> {
        let Some((header, mut metadata)) = self.live_metadata(child).await? else { return Ok(false) };
        if header.controller().is_some() {
            return Ok(false);
        }
        // A merge patch replaces the list of owner references, so the existing ones are part of it.
        let mut change = Map::new();
        change.extend(metadata.remove_entry("ownerReferences"));
        let owner = match is_record(&header) {
            true => Cow::Owned(self.owner.named_by(OwnerNaming::Mark)),
            false => self.owner_of(&child.kind),
        };
        add_owner(&mut change, &owner, child.key.namespace());
        self.restore(child, &header, Value::Object(change)).await
    }

    /// Reads the metadata of a child from the API server. `None` if the child is gone, if another object has its name, or if its metadata
    /// no longer names the owner.
    async fn live_metadata(&self, child: &StrippedChild) -> Result<Option<(Header, Map<String, Value>)>, CallError> {
        let found = self.shared.client.get_metadata::<Box<RawValue>>(child.target()).await?;
        let read = |found: Box<RawValue>| {
            let header = child_header(found.get().as_bytes()).ok()?;
            let object = serde_json::from_str::<Map<String, Value>>(found.get()).ok()?.remove("metadata")?;
            let Value::Object(metadata) = object else { return None };
            (header.uid == child.uid && self.has_been_owner_of(&header)).then_some((header, metadata))
        };
        Ok(found.and_then(read))
    }

    /// Merges `metadata` into the metadata of a child. The patch has the uid and the resourceVersion of the live read, so the API server
    /// refuses it if another client has changed the object meanwhile. Returns `false` if the object is gone.
    async fn restore(&self, child: &StrippedChild, header: &Header, mut metadata: Value) -> Result<bool, CallError> {
        metadata["uid"] = child.uid.to_string().into();
        metadata["resourceVersion"] = header.resource_version.to_string().into();
        match self.shared.client.merge(child.target(), &json!({"metadata": metadata}), &self.shared.operator).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether an object has an owner reference with this uid, and not only a mark.
fn has_owner_reference(header: &Header, owner: &Uid) -> bool {
    header.owners.iter().any(|reference| reference.uid == *owner && !reference.api_version().is_empty())
}
