//! `BucketView`: an index of the objects of a kind by bucket key (revision, uid and labels), and the latest changes, which watches read.

use super::{
    change_window::{ChangeWindow, ObjectChange, WindowRead},
    kind_store::KindStore,
    object::{labels_of, uid},
    object_key::KeyedName,
};
use crate::{bucket::error::BucketError, cache::Uid, kind::Kind};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

/// How long a request waits for the first list of the entries.
const SYNC_TIMEOUT: Duration = Duration::from_secs(10);

/// The state of the objects of a kind, which a task keeps up to date.
#[derive(Debug)]
pub(super) struct BucketView {
    bucket: String,
    kind: Kind,
    state: Mutex<ViewState>,
    /// Wakes the readers after a change. It closes when the task ends.
    wake: watch::Receiver<u64>,
}

#[derive(Debug, Default)]
struct ViewState {
    keys: BTreeMap<Box<str>, ViewedKey>,
    window: ChangeWindow,
    /// The position of the last change. It is at least `reached` and only grows: a change without a revision of its own gets the next
    /// position, and so does a list after the revisions of the bucket have started again. So a watch from here misses no later change.
    position: u64,
    /// The revision up to which all changes are in the state.
    reached: u64,
    is_synced: bool,
    /// Why the state can't be kept up to date; `None` if it can.
    failure: Option<BucketError>,
}

/// What is known of a key: the object that watches show, and its claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ViewedKey {
    pub(super) shown: Option<ShownObject>,
    /// In a box, since most keys of an operator without finalizers have none.
    pub(super) claim: Option<Box<ViewedClaim>>,
    /// Whether the value of the entry is no valid object.
    pub(super) is_invalid: bool,
}

/// An object that watches show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownObject {
    pub(super) revision: u64,
    pub(super) uid: Uid,
    /// The labels as a JSON object; empty if there are none.
    labels: Box<str>,
}

/// A claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ViewedClaim {
    pub(super) revision: u64,
    pub(super) uid: Uid,
    /// Whether the object is in its entry, and is not being deleted.
    pub(super) is_plain: bool,
}

/// The result of reading the window.
#[derive(Debug)]
pub(super) enum ViewRead {
    Change(Arc<ObjectChange>),
    /// There is no further change up to this position.
    End(u64),
    /// The changes are not kept any more.
    Expired,
    /// The state can't be kept up to date.
    Failing(BucketError),
}

impl ShownObject {
    /// Returns the state of an object at a revision.
    pub(super) fn new(object: &Value, revision: u64) -> Self {
        Self { revision, uid: uid(object).into(), labels: labels_of(object).into() }
    }
}

impl ViewedKey {
    /// Returns whether the entry alone determines the object that watches show, so that the claim (the copy of an object with finalizers in
    /// a second entry) need not be read: there is no claim, or it is a mere copy of the shown object.
    pub(super) fn is_in_entry(&self) -> bool {
        match (&self.shown, &self.claim) {
            _ if self.is_invalid => false,
            (_, None) => true,
            (Some(shown), Some(claim)) => claim.covers(&shown.uid),
            (None, Some(_)) => false,
        }
    }
}

impl ViewedClaim {
    /// Returns whether an entry with this uid needs nothing from the claim, the copy of an object with finalizers in a second entry: both
    /// are the same object, which is in its entry and is not being deleted.
    pub(super) fn covers(&self, uid: &Uid) -> bool {
        self.is_plain && self.uid == *uid
    }
}

impl BucketView {
    pub(super) fn new(store: &KindStore, wake: watch::Receiver<u64>) -> Self {
        let bucket = store.kind.bucket.name().to_owned();
        Self { bucket, kind: store.kind.kind.clone(), state: Mutex::default(), wake }
    }

