//! Creates, updates and removes the entry of an object in a bucket. An object with finalizers gets a second entry that keeps a copy of the
//! object.

use super::{
    claim::{ObjectLocation, ResolvedObject, is_outdated},
    kind_store::KindStore,
    object::{has_finalizers, is_deleting, metadata_mut, set_resource_version, uid},
    object_key::{claim_key, object_name},
    stored::{StoredObject, ValueForm, encode},
};
use crate::bucket::{error::BucketError, store::Expected};
use serde_json::Value;

/// The object after a write.
#[derive(Clone, Debug)]
pub(super) enum Committed {
    Stored(Value),
    /// The write removed the object. This is its last state.
    Removed(Value),
}

impl Committed {
    pub(super) fn into_object(self) -> Value {
        match self {
            Self::Stored(object) | Self::Removed(object) => object,
        }
    }
}

/// Returns whether a value is that of an object with another uid.
fn is_of_another(value: &[u8], own_uid: &str) -> bool {
    let object: Value = serde_json::from_slice(value).unwrap_or_default();
    let stored = uid(&object);
    !stored.is_empty() && stored != own_uid
}

impl KindStore {
    /// Writes a new object.
    ///
    /// # Errors
    /// A conflict if the key has an entry, and the other errors of the bucket.
    pub(super) async fn create(&self, key: &str, mut object: Value) -> Result<Value, BucketError> {
        let bucket = &self.kind.bucket;
        let revision = bucket.put(key, encode(&self.kind, &object, ValueForm::Entry), Expected::Absent).await?;
        self.remember_uid(key, uid(&object));
        if has_finalizers(&object) {
            // After the entry: a claim without an entry is that of an object that has lost its entry.
            self.claim_new(key, &object).await?;
        }
        set_resource_version(&mut object, revision);
        Ok(object)
    }

    /// Writes the claim of a new object, unless another write of the object has done that.
    async fn claim_new(&self, key: &str, object: &Value) -> Result<(), BucketError> {
        let (bucket, claim_key) = (&self.kind.bucket, claim_key(key));
        let claim = encode(&self.kind, object, ValueForm::Claim);
        match bucket.put(&claim_key, claim.clone(), Expected::Absent).await {
            Err(BucketError::Conflict { .. }) => {}
            written => return written.map(drop),
        }
        let (Some(name), Some(entry)) = (object_name(&self.kind.kind, key), bucket.get(&claim_key).await?) else {
            return Ok(());
        };
        match self.read_claim(&name, &entry).stored {
            Some(existing) if has_finalizers(&existing.object) => Ok(()),
            // A claim without finalizers, or an invalid one, protects nothing and is replaced.
            _ => self.put_unless_changed(&claim_key, claim, entry.revision).await,
        }
    }

    /// Writes the new state of an object, which must have changed. An object that is being deleted and has no finalizers any more is
    /// removed.
    ///
    /// # Errors
    /// A conflict if another client has written in between, and the other errors of the bucket.
    pub(super) async fn update(
        &self,
        key: &str,
        current: &ResolvedObject,
        mut object: Value,
    ) -> Result<Committed, BucketError> {
        if is_deleting(&object) && !has_finalizers(&object) {
            self.remove(key, current).await?;
            return Ok(Committed::Removed(object));
        }
        let revision = match &current.location {
            ObjectLocation::Claim { claim, .. } => {
                let form = if claim.is_detached { ValueForm::DetachedClaim } else { ValueForm::Claim };
                let value = encode(&self.kind, &object, form);
                self.kind.bucket.put(&claim_key(key), value, Expected::Revision(claim.revision)).await?
            }
            ObjectLocation::Entry { claim, claim_revision } => {
                let written =
                    self.update_entry(key, current.revision, claim.as_ref(), *claim_revision, &object).await?;
                self.remember_uid(key, uid(&object));
                written
            }
        };
        set_resource_version(&mut object, revision);
        Ok(Committed::Stored(object))
    }

    /// Writes the new state of an object to its entry. The claim is written first, so that an object whose finalizers are stored is always
    /// protected. Returns the revision of the entry.
    async fn update_entry(
        &self,
        key: &str,
        revision: u64,
        claim: Option<&StoredObject>,
        claim_revision: Option<u64>,
        object: &Value,
    ) -> Result<u64, BucketError> {
        let (bucket, claim_key) = (&self.kind.bucket, claim_key(key));
        let mut new_claim = None;
        if has_finalizers(object) && is_outdated(claim, object) {
            let expected = claim_revision.map_or(Expected::Absent, Expected::Revision);
            let written = bucket.put(&claim_key, encode(&self.kind, object, ValueForm::Claim), expected).await?;
            new_claim = Some(written).filter(|_| claim.is_none());
        }
        let value = encode(&self.kind, object, ValueForm::Entry);
        let result = bucket.put(key, value, Expected::Revision(revision)).await;
        match (&result, new_claim, claim) {
            // The object was deleted before its first finalizer was stored, so that nothing needs the claim. Perhaps another one has
            // its key now.
            (Err(BucketError::Conflict { .. }), Some(claim), _) => {
                let is_gone = match bucket.get(key).await? {
                    Some(entry) => is_of_another(&entry.value, uid(object)),
                    None => true,
                };
                if is_gone {
                    bucket.remove(&claim_key, claim).await?;
                }
            }
            // The object no longer needs the claim. If this removal fails, the next write removes it.
            (Ok(_), _, Some(claim)) if !has_finalizers(object) => {
                bucket.remove(&claim_key, claim.revision).await?;
            }
            _ => {}
        }
        result
    }

    /// Removes an object without finalizers: its claim, then its entry. An entry that is already that of a later object is written again
    /// instead.
    ///
    /// # Errors
    /// A conflict if another client has written in between, and the other errors of the bucket.
    pub(super) async fn remove(&self, key: &str, current: &ResolvedObject) -> Result<(), BucketError> {
        let bucket = &self.kind.bucket;
        if let ObjectLocation::Claim { later, invalid, .. } = &current.location {
            if let Some(later) = later {
                self.renew(key, later).await?;
            }
            if let Some(revision) = invalid {
                bucket.remove(key, *revision).await?;
            }
        }
        let mut revision = current.revision;
        if current.lacks_deletion {
            // Only the claim has the deletion: if the process ended after its removal, the entry would be an object that nobody deletes.
            let value = encode(&self.kind, &current.object, ValueForm::Entry);
            revision = bucket.put(key, value, Expected::Revision(revision)).await?;
        }
        if let Some(claim) = current.claim() {
            bucket.remove(&claim_key(key), claim.revision).await?;
        }
        if matches!(current.location, ObjectLocation::Entry { .. }) {
            bucket.remove(key, revision).await?;
        }
        self.forget(key);
        Ok(())
    }

    /// Writes a later object with the same key again, before the earlier one is removed with its claim: the version of the later object
    /// must be higher. It also gets the uid, timestamp and generation that it lacks.
    async fn renew(&self, key: &str, later: &StoredObject) -> Result<(), BucketError> {
        let mut object = later.object.clone();
        let has_uid = !uid(&object).is_empty();
        let metadata = metadata_mut(&mut object);
        if !has_uid {
            metadata.insert("uid".to_owned(), self.random_uid().into());
            metadata.insert("creationTimestamp".to_owned(), self.now().into());
        }
        if self.kind.has_generation && later.is_foreign {
            metadata.insert("generation".to_owned(), later.revision.into());
        }
        let value = encode(&self.kind, &object, ValueForm::Entry);
        self.put_unless_changed(key, value, later.revision).await
    }
}
