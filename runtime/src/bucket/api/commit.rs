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
    /// Returns the object after the write, or its last state if the write removed it.
    pub(super) fn into_object(self) -> Value {
        match self {
            Self::Stored(object) | Self::Removed(object) => object,
        }
    }
}

/// Returns whether the value of an entry is an object with a uid other than `own_uid`. A value without a uid counts as the same object.
fn has_other_uid(value: &[u8], own_uid: &str) -> bool {
    let object: Value = serde_json::from_slice(value).unwrap_or_default();
    let stored_uid = uid(&object);
    !stored_uid.is_empty() && stored_uid != own_uid
}

impl KindStore {
    /// Writes a new object: its entry, and its claim (a copy in a second entry) if it has finalizers. Returns the object with its
    /// resourceVersion.
    ///
    /// # Errors
    /// A conflict if the key has an entry, and the other errors of the bucket.
    pub(super) async fn create(&self, key: &str, mut object: Value) -> Result<Value, BucketError> {
        let bucket = &self.kind.bucket;
        let revision = bucket.put(key, encode(&self.kind, &object, ValueForm::Entry), Expected::Absent).await?;
        self.remember_uid(key, uid(&object));
        if has_finalizers(&object) {
            // The entry is written before the claim, since a claim without an entry means that another client has removed the entry.
            self.create_claim(key, &object).await?;
        }
        set_resource_version(&mut object, revision);
        Ok(object)
    }

    /// Writes the claim of a new object, which is its copy in a second entry. A claim with finalizers that is already there stays: a later
    /// write of the object has written it.
    async fn create_claim(&self, key: &str, object: &Value) -> Result<(), BucketError> {
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

    /// Writes the new state of an object to the entry that has the object: its own entry, or the claim (the copy of an object with
    /// finalizers in a second entry). An object with a deletion timestamp and without finalizers is removed instead.
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

    /// Writes the new state of an object to its entry, and returns the revision of the entry. If the object has finalizers, its claim (the
    /// copy in a second entry) is written before, so that the deletion of an entry with finalizers never loses the object. If it has none,
    /// the claim is removed after.
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
            // The write of the entry failed after the claim was created. If another client has deleted the object meanwhile, or replaced
            // it by another object, the new claim is removed: the finalizers were never stored in the entry.
            (Err(BucketError::Conflict { .. }), Some(claim), _) => {
                let is_gone = match bucket.get(key).await? {
                    Some(entry) => has_other_uid(&entry.value, uid(object)),
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

    /// Removes an object without finalizers: first its claim (its copy in a second entry, left from its finalizers), then its entry. If the
    /// entry is already another object of the same name, it is not removed but written again by `renew`.
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
            // The deletion timestamp is only in the claim. It is written to the entry before the claim is removed: if the process ended
            // between the two removals, the entry would otherwise be an object that is not being deleted.
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

    /// Writes the object `later` again, with a new version. `later` was created under the key of an object that is still being deleted and
    /// is only in its claim. The write comes before the claim is removed, so that the version of `later` is higher than all versions of the
    /// deleted object. Adds a missing uid with a creation timestamp; and sets the generation if another client has changed the desired
    /// state.
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
