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

    /// Returns the significance of a watch event: `significance`, which holds for a write by another client, and at most
    /// `max_own_significance` if the operator wrote this version. During a pass the own versions are not all known yet: the event is
    /// kept, the lowest significance is returned, and [`OwnWriteEvents::end_pass`] returns the real one.
    pub(crate) fn classify(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        version: &ResourceVersion,
        significance: C,
        max_own_significance: C,
    ) -> C {
        let mut all = self.0.lock();
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

    /// Records the end of a pass that started with a version of the object, and returns the significance of the changes during
    /// it.
    pub(crate) fn end_pass(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        start_version: &ResourceVersion,
        max_own_significance: C,
    ) -> C {
        self.0.lock().update(key, uid, |writes| {
            writes.in_pass = false;
            // A write that changed nothing returns the version from before, which no watch reports again.
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
    /// Returns the significance of a version: limited to `max_own_significance` if an own write created it.
    fn significance_of(&mut self, version: &ResourceVersion, significance: C, max_own_significance: C) -> C {
        let is_own = self.own_versions.contains(version);
        // A relist may have skipped the events of earlier writes.
        self.own_versions.retain(|own_version| own_version > version || own_version.partial_cmp(version).is_none());
        if is_own { significance.min(max_own_significance) } else { significance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u8 = 1;
    const OF_OTHERS: u8 = 9;

    struct Scene {
        echoes: OwnWriteEvents<u8>,
        key: ObjectKey,
        uid: Uid,
    }

    impl Scene {
        fn new() -> Self {
            Self { echoes: OwnWriteEvents::default(), key: ObjectKey::namespaced("shop", "a"), uid: Uid::from("1") }
        }

        fn begin_pass(&self) {
            self.echoes.begin_pass(&self.key, &self.uid);
        }

        fn record_write(&self, version: u64) {
            self.echoes.record_write(&self.key, &self.uid, &version.into());
        }

        fn classify(&self, version: u64) -> u8 {
            self.echoes.classify(&self.key, &self.uid, &version.into(), OF_OTHERS, OWN)
        }

        fn end_pass(&self) -> u8 {
            self.echoes.end_pass(&self.key, &self.uid, &1.into(), OWN)
        }

        fn is_blank(&self) -> bool {
            *self.echoes.0.lock() == PerObject::default()
        }
    }

    #[test]
    fn an_own_write_is_known_whether_it_is_shown_before_its_answer_or_after_the_pass() {
        let scene = Scene::new();
        scene.begin_pass();
        assert_eq!(scene.classify(2), 0, "nobody knows yet");
        scene.record_write(2);
        scene.record_write(3);
        assert_eq!(scene.end_pass(), OWN);
        assert_eq!(scene.classify(3), OWN);
        assert!(scene.is_blank());
        assert_eq!(scene.classify(4), OF_OTHERS);
    }

    #[test]
    fn what_another_client_writes_during_a_pass_is_told_at_its_end() {
        let scene = Scene::new();
        scene.begin_pass();
        scene.record_write(2);
        assert_eq!((scene.classify(2), scene.classify(3)), (0, 0));
        assert_eq!(scene.end_pass(), OF_OTHERS);
        scene.begin_pass();
        assert_eq!(scene.end_pass(), 0);
        assert!(scene.is_blank());
    }

    #[test]
    fn writes_that_are_never_shown_are_not_kept() {
        let scene = Scene::new();
        scene.begin_pass();
        // One that changed nothing, and one that a new list skips.
        scene.record_write(1);
        scene.record_write(2);
        assert_eq!(scene.end_pass(), 0);
        assert_eq!(scene.classify(3), OF_OTHERS);
        assert!(scene.is_blank());
    }
}
