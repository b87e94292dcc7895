//! `OwnWriteEvents`: distinguishes watch events of the operator's own writes from those of other clients.

use super::{ObjectKey, PerObject, ResourceVersion, Uid};
use parking_lot::Mutex;

/// The operator's own writes that a watch has not reported yet, and the events that it reports during a pass.
///
/// A watch may report a write before the response to the write arrives. So events during a pass are classified at its end, when
/// the versions of all own writes are known. No other pass over the object can begin before that.
///
/// `C` is the significance of a change; its default is the lowest.
#[derive(Debug)]
pub(crate) struct OwnWriteEvents<C>(Mutex<PerObject<ObjectWrites<C>>>);

/// The own writes and the pending events of one object.
#[derive(Debug, PartialEq)]
struct ObjectWrites<C> {
    in_pass: bool,
    /// The versions of own writes that the watch has not reported yet.
    own_versions: Vec<ResourceVersion>,
    /// The versions that the watch reported during the pass, with their significance for a foreign write.
    pending_events: Vec<(ResourceVersion, C)>,
}

impl<C> Default for ObjectWrites<C> {
    fn default() -> Self {
        Self { in_pass: false, own_versions: Vec::new(), pending_events: Vec::new() }
    }
}

impl<C: PartialEq> Default for OwnWriteEvents<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C: Copy + Default + Ord> OwnWriteEvents<C> {
    /// Records the start of a pass over an object.
    pub(crate) fn begin_pass(&self, key: &ObjectKey, uid: &Uid) {
        self.0.lock().update(key, uid, |writes| writes.in_pass = true);
    }

    /// Records the version that an own write created.
    pub(crate) fn record_write(&self, key: &ObjectKey, uid: &Uid, version: &ResourceVersion) {
        self.0.lock().update(key, uid, |writes| {
            if !writes.own_versions.contains(version) {
                writes.own_versions.push(version.clone());
            }
        });
    }

    /// Returns the significance of a watch event that shows `version`. For a write by another client, that is `significance`; for an own
    /// write, it is at most `max_own_significance`. During a pass the versions of own writes are not all known yet: the method keeps the
    /// event and returns the lowest significance, and [`OwnWriteEvents::end_pass`] classifies the event later.
    pub(crate) fn classify(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        version: &ResourceVersion,
        significance: C,
        max_own_significance: C,
    ) -> C {
        let mut all = self.0.lock();
        // Without a pass and without own writes, another client has written this version.
        if all.get(key, uid).is_none() {
            return significance;
        }
        all.update(key, uid, |writes| {
            if writes.in_pass {
                writes.pending_events.push((version.clone(), significance));
                return C::default();
            }
            writes.significance_of(version, significance, max_own_significance)
        })
    }

    /// Records the end of a pass that started with `start_version` of the object, and returns the highest significance of the events that
    /// the watch reported during the pass.
    pub(crate) fn end_pass(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        start_version: &ResourceVersion,
        max_own_significance: C,
    ) -> C {
        self.0.lock().update(key, uid, |writes| {
            writes.in_pass = false;
            // The response to a write that changed nothing has the version from before the write, which no watch reports again.
            writes.own_versions.retain(|version| version != start_version);
            let pending_events = std::mem::take(&mut writes.pending_events);
            pending_events
                .into_iter()
                .map(|(version, significance)| writes.significance_of(&version, significance, max_own_significance))
                .max()
                .unwrap_or_default()
        })
    }

    /// Removes the state of a deleted object.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.0.lock().forget(key);
    }
}

impl<C: Copy + Ord> ObjectWrites<C> {
    /// Returns the significance of a version: `significance`, but at most `max_own_significance` if an own write created the version.
    fn significance_of(&mut self, version: &ResourceVersion, significance: C, max_own_significance: C) -> C {
        let is_own = self.own_versions.contains(version);
        // Versions up to this one are no longer expected: a relist may have skipped the events of earlier own writes.
        self.own_versions.retain(|own_version| own_version > version || own_version.partial_cmp(version).is_none());
        if is_own { significance.min(max_own_significance) } else { significance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u8 = 1;
    const OF_OTHERS: u8 = 9;

    /// The events of one object.
    struct ObjectEvents {
        events: OwnWriteEvents<u8>,
        key: ObjectKey,
        uid: Uid,
    }

    impl ObjectEvents {
        fn new() -> Self {
            Self { events: OwnWriteEvents::default(), key: ObjectKey::namespaced("shop", "a"), uid: Uid::from("1") }
        }

        fn begin_pass(&self) {
            self.events.begin_pass(&self.key, &self.uid);
        }

        fn record_write(&self, version: u64) {
            self.events.record_write(&self.key, &self.uid, &version.into());
        }

        fn classify(&self, version: u64) -> u8 {
            self.events.classify(&self.key, &self.uid, &version.into(), OF_OTHERS, OWN)
        }

        fn end_pass(&self) -> u8 {
            self.events.end_pass(&self.key, &self.uid, &1.into(), OWN)
        }

        /// Returns whether no state of the object is kept.
        fn is_blank(&self) -> bool {
            *self.events.0.lock() == PerObject::default()
        }
    }

    #[test]
    fn an_event_of_an_own_write_is_recognized_before_the_response_and_after_the_pass() {
        let object = ObjectEvents::new();
        object.begin_pass();
        assert_eq!(object.classify(2), 0, "nobody knows yet");
        object.record_write(2);
        object.record_write(3);
        assert_eq!(object.end_pass(), OWN);
        assert_eq!(object.classify(3), OWN);
        assert!(object.is_blank());
        assert_eq!(object.classify(4), OF_OTHERS);
    }

    #[test]
    fn the_end_of_a_pass_returns_the_significance_of_a_write_by_another_client() {
        let object = ObjectEvents::new();
        object.begin_pass();
        object.record_write(2);
        assert_eq!((object.classify(2), object.classify(3)), (0, 0));
        assert_eq!(object.end_pass(), OF_OTHERS);
        object.begin_pass();
        assert_eq!(object.end_pass(), 0);
        assert!(object.is_blank());
    }

    #[test]
    fn own_writes_without_an_event_are_dropped() {
        let object = ObjectEvents::new();
        object.begin_pass();
        // A write that changed nothing, and one whose event a new list skips.
        object.record_write(1);
        object.record_write(2);
        assert_eq!(object.end_pass(), 0);
        assert_eq!(object.classify(3), OF_OTHERS);
        assert!(object.is_blank());
    }
}
