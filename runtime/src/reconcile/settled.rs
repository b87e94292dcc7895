//! `SettledKeys` remembers the keys outside the selection for which a live read found nothing to do.

use crate::reconcile::ObjectKey;
use parking_lot::Mutex;
use std::collections::HashMap;

/// The keys outside the selection for which a live read found nothing to do.
///
/// Events of children and of mapped objects also enqueue objects that the controller does not select, such as the primaries of another
/// controller of the kind. Without this memory each such event would cost a live read. An object outside the selection needs a pass
/// again only after the watch has delivered it, and then its key is removed here.
#[derive(Debug, Default)]
pub(crate) struct SettledKeys(Mutex<HashMap<ObjectKey, ReadState>>);

/// The state of the live read of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadState {
    /// The pass that reads the object runs.
    Pending,
    /// The read found nothing to do.
    Settled,
}

/// The maximum number of keys, about 10 MB. If it is reached, all keys are removed, and their next events cost a live read each.
const MAX_KEYS: usize = 65_536;

impl SettledKeys {
    /// Records that a live read of a key begins, and returns `true`. Returns `false` if the key is settled: an earlier read found nothing
    /// to do. Only one pass at a time runs over a key, so there is one read at a time.
    pub(super) fn begin_read(&self, key: &ObjectKey) -> bool {
        let mut keys = self.0.lock();
        if keys.get(key) == Some(&ReadState::Settled) {
            return false;
        }
        if keys.len() >= MAX_KEYS {
            keys.clear();
        }
        keys.insert(key.clone(), ReadState::Pending);
        true
    }

    /// Records that the live read of a key found nothing to do, unless the watch has delivered the object since the read began.
    pub(super) fn settle(&self, key: &ObjectKey) {
        if let Some(state) = self.0.lock().get_mut(key) {
            *state = ReadState::Settled;
        }
    }

    /// Removes a key, because the watch has delivered the object or the object needs a pass.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.0.lock().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::SettledKeys;
    use crate::cache::ObjectKey;

    /// Checks every order of eight steps, each the start of a read, its result, or an event of the watch: the digits of `order` to the
    /// base 3.
    #[test]
    fn a_key_is_settled_only_by_a_read_that_began_after_the_last_watch_event() {
        let key = ObjectKey::namespaced("web", "a");
        for order in 0..3_usize.pow(8) {
            let (settled, mut is_reading, mut is_settled) = (SettledKeys::default(), false, false);
            for step in 0..8 {
                match order / 3_usize.pow(step) % 3 {
                    0 => {
                        assert_eq!(settled.begin_read(&key), !is_settled, "step {step} of {order}");
                        is_reading |= !is_settled;
                    }
                    1 => {
                        settled.settle(&key);
                        is_settled |= is_reading;
                    }
                    _ => {
                        settled.forget(&key);
                        (is_reading, is_settled) = (false, false);
                    }
                }
            }
        }
    }
}
