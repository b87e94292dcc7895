//! Releases the children of a primary that is deleted with the propagation policy `Orphan`, instead of deleting them.
//!
//! # Flow
//! 1. The API server adds the finalizer `orphan` to the object. The garbage collector removes the owner references from all
//!    dependents and then that finalizer, and doesn't wait for the operator. So the operator notes the policy: in memory when the
//!    watch delivers the finalizer, and in an annotation of the object before it releases the first child.
//! 2. Each child loses its owner reference or owner mark, and the label and the annotations of the operator. If the collector has
//!    already removed the owner reference, the operator removes the rest.
//! 3. No node is deprovisioned. The operator releases the references of the object, and then removes its finalizer.

use crate::{
    cache::{Change, Encoded, Header, ObjectKey, Uid},
    client::{CallError, Target},
    engine::{
        applied_mark::APPLIED_ANNOTATION,
        deletion::delete_params,
        desired::{MANAGED_BY_LABEL, NODE_ANNOTATION},
        owner_mark::OWNER_ANNOTATION,
    },
    error::Result,
    informer::watch::WatchState,
    kind::Kind,
    reconcile::control_loop::Loop,
    scope::is_record,
};
use serde_json::{Map, Value, json};

/// The finalizer with which the API server requests that the garbage collector orphans the dependents.
const ORPHAN_FINALIZER: &str = "orphan";

/// The annotation that stores the policy of a deletion after the garbage collector has removed its finalizer.
const PROPAGATION_ANNOTATION: &str = "opgen.dev/deletion-propagation";

/// The value of [`PROPAGATION_ANNOTATION`], as in `DeleteOptions`.
const ORPHAN_POLICY: &str = "Orphan";

impl Loop {
    /// Records that an object is being deleted with the propagation policy `Orphan`, when the watch delivers the finalizer `orphan` of the
    /// garbage collector, which removes that finalizer later.
    pub(crate) fn note_deletion_propagation(&self, change: &Change<Encoded>) {
        if let Some(new) = change.new_entry()
            && new.header.deleting
            && new.header.finalizers.contains(ORPHAN_FINALIZER)
        {
            self.states.set_orphaning(&new.header);
        }
    }

    /// Returns whether an object is being deleted with the policy `Orphan`, so that its children stay.
    pub(super) fn is_orphaning(&self, header: &Header) -> bool {
        header.deleting
            && (header.finalizers.contains(ORPHAN_FINALIZER)
                || header.annotations.get(PROPAGATION_ANNOTATION) == Some(ORPHAN_POLICY)
                || self.states.is_orphaning(header))
    }

    /// Removes the owner and the operator's label and annotations from the children of an object that is deleted with the policy `Orphan`,
    /// and records an event if there were children. First stores the policy in the object, so that a restarted operator still knows it.
    /// Children in other clusters stay as they are; the records of these clusters (ConfigMaps that remember them) are deleted.
    ///
    /// # Errors
    /// A yield if the store of a kind of children can't be read yet. A conflict if a child has changed meanwhile.
    pub(super) async fn release_children(&self, header: &Header) -> Result<()> {
        if header.annotations.get(PROPAGATION_ANNOTATION) != Some(ORPHAN_POLICY) {
            self.annotate_orphan_policy(header).await?;
        }
        let mut released = 0;
        for (kind, children) in &self.shared.children {
            // The API server does not serve the kind, so there are no objects.
            if children.health.state() == WatchState::Missing {
                continue;
            }
            children.check_readable()?;
            let mut keys = Vec::new();
            children.store.visit_owned(&header.uid, |entry| {
                let Header { key, uid, .. } = &entry.header;
                keys.push((key.clone(), uid.clone(), is_record(&entry.header)));
            });
            for (key, uid, is_record) in keys {
                if is_record {
                    let target = Target { kind, namespace: key.namespace(), name: key.name() };
                    self.shared.client.delete(target, &delete_params(kind, &uid, None)).await?;
                } else {
                    released += usize::from(self.release_child(kind, &key, &uid, &header.uid).await?);
                }
            }
        }
        if released > 0 {
            let note = format!("kept {released} children");
            let regarding = self.shared.regarding(self.identity(header).event_object());
            self.shared.recorder.normal(&regarding, "Orphaned", "Orphan", &note);
        }
        Ok(())
    }

