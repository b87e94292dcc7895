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
    /// Returns whether the entry alone determines the object that watches show, so that the claim need not be read.
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
    /// Returns whether an entry with this uid has the whole claimed object, so that the claim adds nothing to it.
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

    /// Returns the position of the last change, and the revision up to which all changes are known.
    pub(super) fn progress(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.position, state.reached)
    }

    /// Waits for the first list.
    ///
    /// # Errors
    /// The bucket is unavailable if it does not answer in time. The error of the task if it can't follow the entries.
    pub(super) async fn wait_until_synced(&self) -> Result<(), BucketError> {
        let is_decided = |state: &ViewState| state.is_synced || state.failure.is_some();
        if !self.wait(Instant::now() + SYNC_TIMEOUT, is_decided).await {
            return Err(BucketError::unavailable(&self.bucket, "the first list of the entries is not complete"));
        }
        self.state.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Waits until the changes up to a revision are known, at most for a time.
    pub(super) async fn wait_for_revision(&self, revision: u64, limit: Duration) {
        self.wait(Instant::now() + limit, |state| state.reached >= revision).await;
    }

    /// Waits for a condition; returns whether it holds.
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

    /// Returns the number of the first change after a position; `None` if changes after it are forgotten.
    pub(super) fn first_after(&self, position: u64) -> Option<u64> {
        self.state.lock().window.first_after(position)
    }

    /// Reads the change with a number.
    pub(super) fn read(&self, number: u64) -> ViewRead {
        let state = self.state.lock();
        match (state.window.get(number), &state.failure) {
            (WindowRead::Change(change), _) => ViewRead::Change(change),
            (WindowRead::Forgotten, _) => ViewRead::Expired,
            (WindowRead::End, Some(failure)) => ViewRead::Failing(failure.clone()),
            (WindowRead::End, None) => ViewRead::End(state.position),
        }
    }

    /// Returns what is known of a key.
    pub(super) fn key(&self, key: &str) -> ViewedKey {
        self.state.lock().keys.get(key).cloned().unwrap_or_default()
    }

    /// Returns whether the object that is shown for a key is that of this revision, so that the entry with the revision is valid.
    pub(super) fn shows(&self, key: &str, revision: u64) -> bool {
        let state = self.state.lock();
        state.keys.get(key).and_then(|viewed| viewed.shown.as_ref()).is_some_and(|shown| shown.revision == revision)
    }

    /// Returns the last state of an object that the window has; `None` if it has none, or if the object is removed.
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

    /// Changes the state of a key, and forgets the key if nothing is known of it then.
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

    /// Records that all changes up to a revision are in the state.
    pub(super) fn advance(&self, revision: u64) {
        let mut state = self.state.lock();
        state.position = state.position.max(revision);
        state.reached = state.reached.max(revision);
    }

    /// Shows the object of a key after a write with the revision `reached`; `None` if there is no object. An object with a later revision
    /// is not shown yet: the event of its own write follows.
    pub(super) fn show(&self, name: &KeyedName, key: &str, object: Option<(&Value, u64)>, reached: u64) {
        let mut state = self.state.lock();
        let ViewState { keys, window, position: last, .. } = &mut *state;
        // The removal of a key without a deletion event is found later, at a revision that watches have passed: it gets the next position.
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

    /// Returns a removed object with its known metadata, and no other fields.
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

    /// Replaces the state by a list of all keys, which has the changes up to `newest`. Watches end if they have missed a change, and all
    /// versions of before are expired. Returns the keys that are gone.
    pub(super) fn replace(&self, keys: BTreeMap<Box<str>, ViewedKey>, newest: u64) -> Vec<Box<str>> {
        let mut state = self.state.lock();
        (state.failure, state.reached) = (None, newest);
        if state.is_synced && state.keys == keys {
            state.position = state.position.max(newest);
            return Vec::new();
        }
        // The list need not have a revision that is higher than the last one: lost deletions leave none in it.
        let position = if state.is_synced { newest.max(state.position + 1) } else { newest };
        let gone = state.keys.keys().filter(|key| !keys.contains_key(*key)).cloned().collect();
        state.keys = keys;
        state.window.reset(position);
        (state.position, state.is_synced) = (position, true);
        gone
    }
}
