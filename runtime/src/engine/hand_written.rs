//! `NodeWrites`: detects hand-written nodes that change the same object in every pass although no input has changed.
//!
//! The answer of the API server does not tell whether a write changed the object. So [`NodeWrites`] compares the revision in
//! the answer with the revision in the controller's watch and with the revision after the previous write. It covers only kinds
//! that the controller watches, because a write of another kind triggers no pass.

use crate::cache::{Header, ResourceVersion, Revision};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Maximum number of tracked objects of one owner. Beyond it, the object with the oldest write is dropped.
const MAX_OBJECTS: usize = 256;

/// The last write of each object that hand-written nodes wrote for one owner, the oldest first.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct NodeWrites(Vec<LastWrite>);

#[derive(Clone, Debug, Default, PartialEq)]
struct LastWrite {
    /// Hash of kind and key.
    object: u64,
    /// The revision of the object after the write; `None` during a write and after a deletion.
    revision: Option<Revision>,
    /// Hash of the body that was sent.
    sent: Option<u64>,
}

/// The effect of a write on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteEffect {
    /// The object already had the written state.
    Unchanged,
    /// The object changed, and the body differs from that of the previous write.
    Changed,
    /// The object changed although the body equals that of the previous write: another client had undone the previous write.
    Restored,
}

/// Returns the revision in the answer to a write of an object or of its subresource; `None` if the answer has no resourceVersion.
/// A subresource has no generation.
pub(crate) fn revision_of(answer: &Value, subresource: &str) -> Option<Revision> {
    let metadata = &answer["metadata"];
    let version = metadata["resourceVersion"].as_str().filter(|version| !version.is_empty())?;
    let generation = metadata["generation"].as_i64().filter(|_| subresource.is_empty());
    Some(Revision { version: ResourceVersion::from(version), generation })
}

impl NodeWrites {
    /// Starts a write of an object by a hand-written node. Until the write ends, each change of the object in the watch counts as the
    /// node's own write. Returns the revision of the object after the node's previous write; `None` if it is unknown.
    pub(crate) fn begin(&mut self, object: u64) -> Option<Revision> {
        let mut write = self.take(object);
        let previous = write.revision.take();
        self.put(write);
        previous
    }

    /// Ends a write that failed, and restores `previous`, the revision after the previous write. If `previous` is `None`, drops the entry
    /// of the object.
    pub(crate) fn fail(&mut self, object: u64, previous: Option<Revision>) {
        let write = self.take(object);
        if previous.is_some() {
            self.put(LastWrite { revision: previous, ..write });
        }
    }

    /// Ends a write of `sent` that succeeded and left the object at `revision`, and returns its effect. `earlier` are the known revisions
    /// before the write: after the node's previous write, and in the watch. If `revision` equals one of them, the write changed nothing.
    pub(crate) fn finish(
        &mut self,
        object: u64,
        sent: &Value,
        earlier: [Option<Revision>; 2],
        revision: Revision,
    ) -> WriteEffect {
        let sent = hash_of(sent);
        let write = self.take(object);
        let effect = match write.sent {
            _ if earlier.iter().flatten().any(|earlier| earlier.is_same(&revision)) => WriteEffect::Unchanged,
            Some(previous) if previous == sent => WriteEffect::Restored,
            _ => WriteEffect::Changed,
        };
        self.put(LastWrite { revision: Some(revision), sent: Some(sent), ..write });
        effect
    }

    /// Returns whether a hand-written node caused the state of an object in the watch, where `None` means that the object is deleted.
    pub(crate) fn is_own_write(&self, object: u64, watched: Option<&Header>) -> bool {
        let Some(write) = self.0.iter().find(|write| write.object == object) else { return false };
        match (&write.revision, watched) {
            (Some(revision), Some(header)) => revision.version == header.resource_version,
            (Some(_), None) => false,
            // The write has not ended, or it was a deletion.
            (None, _) => true,
        }
    }