    /// Stores the orphan policy in an annotation of the object.
    async fn annotate_orphan_policy(&self, header: &Header) -> Result<()> {
        let kind = self.source.kind();
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        let annotations = json!({PROPAGATION_ANNOTATION: ORPHAN_POLICY});
        // With the uid, the API server refuses the patch if another object has the name by now.
        let patch = json!({"metadata": {"uid": header.uid.to_string(), "annotations": annotations}});
        let response = self.shared.client.merge(target, &patch, &self.shared.operator).await?;
        let version = response["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        self.note_own_write(header, &version.into());
        Ok(())
    }

    /// Removes the owner and the operator's label and annotations from one child. Returns whether there was anything to remove. Reads the
    /// child from the API server before the patch, because the garbage collector may be changing it.
    async fn release_child(&self, kind: &Kind, key: &ObjectKey, uid: &Uid, owner: &Uid) -> Result<bool, CallError> {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let live = self.shared.client.get_metadata::<Value>(target).await?;
        let operator = &self.shared.operator;
        let Some(metadata) = live.and_then(|live| release_patch(&live["metadata"], uid, owner, operator)) else {
            return Ok(false);
        };
        let patch = json!({"metadata": metadata});
        match self.shared.client.merge(target, &patch, &self.shared.operator).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Returns the merge patch of a child's metadata that removes its owner and the operator's label and annotations. `None` if there
/// is nothing to remove, if the object has another uid, or if it has another controller.
fn release_patch(metadata: &Value, uid: &Uid, owner: &Uid, operator: &str) -> Option<Value> {
    let owner = owner.to_string();
    let is_other = |reference: &&Value| reference["uid"] != owner.as_str();
    let references = metadata["ownerReferences"].as_array().map_or(&[][..], Vec::as_slice);
    let others: Vec<&Value> = references.iter().filter(is_other).collect();
    let has_other_controller = others.iter().any(|reference| reference["controller"] == true);
    if metadata["uid"] != uid.to_string().as_str() || has_other_controller {
        return None;
    }
    let mut change = Map::new();
    if others.len() < references.len() {
        change.insert("ownerReferences".into(), if others.is_empty() { Value::Null } else { json!(others) });
    }
    if metadata["labels"][MANAGED_BY_LABEL] == operator {
        change.insert("labels".into(), json!({MANAGED_BY_LABEL: null}));
    }
    let marks = [NODE_ANNOTATION, APPLIED_ANNOTATION, OWNER_ANNOTATION]
        .into_iter()
        .filter(|mark| !metadata["annotations"][*mark].is_null());
    let marks: Map<String, Value> = marks.map(|mark| (mark.to_owned(), Value::Null)).collect();
    if !marks.is_empty() {
        change.insert("annotations".into(), marks.into());
    }
    if change.is_empty() {
        return None;
    }
    // With these fields in the patch, a concurrent write or a re-created object of this name is a conflict.
    for guard in ["uid", "resourceVersion"] {
        change.insert(guard.into(), metadata[guard].clone());
    }
    Some(change.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the metadata of a child of the operator `live`, with these owner references.
    fn child(owners: Value) -> Value {
        json!({
            "name": "a", "uid": "c", "resourceVersion": "7", "ownerReferences": owners,
            "labels": {MANAGED_BY_LABEL: "live", "app": "a"},
            "annotations": {NODE_ANNOTATION: "config", APPLIED_ANNOTATION: "0f", "note": "mine"},
        })
    }

    fn change(metadata: &Value) -> Option<Value> {
        release_patch(metadata, &Uid::from("c"), &Uid::from("o"), "live")
    }

    #[test]
    fn owner_and_marks_are_removed_and_everything_else_stays() {
        let (own, other) = (json!({"uid": "o", "controller": true}), json!({"uid": "x", "blockOwnerDeletion": true}));
        let marks = json!({
            "labels": {MANAGED_BY_LABEL: null},
            "annotations": {NODE_ANNOTATION: null, APPLIED_ANNOTATION: null},
            "uid": "c", "resourceVersion": "7",
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
    fn released_objects_and_objects_of_others_are_not_changed() {
        assert_eq!(change(&json!({"name": "a", "uid": "c", "labels": {"app": "a"}})), None);
        assert_eq!(change(&child(json!([{"uid": "o"}, {"uid": "x", "controller": true}]))), None);
        let mut another = child(json!([]));
        another["uid"] = "d".into();
        assert_eq!(change(&another), None);
        let mut of_another_operator = child(json!([]));
        of_another_operator["labels"][MANAGED_BY_LABEL] = "other".into();
        assert_eq!(change(&of_another_operator).map(|change| change["labels"].clone()), Some(Value::Null));
    }
}
