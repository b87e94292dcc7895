//! `KindStore`: reads and decodes the objects of one kind in a key-value bucket, and repeats writes that conflict with other clients.

use super::{
    claim::{BucketKeyState, ObjectLocation, ReadClaim, ResolvedObject, key_state},
    failure::{ApiFailure, RequestError},
    kind::BucketKind,
    metadata::metadata_causes,
    object::{mark_deleted, uid},
    object_key::{KeyedName, claim_key, object_name},
    object_schema::{complete, schema_causes},
    stored::{InvalidValue, StoredObject, ValueForm, encode},
};
use crate::{
    bucket::{entry::BucketEntry, error::BucketError, store::Expected},
    cache::Uid,
    environment::Environment,
};
use futures::future::try_join;
use k8s_openapi::jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// The number of attempts of a write that meets the writes of other clients.
const MAX_ATTEMPTS: usize = 8;

/// The maximum number of keys of which it is known that a warning was logged. If there are more, some are logged again.
const MAX_WARNED: usize = 1024;

/// The objects of one kind.
#[derive(Debug)]
pub(super) struct KindStore {
    pub(super) kind: BucketKind,
    environment: Environment,
    /// The last known uids of the objects, by key: an object whose uid is not stored, or not any more, keeps it.
    uids: Mutex<HashMap<Box<str>, Uid>>,
    /// The last valid objects of keys whose values have become invalid, by key, as far as the process has seen them.
    last_valid: Mutex<HashMap<String, Value>>,
    /// The revisions of the invalid entries about which a warning was logged, by key.
    warned: Mutex<HashMap<String, u64>>,
}

/// The decoded entry of an object: a valid object, an invalid value, or neither if there is no entry.
#[derive(Default)]
pub(super) struct ReadEntry {
    pub(super) stored: Option<StoredObject>,
    pub(super) invalid: Option<InvalidValue>,
}

impl KindStore {
    pub(super) fn new(kind: BucketKind, environment: Environment) -> Self {
        Self { kind, environment, uids: Mutex::default(), last_valid: Mutex::default(), warned: Mutex::default() }
    }

    /// Returns the current time in whole seconds, as Kubernetes writes it.
    pub(super) fn now(&self) -> String {
        let now = self.environment.now();
        Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
    }

    /// Returns a random uid, which is a UUID of version 4.
    pub(super) fn random_uid(&self) -> String {
        let (high, low) = (self.environment.random(), self.environment.random());
        format_uid((u128::from(high) << 64) | u128::from(low), 4)
    }

    /// Returns a random number.
    pub(super) fn random(&self) -> u64 {
        self.environment.random()
    }

    /// Returns the uid for an object whose entry has none, because another client wrote it: the last known uid of the key, or else a hash
    /// of the bucket, the key and this revision. The hash is remembered as the uid of later revisions, except with shards: there, all
    /// replicas must derive the same uid, and a replica that has missed a revision would derive another one.
    pub(super) fn fallback_uid(&self, key: &str, revision: u64) -> Uid {
        let derived = || {
            let text = format!("{}\0{key}\0{revision}", self.kind.bucket.name());
            let digest = Sha256::digest(text);
            let bits = digest.iter().take(16).fold(0, |bits: u128, byte| (bits << 8) | u128::from(*byte));
            Uid::from(format_uid(bits, 5).as_str())
        };
        let mut uids = self.uids.lock();
        if self.kind.has_shards {
            return uids.get(key).cloned().unwrap_or_else(derived);
        }
        uids.entry(key.into()).or_insert_with(derived).clone()
    }

    /// Remembers the uid of the object with this key. An empty uid is ignored.
    pub(super) fn remember_uid(&self, key: &str, uid: &str) {
        if uid.is_empty() {
            return;
        }
        let (uid, mut uids) = (Uid::from(uid), self.uids.lock());
        match uids.get_mut(key) {
            Some(known) => *known = uid,
            None => drop(uids.insert(key.into(), uid)),
        }
    }

    /// Removes everything that is remembered of a deleted object: its uid, the warning about its entry, and its last valid state.
    pub(super) fn forget(&self, key: &str) {
        self.uids.lock().remove(key);
        self.warned.lock().remove(key);
        self.set_last_valid(key, None);
    }

    /// Sets the last valid object of a key whose value has become invalid. `None` removes it, when the value is valid again or the object
    /// is gone.
    pub(super) fn set_last_valid(&self, key: &str, object: Option<Value>) {
        let mut last_valid = self.last_valid.lock();
        match object {
            Some(object) => drop(last_valid.insert(key.to_owned(), object)),
            None => drop(last_valid.remove(key)),
        }
    }

    /// Returns the last valid object of a key whose value has become invalid; `None` if the process has not seen it.
    pub(super) fn last_valid(&self, key: &str) -> Option<Value> {
        self.last_valid.lock().get(key).cloned()
    }