    /// Returns a receiver that wakes after each change of the state.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.wake.clone()
    }

    /// Returns the position of the last change, which is the version of lists and bookmarks.
    pub(super) fn position(&self) -> u64 {
        self.state.lock().position
    }

    /// Returns the position of the last change, and the bucket revision up to which the view has all changes.
    pub(super) fn progress(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.position, state.reached)
    }

    /// Waits until the view has the first complete list of the entries.
    ///
    /// # Errors
    /// The bucket counts as unavailable if the list does not end in time. Returns the error of the task if it can't watch the bucket.
    pub(super) async fn wait_until_synced(&self) -> Result<(), BucketError> {
        let is_decided = |state: &ViewState| state.is_synced || state.failure.is_some();
        if !self.wait(Instant::now() + SYNC_TIMEOUT, is_decided).await {
            return Err(BucketError::unavailable(&self.bucket, "the first list of the entries is not complete"));
        }
        self.state.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Waits until the view has all changes up to a revision, at most for the duration `limit`.
    pub(super) async fn wait_for_revision(&self, revision: u64, limit: Duration) {
        self.wait(Instant::now() + limit, |state| state.reached >= revision).await;
    }

    /// Waits until the state meets a condition, and returns whether it does. Returns false at the deadline, and when the task of the view
    /// ends.
    async fn wait(&self, deadline: Instant, condition: impl Fn(&ViewState) -> bool) -> bool {
        let mut wake = self.subscribe();
        loop {
            wake.mark_unchanged();
            if condition(&self.state.lock()) {
                return true;
            }
            if !matches!(timeout_at(deadline, wake.changed()).await, Ok(Ok(()))) {
                return false;
            }
        }
    }

    /// Returns the number at which a watch from a position starts to [`read`](Self::read) changes; `None` if changes after the position
    /// have been dropped from the window.
    pub(super) fn first_after(&self, position: u64) -> Option<u64> {
        self.state.lock().window.first_after(position)
    }

    /// Reads the change with this number from the window of the last changes. All changes that are there are delivered before a failure.
    pub(super) fn read(&self, number: u64) -> ViewRead {
        let state = self.state.lock();
        match (state.window.get(number), &state.failure) {
            (WindowRead::Change(change), _) => ViewRead::Change(change),
            (WindowRead::Forgotten, _) => ViewRead::Expired,
            (WindowRead::End, Some(failure)) => ViewRead::Failing(failure.clone()),
            (WindowRead::End, None) => ViewRead::End(state.position),
        }
    }

    /// Returns the state of a key: the object that watches show, its claim, and whether its value is invalid.
    pub(super) fn key(&self, key: &str) -> ViewedKey {
        self.state.lock().keys.get(key).cloned().unwrap_or_default()
    }

    /// Returns whether watches show the object of a key in this revision. The entry with this revision is then known to be valid.
    pub(super) fn shows(&self, key: &str, revision: u64) -> bool {
        let state = self.state.lock();
        state.keys.get(key).and_then(|viewed| viewed.shown.as_ref()).is_some_and(|shown| shown.revision == revision)
    }

    /// Returns the latest state of an object in the window of the last changes; `None` if the window has no change of the object, or if the
    /// latest change removed it.
    pub(super) fn last_object(&self, namespace: &str, name: &str) -> Option<Value> {
        let state = self.state.lock();
        let change = state.window.last_of(namespace, name).filter(|change| change.after.is_some())?;
        serde_json::from_slice(&change.json).ok()
    }

    /// Sets the claim of a key.
    pub(super) fn set_claim(&self, key: &str, claim: Option<ViewedClaim>) {
        self.change_key(key, |viewed| viewed.claim = claim.map(Box::new));
    }

    /// Sets whether the value of a key is invalid.
    pub(super) fn set_invalid(&self, key: &str, is_invalid: bool) {
        self.change_key(key, |viewed| viewed.is_invalid = is_invalid);
    }

    /// Applies `change` to the state of a key. Removes the key if its state is empty then.
    fn change_key(&self, key: &str, change: impl FnOnce(&mut ViewedKey)) {
        let mut state = self.state.lock();
        let viewed = state.keys.entry(key.into()).or_default();
        change(viewed);
        if *viewed == ViewedKey::default() {
            state.keys.remove(key);
        }
    }

    /// Sets the reason why the state can't be kept up to date.
    pub(super) fn set_failure(&self, failure: Option<BucketError>) {
        self.state.lock().failure = failure;
    }

    /// Records that the state has all changes up to a revision.
    pub(super) fn advance(&self, revision: u64) {
        let mut state = self.state.lock();
        state.position = state.position.max(revision);
        state.reached = state.reached.max(revision);
    }

    /// Updates the object of a key after an event of the bucket with the revision `reached`, and adds the change to the window, from which
    /// watches read it. `object` is the object with its revision; `None` if it is gone. An object with a revision after `reached` is
    /// ignored for now: the event of its own write follows. An object with another uid is recorded as a deletion and a creation.
    pub(super) fn show(&self, name: &KeyedName, key: &str, object: Option<(&Value, u64)>, reached: u64) {
        let mut state = self.state.lock();
        let ViewState { keys, window, position: last, .. } = &mut *state;
        // The revision may be one that watches have already passed, for example of a removal that is found late. The change then gets the
        // next position, so that no watch misses it.
        let position = reached.max(*last + 1);
        let viewed = keys.entry(key.into()).or_default();
        let change = |before: Option<&ShownObject>, after: Option<Box<str>>, json: Value| ObjectChange {
            position,
            namespace: name.namespace.clone(),
            name: name.name.clone(),
            before: before.map(|before| before.labels.clone()),
            after,
            json: json.to_string().into_bytes().into(),
        };
        let deletion =
            |before: &ShownObject, version: u64| change(Some(before), None, self.last_metadata(name, before, version));
        match object {
            None => {
                if let Some(before) = viewed.shown.take() {
                    window.push(deletion(&before, reached));
                    *last = position;
                }
            }
            Some((object, revision)) if revision <= reached => {
                let new = ShownObject::new(object, revision);
                let before = viewed.shown.take();
                let is_known =
                    before.as_ref().is_some_and(|before| before.uid == new.uid && before.revision >= revision);
                if is_known {
                    viewed.shown = before;
                } else {
                    let same = before.filter(|before| {
                        let is_same = before.uid == new.uid;
                        if !is_same {
                            // It has the version of the old object: a watch from the version of the new one would miss that one.
                            window.push(deletion(before, before.revision));
                        }
                        is_same
                    });
                    window.push(change(same.as_ref(), Some(new.labels.clone()), object.clone()));
                    viewed.shown = Some(new);
                    *last = position;
                }
            }
            Some(_) => {}
        }
        if *viewed == ViewedKey::default() {
            keys.remove(key);
        }
    }

    /// Returns a removed object for the event of its deletion. It has the metadata that the view knows and no other fields.
    fn last_metadata(&self, name: &KeyedName, last: &ShownObject, version: u64) -> Value {
        let KeyedName { namespace, name } = name;
        let mut metadata = json!({"name": name, "uid": last.uid.to_string(), "resourceVersion": version.to_string()});
        if !namespace.is_empty() {
            metadata["namespace"] = namespace.as_str().into();
        }
        if let Ok(labels) = serde_json::from_str::<Value>(&last.labels) {
            metadata["labels"] = labels;
        }
        json!({"apiVersion": self.kind.api_version(), "kind": self.kind.kind, "metadata": metadata})
    }

    /// Replaces the state by a complete list of the keys, whose highest revision is `newest`, and returns the keys that are gone. If the
    /// list differs from the state, changes have been missed: the window is reset, so that running watches end and earlier versions are
    /// expired.
    pub(super) fn replace(&self, keys: BTreeMap<Box<str>, ViewedKey>, newest: u64) -> Vec<Box<str>> {
        let mut state = self.state.lock();
        (state.failure, state.reached) = (None, newest);
        if state.is_synced && state.keys == keys {
            state.position = state.position.max(newest);
            return Vec::new();
        }
        // The revisions in the list may all be lower than the last position, since a missed deletion leaves no entry.
        let position = if state.is_synced { newest.max(state.position + 1) } else { newest };
        let gone = state.keys.keys().filter(|key| !keys.contains_key(*key)).cloned().collect();
        state.keys = keys;
        state.window.reset(position);
        (state.position, state.is_synced) = (position, true);
        gone
    }
}
