//! Detects hand-written nodes that change the same object in every pass although no input changed.
//!
//! The API server doesn't say whether a write changed anything. So the revision in the answer is compared with the one that the
//! controller's watch shows, and with the one in the answer to the write before. Only kinds that the controller watches are
//! looked at: a write of another kind causes no pass.

use crate::cache::{Header, ResourceVersion, Revision};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many objects are remembered of one owner; of more, the oldest are forgotten.
const OBJECTS: usize = 256;

/// What hand-written nodes have written for one owner, the oldest first.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ByHand(Vec<WrittenObject>);

#[derive(Clone, Debug, Default, PartialEq)]
struct WrittenObject {
    /// Digest of kind and key.
    object: u64,
    /// The revision that the last write left; none while a write is on its way, and after a deletion.
    revision: Option<Revision>,
    /// Digest of what was sent last.
    sent: Option<u64>,
}

/// What a write did to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The object was as it was written.
    Unchanged,
    /// The object was changed, by another than was sent before.
    Changed,
    /// The object was changed by the same that was sent before: another client had undone it.
    Restored,
}

/// The revision in the answer to a write of an object or of its subresource, if it has one.
pub(crate) fn revision_of(answer: &Value, subresource: &str) -> Option<Revision> {
    let metadata = &answer["metadata"];
    let version = metadata["resourceVersion"].as_str().filter(|version| !version.is_empty())?;
    let generation = metadata["generation"].as_i64().filter(|_| subresource.is_empty());
    Some(Revision { version: ResourceVersion::from(version), generation })
}

impl ByHand {
    /// A write of an object begins: what the watch shows of it meanwhile is the node's own work. Gives the revision that the
    /// write before has left.
    pub(crate) fn begin(&mut self, object: u64) -> Option<Revision> {
        let mut held = self.take(object);
        let before = held.revision.take();
        self.put(held);
        before
    }

    /// A write failed.
    pub(crate) fn failed(&mut self, object: u64, before: Option<Revision>) {
        let held = self.take(object);
        if before.is_some() {
            self.put(WrittenObject { revision: before, ..held });
        }
    }

    /// A write of `sent` left an object at a revision. Known before was the one that the write before had left, and the one that the watch showed.
    pub(crate) fn wrote(&mut self, object: u64, sent: &Value, known: [Option<Revision>; 2], left: Revision) -> Effect {
        let sent = digest_of(sent);
        let held = self.take(object);
        let effect = match held.sent {
            _ if known.iter().flatten().any(|known| known.is_same(&left)) => Effect::Unchanged,
            Some(earlier) if earlier == sent => Effect::Restored,
            _ => Effect::Changed,
        };
        self.put(WrittenObject { revision: Some(left), sent: Some(sent), ..held });
        effect
    }

    /// Whether what the watch shows of an object is the work of a node; `None` where the object is gone.
    pub(crate) fn is_own(&self, object: u64, shown: Option<&Header>) -> bool {
        let Some(held) = self.0.iter().find(|held| held.object == object) else { return false };
        match (&held.revision, shown) {
            (Some(revision), Some(header)) => revision.version == header.resource_version,
            (Some(_), None) => false,
            (None, _) => true,
        }
    }

    fn take(&mut self, object: u64) -> WrittenObject {
        let held = self.0.iter().position(|held| held.object == object).map(|at| self.0.remove(at));
        held.unwrap_or(WrittenObject { object, ..WrittenObject::default() })
    }

    fn put(&mut self, held: WrittenObject) {
        if self.0.len() >= OBJECTS {
            self.0.remove(0);
        }
        self.0.push(held);
    }
}

pub(crate) fn digest_of(sent: &Value) -> u64 {
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

    /// The last write left the first revision, the watch shows the second, the answer has the third.
    fn wrote(by_hand: &mut ByHand, sent: &str, known: [Option<Revision>; 2], left: Revision) -> Effect {
        by_hand.begin(1);
        by_hand.wrote(1, &json!({"data": sent}), known, left)
    }

    #[test]
    fn a_write_that_leaves_the_object_as_it_was_shown_changed_nothing() {
        let mut by_hand = ByHand::default();
        assert_eq!(wrote(&mut by_hand, "a", [None, None], revision(1, None)), Effect::Changed);
        assert_eq!(wrote(&mut by_hand, "a", [Some(revision(1, None)), None], revision(1, None)), Effect::Unchanged);
        let others = [Some(revision(1, None)), Some(revision(2, None))];
        assert_eq!(wrote(&mut by_hand, "a", others, revision(2, None)), Effect::Unchanged);
    }

    #[test]
    fn the_same_that_changes_an_object_again_undoes_what_another_client_did() {
        let mut by_hand = ByHand::default();
        wrote(&mut by_hand, "a", [None, None], revision(1, None));
        let others = [Some(revision(1, None)), Some(revision(2, None))];
        assert_eq!(wrote(&mut by_hand, "a", others, revision(3, None)), Effect::Restored);
        assert_eq!(wrote(&mut by_hand, "b", [Some(revision(3, None)), None], revision(4, None)), Effect::Changed);
    }

    #[test]
    fn a_status_of_another_controller_is_no_change_of_the_object() {
        let mut by_hand = ByHand::default();
        wrote(&mut by_hand, "a", [None, None], revision(1, Some(1)));
        // The watch lags behind.
        let behind = [Some(revision(1, Some(1))), Some(revision(2, Some(1)))];
        assert_eq!(wrote(&mut by_hand, "a", behind, revision(3, Some(1))), Effect::Unchanged);
    }

    #[test]
    fn what_is_shown_while_a_write_is_on_its_way_is_own_work() {
        let (mut by_hand, header) = (ByHand::default(), |json: &str| Header::parse(json.as_bytes()));
        let Ok(shown) = header(r#"{"metadata":{"name":"a","uid":"u","resourceVersion":"7"}}"#) else { unreachable!() };
        assert!(!by_hand.is_own(1, Some(&shown)));
        by_hand.begin(1);
        assert!(by_hand.is_own(1, Some(&shown)));
        by_hand.wrote(1, &json!({}), [None, None], revision(7, None));
        assert!(by_hand.is_own(1, Some(&shown)));
        by_hand.wrote(1, &json!({}), [None, None], revision(8, None));
        assert!(!by_hand.is_own(1, Some(&shown)) && !by_hand.is_own(1, None) && !by_hand.is_own(2, Some(&shown)));
    }

    #[test]
    fn the_number_of_objects_is_bounded() {
        let mut by_hand = ByHand::default();
        for object in 0..1000 {
            by_hand.begin(object);
        }
        assert_eq!(by_hand.0.len(), OBJECTS);
        assert!(by_hand.is_own(999, None) && !by_hand.is_own(0, None));
    }
}
