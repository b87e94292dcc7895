//! Deletion with the propagation policy `Orphan`: children are released, not deleted.
//!
//! # Flow
//! 1. The API server puts the finalizer `orphan` on the object. The garbage collector removes the owner references from all
//!    dependents and then that finalizer, and doesn't wait for the operator. So whoever sees the finalizer notes the
//!    policy: in memory with the event, and in an annotation of the object before the first child is released.
//! 2. Each child loses its owner reference or owner mark, the label and the annotations of the operator; a child whose owner
//!    reference the collector was first to remove loses the rest.
//! 3. No node is deprovisioned. References that the object holds are released, and then its finalizer.

use crate::{
    cache::{Change, Encoded, Header, ObjectKey, Uid},
    client::{CallError, Target},
    engine::{
        child::Child,
        desired::{APPLIED, MANAGED_BY, NODE},
        owner_mark::OWNER,
    },
    error::Result,
    informer::watch::{WatchState, Watched},
    kind::Kind,
    reconcile::control_loop::Loop,
};
use serde_json::{Map, Value, json};

/// The finalizer by which the API server asks the garbage collector to orphan the dependents.
const FINALIZER: &str = "orphan";

/// The annotation that keeps the policy of a deletion once the collector has removed its finalizer.
const PROPAGATION: &str = "opgen.dev/deletion-propagation";

/// The value of [`PROPAGATION`], as in `DeleteOptions`.
const ORPHAN: &str = "Orphan";

impl Loop {
    /// Notes the policy of a deletion that begins.
    pub(crate) fn note_propagation(&self, change: &Change<Encoded>) {
        if let Some(new) = change.new_entry()
            && new.header.deleting
            && new.header.finalizers.contains(FINALIZER)
        {
            self.states.orphan(&new.header);
        }
    }

    /// Whether an object is being deleted and its children are to stay.
    pub(super) fn is_orphaning(&self, header: &Header) -> bool {
        header.deleting
            && (header.finalizers.contains(FINALIZER)
                || header.annotations.get(PROPAGATION) == Some(ORPHAN)
                || self.states.is_orphaning(header))
    }

    /// Removes everything from the children of an object that says whose they are.
    ///
    /// # Errors
    /// A yield if a kind of children can't be read. A conflict if a child was changed meanwhile.
    pub(super) async fn release_children(&self, header: &Header) -> Result<()> {
        if header.annotations.get(PROPAGATION) != Some(ORPHAN) {
            self.annotate(header).await?;
        }
        let mut released = 0;
        for (kind, children) in &self.shared.children {
            if children.health.state() == WatchState::Missing {
                continue;
            }
            children.readable()?;
            for (key, uid) in of_owner(children, &header.uid) {
                released += usize::from(self.release_child(kind, &key, &uid, &header.uid).await?);
            }
        }
        if released > 0 {
            let note = format!("left {released} children in place");
            self.shared.recorder.normal(&self.identity(header).regarding(), "Orphaned", "Orphan", &note);
        }
        Ok(())
    }