    /// Returns the failure 503 for a request for an object whose value in the bucket is invalid. It is not 404, since the operator would
    /// then take the object for deleted and remove its children.
    pub(super) fn invalid_value(&self, key: &str, why: &str) -> ApiFailure {
        let (kind, bucket) = (&self.kind.kind, self.kind.bucket.name());
        let problem = format!("the value of key {key:?} in bucket {bucket:?} is no valid object of {kind}");
        ApiFailure::unavailable(format!("{problem}; correct or delete it: {why}"))
    }

    /// Decodes and validates an entry. If it is no valid object of the kind, a warning with the reason is logged, once for each revision.
    pub(super) fn read_entry(&self, name: &KeyedName, entry: Option<&BucketEntry>) -> ReadEntry {
        let Some(entry) = entry else { return ReadEntry::default() };
        match self.decode(name, entry) {
            Ok(stored) => ReadEntry { stored: Some(stored), invalid: None },
            Err(why) => {
                self.warn(&entry.key, entry.revision, &why);
                ReadEntry { stored: None, invalid: Some(InvalidValue::new(entry, why)) }
            }
        }
    }

    /// Decodes an entry without validation, because an earlier read has found this revision valid.
    pub(super) fn read_valid_entry(&self, name: &KeyedName, entry: &BucketEntry) -> ReadEntry {
        match StoredObject::decode(&self.kind, name, entry) {
            Ok(stored) => ReadEntry { stored: Some(stored), invalid: None },
            Err(_) => self.read_entry(name, Some(entry)),
        }
    }

    /// Decodes a claim, which is the copy of an object with finalizers in a second entry. If that fails, a warning is logged and `stored`
    /// is `None`: the claim then counts as absent.
    pub(super) fn read_claim(&self, name: &KeyedName, entry: &BucketEntry) -> ReadClaim {
        let decoded = StoredObject::decode(&self.kind, name, entry);
        let stored = decoded.inspect_err(|why| self.warn(&entry.key, entry.revision, why)).ok();
        ReadClaim { revision: entry.revision, stored }
    }

    /// Decodes the object in an entry, and validates its metadata and, by the schema of the kind, its other fields.
    ///
    /// # Errors
    /// The first problem, as text, of an entry that is no valid object of the kind.
    fn decode(&self, name: &KeyedName, entry: &BucketEntry) -> Result<StoredObject, String> {
        let stored = StoredObject::decode(&self.kind, name, entry)?;
        // Only the copy gets the defaults of the schema.
        let mut completed = stored.object.clone();
        complete(&self.kind, &mut completed);
        let mut causes = metadata_causes(&completed);
        causes.extend(schema_causes(&self.kind, &completed, None, false));
        match causes.first() {
            None => Ok(stored),
            Some(cause) => Err(format!("{}: {}", cause.field, cause.message)),
        }
    }

    /// Logs a warning about an invalid entry, unless the last warning about the key was for this revision.
    fn warn(&self, key: &str, revision: u64, why: &str) {
        let mut warned = self.warned.lock();
        if warned.len() >= MAX_WARNED {
            warned.clear();
        }
        if warned.insert(key.to_owned(), revision) == Some(revision) {
            return;
        }
        drop(warned);
        let (kind, bucket) = (&self.kind.kind, self.kind.bucket.name());
        tracing::warn!(%kind, bucket, key, revision, "an entry of the bucket is invalid and is ignored; correct it: {why}");
    }

    /// Logs a warning about an entry whose key is not the key of any object of the kind.
    pub(super) fn warn_of_invalid_key(&self, entry: &BucketEntry) {
        self.warn(&entry.key, entry.revision, &format!("its key is none of a {}", self.kind.kind));
    }

    /// Returns the state of a key from its decoded entry and its claim (the copy of an object with finalizers in a second entry), and
    /// remembers the uid if the object is in its entry and has a uid there or in the claim.
    pub(super) fn key_state(&self, key: &str, entry: ReadEntry, claim: Option<ReadClaim>) -> BucketKeyState {
        let ReadEntry { stored, invalid } = entry;
        let mut has_stored_uid = true;
        let state = key_state(&self.kind, stored, claim, invalid, |revision| {
            has_stored_uid = false;
            self.fallback_uid(key, revision).to_string()
        });
        if let BucketKeyState::Object(resolved) = &state
            && matches!(resolved.location, ObjectLocation::Entry { .. })
            && has_stored_uid
        {
            self.remember_uid(key, uid(&resolved.object));
        }
        state
    }