    /// Removes the entry of an object from the list, or creates one.
    fn take(&mut self, object: u64) -> LastWrite {
        let write = self.0.iter().position(|write| write.object == object).map(|at| self.0.remove(at));
        write.unwrap_or(LastWrite { object, ..LastWrite::default() })
    }

    /// Appends an entry as the newest.
    fn put(&mut self, write: LastWrite) {
        if self.0.len() >= MAX_OBJECTS {
            self.0.remove(0);
        }
        self.0.push(write);
    }
}

/// Returns the hash of a written object, by which the next write of the same content is recognized.
fn hash_of(sent: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    sent.to_string().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn revision(version: u64, generation: Option<i64>) -> Revision {
        Revision { version: ResourceVersion::from(version.to_string().as_str()), generation }
    }

    /// Starts and ends a write of object 1 with the data `sent`. `known` are the revisions after the previous write and in the watch;
    /// `written` is the revision in the response.
    fn write(writes: &mut NodeWrites, sent: &str, known: [Option<Revision>; 2], written: Revision) -> WriteEffect {
        writes.begin(1);
        writes.finish(1, &json!({"data": sent}), known, written)
    }

    #[test]
    fn a_write_that_returns_a_known_revision_changed_nothing() {
        let mut writes = NodeWrites::default();
        assert_eq!(write(&mut writes, "a", [None, None], revision(1, None)), WriteEffect::Changed);
        assert_eq!(write(&mut writes, "a", [Some(revision(1, None)), None], revision(1, None)), WriteEffect::Unchanged);
        let others = [Some(revision(1, None)), Some(revision(2, None))];
        assert_eq!(write(&mut writes, "a", others, revision(2, None)), WriteEffect::Unchanged);
    }

    #[test]
    fn an_equal_write_that_changes_the_object_again_restores_it() {
        let mut writes = NodeWrites::default();
        write(&mut writes, "a", [None, None], revision(1, None));
        let others = [Some(revision(1, None)), Some(revision(2, None))];
        assert_eq!(write(&mut writes, "a", others, revision(3, None)), WriteEffect::Restored);
        assert_eq!(write(&mut writes, "b", [Some(revision(3, None)), None], revision(4, None)), WriteEffect::Changed);
    }

    #[test]
    fn a_new_version_with_the_same_generation_is_no_change_of_the_object() {
        let mut writes = NodeWrites::default();
        write(&mut writes, "a", [None, None], revision(1, Some(1)));
        // The watch lags behind.
        let behind = [Some(revision(1, Some(1))), Some(revision(2, Some(1)))];
        assert_eq!(write(&mut writes, "a", behind, revision(3, Some(1))), WriteEffect::Unchanged);
    }

    #[test]
    fn a_watch_event_during_a_write_counts_as_an_own_write() {
        let (mut writes, header) = (NodeWrites::default(), |json: &str| Header::parse(json.as_bytes()));
        let Ok(shown) = header(r#"{"metadata":{"name":"a","uid":"u","resourceVersion":"7"}}"#) else { unreachable!() };
        assert!(!writes.is_own_write(1, Some(&shown)));
        writes.begin(1);
        assert!(writes.is_own_write(1, Some(&shown)));
        writes.finish(1, &json!({}), [None, None], revision(7, None));
        assert!(writes.is_own_write(1, Some(&shown)));
        writes.finish(1, &json!({}), [None, None], revision(8, None));
        assert!(
            !writes.is_own_write(1, Some(&shown))
                && !writes.is_own_write(1, None)
                && !writes.is_own_write(2, Some(&shown))
        );
    }

    #[test]
    fn the_number_of_objects_is_bounded() {
        let mut writes = NodeWrites::default();
        for object in 0..1000 {
            writes.begin(object);
        }
        assert_eq!(writes.0.len(), MAX_OBJECTS);
        assert!(writes.is_own_write(999, None) && !writes.is_own_write(0, None));
    }
}
