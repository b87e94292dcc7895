//! `FollowedView`: a `BucketView`, and the task that watches the bucket and keeps the view up to date.

use super::{
    claim::{BucketKeyState, ResolvedObject},
    failure::RequestError,
    kind_store::{KindStore, ReadEntry},
    object::{is_deleting, uid},
    object_key::{KeyMeaning, KeyedName, claim_key, meaning, object_name},
    stored::StoredObject,
    view::{BucketView, ShownObject, ViewedClaim, ViewedKey},
};
use crate::bucket::{entry::BucketEntry, error::BucketError, store::BucketEvent};
use futures::StreamExt as _;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{sync::watch, task::AbortHandle, time::sleep};

/// How long the task waits before it reads a key again that the bucket did not answer.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// A view and the task that keeps it up to date. The task ends when this is dropped.
#[derive(Debug)]
pub(super) struct FollowedView {
    pub(super) view: Arc<BucketView>,
    task: AbortHandle,
}

impl FollowedView {
    /// Starts a task that watches the bucket of the kind, and returns it with its view.
    pub(super) fn start(store: Arc<KindStore>) -> Self {
        let (wake, woken) = watch::channel(0);
        let view = Arc::new(BucketView::new(&store, woken));
        let task = ViewTask { store, view: view.clone(), wake, listing: None };
        let task = tokio::spawn(task.run()).abort_handle();
        Self { view, task }
    }