    /// Calls `attempt`, which writes the object of this name, until it does not meet a conflict with another client, at most
    /// [`MAX_ATTEMPTS`] times.
    ///
    /// # Errors
    /// Those of `attempt`. 409 if all attempts meet conflicts.
    pub(super) async fn retry_conflicts<T, A>(
        &self,
        name: &str,
        mut attempt: impl FnMut() -> A,
    ) -> Result<T, RequestError>
    where
        A: Future<Output = Result<T, RequestError>>,
    {
        for _ in 0..MAX_ATTEMPTS {
            match attempt().await {
                Err(error) if error.is_conflict() => {}
                result => return result,
            }
        }
        Err(ApiFailure::stale(&self.kind, name).into())
    }

    /// Reads an object from its entry and its claim, which is the copy of an object with finalizers in a second entry; `None` if there is
    /// no object. If another client has removed the entry or put another object there, the claim is first marked as being deleted, and the
    /// object is read from it. If the entry is invalid and newer than the claim, the claim is written again before the object is read from
    /// it.
    ///
    /// # Errors
    /// The errors of the bucket. [503](Self::invalid_value) if the value of the entry is invalid and there is no claim.
    pub(super) async fn resolve(&self, key: &str) -> Result<Option<ResolvedObject>, RequestError> {
        let Some(name) = object_name(&self.kind.kind, key) else { return Ok(None) };
        let (bucket, claim_key) = (&self.kind.bucket, claim_key(key));
        for _ in 0..MAX_ATTEMPTS {
            let (entry, claim) = try_join(bucket.get(key), bucket.get(&claim_key)).await?;
            let claim = claim.map(|claim| self.read_claim(&name, &claim));
            let mut state = self.key_state(key, self.read_entry(&name, entry.as_ref()), claim);
            if let BucketKeyState::EntryLost(claim) = state {
                // The two reads are not atomic: the claim may belong to an object that was created after the entry was read. A create
                // writes the entry before the claim. If a second read of the entry does not find the claimed object either, the entry is
                // lost.
                let entry = bucket.get(key).await?;
                let claim = ReadClaim { revision: claim.revision, stored: Some(*claim) };
                state = self.key_state(key, self.read_entry(&name, entry.as_ref()), Some(claim));
            }
            match state {
                BucketKeyState::Nothing => return Ok(None),
                BucketKeyState::Object(object) => return Ok(Some(*object)),
                BucketKeyState::Invalid(why) => return Err(self.invalid_value(key, &why).into()),
                BucketKeyState::ClaimOutdated(claim) => self.renew_claim(&claim_key, &claim).await?,
                BucketKeyState::EntryLost(claim) => self.detach(&claim_key, *claim).await?,
            }
        }
        Err(BucketError::conflict(key).into())
    }

    /// Writes the claim (the copy of an object in a second entry) again without a change, because the entry of the object is invalid. The
    /// object is read from the claim then, and its version is the new revision of the claim, which is higher than all revisions of the
    /// entry.
    async fn renew_claim(&self, claim_key: &str, claim: &StoredObject) -> Result<(), BucketError> {
        let value = encode(&self.kind, &claim.object, ValueForm::Claim);
        self.put_unless_changed(claim_key, value, claim.revision).await
    }

    /// Writes a value if the last write of the key has this revision, and does nothing if another client has written the key since.
    pub(super) async fn put_unless_changed(&self, key: &str, value: Vec<u8>, revision: u64) -> Result<(), BucketError> {
        match self.kind.bucket.put(key, value, Expected::Revision(revision)).await {
            Ok(_) | Err(BucketError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Handles an object with finalizers whose entry another client has removed or replaced by another object: writes its claim (the copy
    /// in a second entry) with a deletion timestamp and as detached. From then on, the object is read from the claim until its finalizers
    /// are removed.
    async fn detach(&self, claim_key: &str, claim: StoredObject) -> Result<(), BucketError> {
        let StoredObject { mut object, revision, .. } = claim;
        mark_deleted(&mut object, &self.now());
        let (kind, bucket, uid) = (&self.kind.kind, self.kind.bucket.name(), uid(&object));
        tracing::info!(%kind, bucket, claim_key, uid, "an object was deleted in the bucket; its finalizers keep it");
        let value = encode(&self.kind, &object, ValueForm::DetachedClaim);
        self.put_unless_changed(claim_key, value, revision).await
    }
}

/// Formats bits as a UUID. `version` is 4 for random bits and 5 for a hash. As RFC 9562 requires, four of the bits are replaced by the
/// version, and two by the variant.
fn format_uid(bits: u128, version: u128) -> String {
    let bits = (bits & !(0xf << 76)) | (version << 76);
    let bits = (bits & !(0b11 << 62)) | (0b10 << 62);
    let hex = format!("{bits:032x}");
    let group = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
    [group(0..8), group(8..12), group(12..16), group(16..20), group(20..32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_have_the_form_of_their_version() {
        assert_eq!(format_uid(0, 4), "00000000-0000-4000-8000-000000000000");
        assert_eq!(format_uid(u128::MAX, 5), "ffffffff-ffff-5fff-bfff-ffffffffffff");
    }
}