    async fn annotate(&self, header: &Header) -> Result<()> {
        let kind = self.source.kind();
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        let patch = json!({"metadata": {"uid": header.uid.to_string(), "annotations": {PROPAGATION: ORPHAN}}});
        let answer = self.shared.client.merge(target, &patch, &self.shared.operator).await?;
        let version = answer["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        self.wrote(header, &version.into());
        Ok(())
    }

    /// Whether there was something to remove. The live object decides: the collector may be at work on it.
    async fn release_child(&self, kind: &Kind, key: &ObjectKey, uid: &Uid, owner: &Uid) -> Result<bool, CallError> {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let live = self.shared.client.get_metadata(target).await?;
        let Some(change) = live.and_then(|live| without_owner(&live["metadata"], uid, owner, &self.shared.operator))
        else {
            return Ok(false);
        };
        let patch = json!({"metadata": change});
        match self.shared.client.merge(target, &patch, &self.shared.operator).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The children of an owner, with their uids, and those that it had.
fn of_owner(children: &Watched<Child>, owner: &Uid) -> Vec<(ObjectKey, Uid)> {
    let mut all = children.unowned.of(owner);
    children.store.visit_owned(owner, |entry| all.push((entry.header.key.clone(), entry.header.uid.clone())));
    all
}

/// The merge patch of the metadata of a child that removes its owner and the operator's marks; `None` if there is nothing to
/// remove, or the object is another or another controller's.
fn without_owner(metadata: &Value, uid: &Uid, owner: &Uid, operator: &str) -> Option<Value> {
    let owner = owner.to_string();
    let is_other = |reference: &&Value| reference["uid"] != owner.as_str();
    let references = metadata["ownerReferences"].as_array().map_or(&[][..], Vec::as_slice);
    let others: Vec<&Value> = references.iter().filter(is_other).collect();
    let is_anothers = others.iter().any(|reference| reference["controller"] == true);
    if metadata["uid"] != uid.to_string().as_str() || is_anothers {
        return None;
    }
    let mut change = Map::new();
    if others.len() < references.len() {
        change.insert("ownerReferences".into(), if others.is_empty() { Value::Null } else { json!(others) });
    }
    if metadata["labels"][MANAGED_BY] == operator {
        change.insert("labels".into(), json!({MANAGED_BY: null}));
    }
    let marks = [NODE, APPLIED, OWNER].into_iter().filter(|mark| !metadata["annotations"][*mark].is_null());
    let marks: Map<String, Value> = marks.map(|mark| (mark.to_owned(), Value::Null)).collect();
    if !marks.is_empty() {
        change.insert("annotations".into(), marks.into());
    }
    if change.is_empty() {
        return None;
    }
    // A write in between is a conflict, and an object made anew under the name is none of this one's.
    for guard in ["uid", "resourceVersion"] {
        change.insert(guard.into(), metadata[guard].clone());
    }
    Some(change.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(owners: Value) -> Value {
        json!({
            "name": "a", "uid": "c", "resourceVersion": "7", "ownerReferences": owners,
            "labels": {MANAGED_BY: "live", "app": "a"}, "annotations": {NODE: "config", APPLIED: "0f", "note": "mine"},
        })
    }

    fn change(metadata: &Value) -> Option<Value> {
        without_owner(metadata, &Uid::from("c"), &Uid::from("o"), "live")
    }

    #[test]
    fn owner_and_marks_are_removed_and_everything_else_stays() {
        let (own, other) = (json!({"uid": "o", "controller": true}), json!({"uid": "x", "blockOwnerDeletion": true}));
        let marks = json!({
            "labels": {MANAGED_BY: null}, "annotations": {NODE: null, APPLIED: null}, "uid": "c", "resourceVersion": "7",
        });
        for (owners, left) in
            [(json!([own, other]), Some(json!([other]))), (json!([own]), Some(Value::Null)), (json!([other]), None)]
        {
            let mut expected = marks.clone();
            if let Some(left) = left {
                expected["ownerReferences"] = left;
            }
            assert_eq!(change(&child(owners)), Some(expected));
        }
    }

    #[test]
    fn what_is_released_or_another_s_is_left_alone() {
        assert_eq!(change(&json!({"name": "a", "uid": "c", "labels": {"app": "a"}})), None);
        assert_eq!(change(&child(json!([{"uid": "o"}, {"uid": "x", "controller": true}]))), None);
        let mut another = child(json!([]));
        another["uid"] = "d".into();
        assert_eq!(change(&another), None);
        let mut of_another_operator = child(json!([]));
        of_another_operator["labels"][MANAGED_BY] = "other".into();
        assert_eq!(change(&of_another_operator).map(|change| change["labels"].clone()), Some(Value::Null));
    }
}
