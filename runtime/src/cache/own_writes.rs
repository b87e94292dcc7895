//! `OwnWrites`: prevents a reconcile pass from acting on a cached state that is older than the operator's own writes.

use super::{ObjectKey, ResourceVersion, Uid, WatchProgress};
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::fmt;

/// The highest version of the operator's own writes for each owner and store `S`, until the stores have caught up.
///
/// # Flow
/// 1. After each own write in a pass: [`OwnWrites::record`] with the version of the response.
/// 2. Before a pass, and before the owner is read from its store: [`OwnWrites::behind`]. If it returns a store, skip the pass and
///    retry after about 100 ms; a skipped pass does not count as a pass.
/// 3. When the owner is deleted: [`OwnWrites::forget`].
pub struct OwnWrites<S> {
    owners: Mutex<HashMap<ObjectKey, WrittenVersions<S>>>,
}

/// The versions of the own writes for one owner.
struct WrittenVersions<S> {
    owner: Uid,
    versions: Vec<(S, u64)>,
}

impl<S> Default for OwnWrites<S> {
    fn default() -> Self {
        Self { owners: Mutex::default() }
    }
}

impl<S: Clone + Eq> OwnWrites<S> {
    /// Records that a pass over `key` wrote an object, which `store` will contain at `version`.
    ///
    /// A version that is not a number is ignored, since it can't be compared. An owner that is created again under the same name
    /// (another `uid`) starts without writes.
    pub fn record(&self, key: &ObjectKey, uid: &Uid, store: S, version: &ResourceVersion) {
        let Some(version) = version.number() else { return };
        let mut owners = self.owners.lock();
        let writes =
            owners.entry(key.clone()).or_insert_with(|| WrittenVersions { owner: uid.clone(), versions: Vec::new() });
        if writes.owner != *uid {
            *writes = WrittenVersions { owner: uid.clone(), versions: Vec::new() };
        }
        match writes.versions.iter_mut().find(|(recorded, _)| *recorded == store) {
            Some((_, highest)) => *highest = version.max(*highest),
            None => writes.versions.push((store, version)),
        }
    }

    /// Returns a store that does not show the own writes for the owner `key` yet; `None` if all stores have caught up. `progress` returns
    /// how far the watch of a store has come.
    ///
    /// The method drops the recorded versions of stores that have caught up.
    pub fn behind(&self, key: &ObjectKey, progress: impl Fn(&S) -> WatchProgress) -> Option<S> {
        let mut owners = self.owners.lock();
        let writes = owners.get_mut(key)?;
        writes.versions.retain(|(store, version)| progress(store).is_behind(*version));
        let behind = writes.versions.first().map(|(store, _)| store.clone());
        if behind.is_none() {
            owners.remove(key);
        }
        behind
    }

    /// Removes the writes of a deleted owner.
    pub fn forget(&self, key: &ObjectKey) {
        self.owners.lock().remove(key);
    }

    /// Returns the number of owners with recorded writes.
    pub fn len(&self) -> usize {
        self.owners.lock().len()
    }

    /// Returns whether no owner has recorded writes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<S> fmt::Debug for OwnWrites<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnWrites").field("owners", &self.owners.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{ObjectKey, OwnWrites, ResourceVersion, Uid, WatchProgress};

    fn owner(name: &str) -> (ObjectKey, Uid) {
        (ObjectKey::namespaced("default", name), Uid::from(name))
    }

    /// Records a write for an owner, which `store` will contain at `version`.
    fn record(writes: &OwnWrites<&'static str>, (key, uid): &(ObjectKey, Uid), store: &'static str, version: &str) {
        writes.record(key, uid, store, &ResourceVersion::from(version));
    }

    #[test]
    fn stale_y1_store_that_has_not_shown_the_highest_write_is_behind() {
        let (writes, app) = (OwnWrites::default(), owner("app"));
        record(&writes, &app, "pods", "12");
        record(&writes, &app, "pods", "9");
        record(&writes, &app, "services", "10");
        // The progress of the two stores when their watches have reached these versions.
        let at = |pods, services| {
            move |store: &&str| {
                if *store == "pods" { WatchProgress::Version(pods) } else { WatchProgress::Version(services) }
            }
        };
        assert_eq!(writes.behind(&app.0, at(11, 11)), Some("pods"));
        assert_eq!(writes.behind(&app.0, at(12, 11)), None);
    }

    #[test]
    fn stale_y1_writes_of_one_owner_hold_up_no_other() {
        let (writes, app) = (OwnWrites::default(), owner("app"));
        record(&writes, &app, "pods", "12");
        assert_eq!(writes.behind(&owner("other").0, |_| WatchProgress::Version(1)), None);
    }

    #[test]
    fn stale_y2_record_is_dropped_when_all_have_caught_up() {
        let (writes, app) = (OwnWrites::default(), owner("app"));
        record(&writes, &app, "pods", "12");
        assert_eq!((writes.behind(&app.0, |_| WatchProgress::Version(12)), writes.len()), (None, 0));
        // The store has caught up once, so it does not block again if it falls back later.
        assert_eq!(writes.behind(&app.0, |_| WatchProgress::Version(1)), None);
    }

    #[test]
    fn stale_y2_owner_made_again_begins_with_no_writes() {
        let (writes, app) = (OwnWrites::default(), owner("app"));
        record(&writes, &app, "pods", "12");
        record(&writes, &(app.0.clone(), Uid::from("another")), "services", "3");
        assert_eq!(writes.behind(&app.0, |_| WatchProgress::Version(3)), None);
    }

    #[test]
    fn stale_y2_deletion_clears_the_record() {
        let (writes, app) = (OwnWrites::default(), owner("app"));
        record(&writes, &app, "pods", "12");
        writes.forget(&app.0);
        assert!(writes.is_empty());
        assert_eq!(writes.behind(&app.0, |_| WatchProgress::NotSynced), None);
    }

    #[test]
    fn stale_y2_versions_that_cannot_be_compared_do_not_block() {
        let (writes, app) = (OwnWrites::default(), owner("app"));
        record(&writes, &app, "pods", "opaque");
        assert!(writes.is_empty());
        record(&writes, &app, "pods", "12");
        assert_eq!(writes.behind(&app.0, |_| WatchProgress::Incomparable), None);
    }

    #[test]
    fn stale_y2_store_that_never_synced_is_waited_for() {
        let (writes, app) = (OwnWrites::default(), owner("app"));
        record(&writes, &app, "pods", "12");
        assert_eq!(writes.behind(&app.0, |_| WatchProgress::NotSynced), Some("pods"));
    }

    #[test]
    fn stale_y3_versions_compare_as_numbers() {
        let (writes, app) = (OwnWrites::default(), owner("app"));
        record(&writes, &app, "pods", "9");
        assert_eq!(writes.behind(&app.0, |_| WatchProgress::Version(10)), None);
    }
}
