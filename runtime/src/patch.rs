//! Computes the difference between an object as read and as edited, so that a write contains only the changes.
//!
//! A [`Snapshot`] is taken before the edit, and the write consumes it, so it can't be used twice. Spec and
//! metadata are written by one merge patch without a resourceVersion, so that edits of other fields by other clients are
//! retained. The status is written by one replacement with the resourceVersion at which it was read. It is replaced as a whole,
//! so cleared fields are removed.

use crate::error::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::marker::PhantomData;

/// The state of an object before an edit.
#[derive(Debug)]
#[non_exhaustive]
pub struct Snapshot<K> {
    main: Value,
    status: Value,
    kind: PhantomData<fn() -> K>,
}

/// The changes of an edit, by the calls that write them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// The JSON merge patch for everything except the status; `None` without a change.
    pub main: Option<Value>,
    /// The whole new status; `None` without a change.
    pub status: Option<Value>,
}

impl Changes {
    /// Returns whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.main.is_none() && self.status.is_none()
    }
}

impl<K: Serialize + DeserializeOwned> Snapshot<K> {
    /// Takes a snapshot of the current state of an object.
    ///
    /// # Errors
    /// Fails if the object can't be serialized as JSON.
    pub fn of(object: &K) -> Result<Self> {
        let (main, status) = split_status(serde_json::to_value(object)?);
        Ok(Self { main, status, kind: PhantomData })
    }

    /// Returns the changes from the snapshot to the `edited` object: a merge patch, and the new status. A missing status equals an empty
    /// one.
    ///
    /// # Errors
    /// Fails if the object can't be serialized as JSON, or if its finalizers were edited: a merge patch would replace the
    /// finalizers of other clients.
    pub fn changes(&self, edited: &K) -> Result<Changes> {
        let (main, status) = split_status(serde_json::to_value(edited)?);
        if main["metadata"]["finalizers"] != self.main["metadata"]["finalizers"] {
            return Err(Error::terminal("FinalizersEdited", "an edit can't change finalizers"));
        }
        Ok(Changes { main: merge_patch(&self.main, &main), status: (status != self.status).then_some(status) })
    }
}

/// Splits the JSON of an object into the object without its status, and the status, which is `{}` if the object has none.
fn split_status(mut object: Value) -> (Value, Value) {
    let status = object.as_object_mut().and_then(|object| object.remove("status")).unwrap_or_default();
    (object, if status.is_null() { json!({}) } else { status })
}

/// Returns the merge patch (RFC 7386) from `before` to `after`; `None` if they are equal.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    match (before, after) {
        _ if before == after => None,
        // In a merge patch, a null removes a field, and an object changes only the fields that it contains.
        (Value::Object(before), Value::Object(after)) => {
            let removed =
                before.keys().filter(|name| !after.contains_key(*name)).map(|name| (name.clone(), Value::Null));
            let changed = after.iter().filter_map(|(name, value)| {
                let patch = merge_patch(before.get(name).unwrap_or(&Value::Null), value)?;
                Some((name.clone(), patch))
            });
            Some(Value::Object(removed.chain(changed).collect::<Map<_, _>>()))
        }
        _ => Some(after.clone()),
    }
}

/// Returns an object with its status replaced, for the write of the status: the response to the patch of the other fields has the stored
/// status.
pub(crate) fn with_status(mut object: Value, status: Value) -> Value {
    object["status"] = status;
    object
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn changes(before: Value, after: Value) -> Changes {
        Snapshot::of(&before).unwrap().changes(&after).unwrap()
    }

    #[test]
    fn patch_p4_nothing_changed_makes_no_call() {
        let object = json!({"metadata": {"name": "a"}, "spec": {"b": 1, "a": [1, 2]}, "status": {"x": 1}});
        assert!(changes(object.clone(), object).is_empty());
    }

    #[test]
    fn patch_p2_a_missing_status_and_an_empty_one_are_the_same() {
        assert!(changes(json!({"spec": {}}), json!({"spec": {}, "status": {}})).is_empty());
        assert!(changes(json!({"spec": {}, "status": null}), json!({"spec": {}, "status": {}})).is_empty());
    }

    #[test]
    fn patch_p5_an_edit_of_spec_and_metadata_is_one_merge_patch() {
        let before =
            json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"keep": 1, "edit": 1}, "status": {"x": 1}});
        let after = json!({"metadata": {"labels": {"a": "1"}}, "spec": {"keep": 1, "edit": 2}, "status": {"x": 1}});
        let main = json!({"metadata": {"labels": {"b": null}}, "spec": {"edit": 2}});
        assert_eq!(changes(before, after), Changes { main: Some(main), status: None });
    }

    #[test]
    fn patch_p6_an_edit_of_the_status_leaves_the_rest_alone() {
        let changes = changes(json!({"spec": {}, "status": {"x": 1}}), json!({"spec": {}, "status": {"y": 2}}));
        assert_eq!(changes, Changes { main: None, status: Some(json!({"y": 2})) });
    }

    #[test]
    fn patch_p13_a_status_field_that_was_cleared_together_with_a_spec_edit_is_cleared() {
        let before = json!({"spec": {"a": 1}, "status": {"stale": 1, "list": [{"name": "x", "interface": "eth0"}]}});
        let after = json!({"spec": {"a": 2}, "status": {"list": [{"name": "y"}]}});
        let changes = changes(before.clone(), after);
        assert_eq!(changes.main, Some(json!({"spec": {"a": 2}})));
        let object = with_status(before, changes.status.unwrap());
        assert_eq!(object["status"], json!({"list": [{"name": "y"}]}));
    }

    #[test]
    fn patch_p16_the_main_patch_never_carries_the_status() {
        let changes =
            changes(json!({"spec": {"a": 1}, "status": {"x": 1}}), json!({"spec": {"a": 2}, "status": {"x": 2}}));
        assert_eq!(changes.main.unwrap().get("status"), None);
    }

    #[test]
    fn edited_finalizers_are_refused() {
        let snapshot = Snapshot::of(&json!({"metadata": {"finalizers": ["a/b"]}})).unwrap();
        let refused = snapshot.changes(&json!({"metadata": {"finalizers": []}})).unwrap_err();
        assert!(refused.to_string().contains("an edit can't change finalizers"));
    }

    #[test]
    fn a_merge_patch_replaces_lists_and_scalars_whole() {
        assert_eq!(merge_patch(&json!({"a": [1, 2]}), &json!({"a": [2]})), Some(json!({"a": [2]})));
        assert_eq!(merge_patch(&json!({"a": 1}), &json!({"a": {"b": 1}})), Some(json!({"a": {"b": 1}})));
    }
}