    /// Returns whether the task has ended, for example with the tokio runtime that ran it.
    pub(super) fn has_ended(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for FollowedView {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The task of a view.
struct ViewTask {
    store: Arc<KindStore>,
    view: Arc<BucketView>,
    /// Wakes the readers of the view. When it is dropped, they see that the task has ended.
    wake: watch::Sender<u64>,
    /// The keys of a list that is not complete.
    listing: Option<ViewListing>,
}

/// The keys of a list so far.
#[derive(Default)]
struct ViewListing {
    keys: BTreeMap<Box<str>, ViewedKey>,
    /// The highest revision.
    newest: u64,
}

impl ViewTask {
    /// Watches the bucket and updates the view with each event, until the watch ends. Wakes the readers of the view after each event.
    async fn run(mut self) {
        let mut events = self.store.kind.bucket.watch();
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.handle(event).await,
                Err(error) => self.view.set_failure(Some(error)),
            }
            self.wake.send_modify(|count| *count += 1);
        }
    }

    /// Handles an event of the bucket. The entries of a list are collected, and replace the state of the view when the list ends.
    async fn handle(&mut self, event: BucketEvent) {
        match event {
            BucketEvent::ListStarted => self.listing = Some(ViewListing::default()),
            BucketEvent::Put(entry) => match &mut self.listing {
                Some(listing) => listing.add(&self.store, &entry),
                None => self.put(&entry).await,
            },
            BucketEvent::ListEnded => {
                if let Some(listing) = self.listing.take() {
                    self.finish_list(listing).await;
                }
            }
            BucketEvent::Removed { key, revision } => {
                // Before the list ends, a removal needs no handling: at its end, the view drops the keys that are not in it.
                if self.listing.is_none() {
                    self.remove(&key, revision).await;
                }
            }
        }
    }

    /// Replaces the state of the view by a complete list. Before that, it reads each object whose claim (the copy of an object with
    /// finalizers in a second entry) adds to its entry. An object whose value has become invalid stays in its last valid state.
    async fn finish_list(&self, listing: ViewListing) {
        let ViewListing { mut keys, newest } = listing;
        for (key, viewed) in &mut keys {
            let last_valid = viewed.is_invalid.then(|| self.view.key(key).shown).flatten();
            if last_valid.is_some() {
                self.keep_last_valid(key);
            }
            if !viewed.is_in_entry() {
                let resolved = self.resolve(key).await;
                let shown = |object: ResolvedObject| ShownObject::new(&object.object, object.revision);
                // A state that is newer than the list is left out: the event of its write follows.
                let resolved = resolved.map(|object| object.filter(|object| object.revision <= newest).map(shown));
                viewed.shown = resolved.unwrap_or_else(|| last_valid.or_else(|| viewed.shown.take()));
            } else if let Some(shown) = viewed.shown.as_mut().filter(|shown| shown.uid.is_empty()) {
                shown.uid = self.store.fallback_uid(key, shown.revision);
            }
        }
        for key in self.view.replace(keys, newest) {
            self.store.forget(&key);
        }
    }

    /// Handles a new value of a key: of an object, or of a claim, which is the copy of an object with finalizers in a second entry.
    async fn put(&self, entry: &BucketEntry) {
        match meaning(&self.store.kind.kind, &entry.key) {
            KeyMeaning::Object(name) => self.put_object(&name, entry).await,
            KeyMeaning::Claim(key) => {
                if let Some(claim) = read_claim(&self.store, key, entry) {
                    self.view.set_claim(key, Some(claim));
                }
                self.refresh_if_claim_matters(key, entry.revision).await;
            }
            KeyMeaning::Reserved => {}
            KeyMeaning::Invalid => self.store.warn_of_invalid_key(entry),
        }
        self.advance(entry.revision);
    }

    /// Handles a new value of the key of an object: updates the object in the view, or keeps its last valid state if the value is invalid.
    /// If the claim (the copy of an object with finalizers in a second entry) adds to the entry, it reads both again.
    async fn put_object(&self, name: &KeyedName, entry: &BucketEntry) {
        let viewed = self.view.key(&entry.key);
        let read = self.store.read_entry(name, Some(entry));
        let is_invalid = read.invalid.is_some();
        self.view.set_invalid(&entry.key, is_invalid);
        match is_invalid {
            true if viewed.shown.is_some() => self.keep_last_valid(&entry.key),
            true => {}
            false => self.store.set_last_valid(&entry.key, None),
        }
        let is_in_entry_alone = match (&read.stored, &viewed.claim) {
            (Some(stored), Some(claim)) => claim.covers(&uid(&stored.object).into()),
            (Some(_), None) => true,
            // The value is invalid and there is no claim: the view keeps the last valid state.
            (None, None) => return,
            // The value is invalid: the object is read from the claim from now on.
            (None, Some(_)) => false,
        };
        if !is_in_entry_alone {
            return self.refresh(&entry.key, entry.revision, false).await;
        }
        if let BucketKeyState::Object(object) = self.store.key_state(&entry.key, read, None) {
            self.show(name, &entry.key, Some(&object), entry.revision);
        }
    }

    /// Stores the last valid object of a key whose value has become invalid, so that lists can return it. It is taken from the window of
    /// the last changes, and not stored if the window does not have it any more.
    fn keep_last_valid(&self, key: &str) {
        let Some(name) = object_name(&self.store.kind.kind, key) else { return };
        if let Some(object) = self.view.last_object(&name.namespace, &name.name) {
            self.store.set_last_valid(key, Some(object));
        }
    }

    /// Handles the removal of a key: of an object, or of a claim, which is the copy of an object with finalizers in a second entry.
    async fn remove(&self, key: &str, revision: u64) {
        match meaning(&self.store.kind.kind, key) {
            KeyMeaning::Object(name) => {
                self.view.set_invalid(key, false);
                self.store.set_last_valid(key, None);
                if self.view.key(key).claim.is_some() {
                    self.refresh(key, revision, false).await;
                } else {
                    self.show(&name, key, None, revision);
                    self.store.forget(key);
                }
            }
            KeyMeaning::Claim(key) => {
                let viewed = self.view.key(key);
                self.view.set_claim(key, None);
                if !viewed.is_in_entry() {
                    // An object with an invalid value was read from the claim, and is gone with it.
                    self.refresh(key, revision, viewed.is_invalid).await;
                }
            }
            KeyMeaning::Reserved | KeyMeaning::Invalid => {}
        }
        self.advance(revision);
    }

    /// Reads the object of a key again after a change of its claim (the copy of an object with finalizers in a second entry), unless the
    /// entry alone determines the object.
    async fn refresh_if_claim_matters(&self, key: &str, revision: u64) {
        if !self.view.key(key).is_in_entry() {
            self.refresh(key, revision, false).await;
        }
    }

    /// Reads the object of a key from the bucket, and updates it in the view. If its value is invalid or can't be read, the view keeps the
    /// object, or drops it if `drops_unreadable` is true.
    async fn refresh(&self, key: &str, revision: u64, drops_unreadable: bool) {
        let Some(name) = object_name(&self.store.kind.kind, key) else { return };
        let Some(object) = self.resolve(key).await.or(drops_unreadable.then_some(None)) else { return };
        self.show(&name, key, object.as_ref(), revision);
        if object.is_none() {
            self.store.forget(key);
        }
    }

    /// Updates the object of a key in the view, for an event with the revision `position`; `None` if the object is gone.
    fn show(&self, name: &KeyedName, key: &str, object: Option<&ResolvedObject>, position: u64) {
        let object = object.map(|object| (&object.object, object.revision));
        self.view.show(name, key, object, position);
    }

    /// Records that the view has all changes up to a revision, and that the bucket answers.
    fn advance(&self, revision: u64) {
        self.view.set_failure(None);
        self.view.advance(revision);
    }

    /// Reads the object of a key, and tries again until the bucket answers. Returns `Some(None)` if there is no object, and `None` if its
    /// value is invalid or the bucket refuses the request, for example for lack of permission.
    async fn resolve(&self, key: &str) -> Option<Option<ResolvedObject>> {
        loop {
            match self.store.resolve(key).await {
                Ok(object) => return Some(object),
                Err(RequestError::Bucket(error @ (BucketError::Unavailable { .. } | BucketError::Conflict { .. }))) => {
                    let failure = match error {
                        BucketError::Unavailable { .. } => error,
                        error => BucketError::unavailable(self.store.kind.bucket.name(), error.to_string()),
                    };
                    self.view.set_failure(Some(failure));
                    self.wake.send_modify(|count| *count += 1);
                    sleep(RETRY_DELAY).await;
                }
                // The value is invalid. `KindStore` has logged a warning.
                Err(RequestError::Failure(_)) => return None,
                Err(RequestError::Bucket(error)) => {
                    let claim = claim_key(key);
                    tracing::warn!(kind = %self.store.kind.kind, key, claim, %error, "failed to read an object with its claim");
                    return None;
                }
            }
        }
    }
}

impl ViewListing {
    /// Adds an entry of the list to the state of its key: an object, or a claim, which is the copy of an object with finalizers in a second
    /// entry.
    fn add(&mut self, store: &KindStore, entry: &BucketEntry) {
        self.newest = self.newest.max(entry.revision);
        match meaning(&store.kind.kind, &entry.key) {
            KeyMeaning::Object(name) => {
                let ReadEntry { stored, invalid } = store.read_entry(&name, Some(entry));
                if invalid.is_some() {
                    self.keys.entry(entry.key.as_str().into()).or_default().is_invalid = true;
                } else {
                    store.set_last_valid(&entry.key, None);
                }
                if let Some(StoredObject { object, revision, .. }) = stored {
                    store.remember_uid(&entry.key, uid(&object));
                    self.keys.entry(entry.key.as_str().into()).or_default().shown =
                        Some(ShownObject::new(&object, revision));
                }
            }
            KeyMeaning::Claim(key) => {
                if let Some(claim) = read_claim(store, key, entry) {
                    self.keys.entry(key.into()).or_default().claim = Some(Box::new(claim));
                }
            }
            KeyMeaning::Reserved => {}
            KeyMeaning::Invalid => store.warn_of_invalid_key(entry),
        }
    }
}

/// Decodes a claim, the copy of an object with finalizers in a second entry, for the view; `None` if it is invalid.
fn read_claim(store: &KindStore, key: &str, entry: &BucketEntry) -> Option<ViewedClaim> {
    let name = object_name(&store.kind.kind, key)?;
    let claim = store.read_claim(&name, entry).stored?;
    let is_plain = !claim.is_detached && !is_deleting(&claim.object);
    Some(ViewedClaim { revision: claim.revision, uid: uid(&claim.object).into(), is_plain })
}
