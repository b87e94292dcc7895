//! Finds the current state of an object in a key-value bucket: in its own entry, or in the second entry that keeps a copy of an object with
//! finalizers.
//!
//! A claim is a copy of an object with finalizers in an entry of its own, `_claim.<key>`. A client that knows nothing of finalizers may
//! delete or purge the entry, or put the value of another object: then the object is in its claim, with a deletion timestamp, until its
//! finalizers are removed. Before it is shown there, the claim is written as *detached*, which gives the object a version that is higher
//! than all its earlier ones. A claim without finalizers protects nothing, and counts as absent.

use super::{
    kind::BucketKind,
    object::{at, finalizers, generation, has_finalizers, is_deleting, metadata_mut, set_resource_version, uid},
    object_schema::complete,
    stored::{InvalidValue, StoredObject},
};
use serde_json::{Map, Value};

/// An object as the API shows it, and where it is.
#[derive(Clone, Debug)]
pub(super) struct ResolvedObject {
    pub(super) object: Value,
    /// The revision of the entry or of the claim that has the object. It is the resourceVersion.
    pub(super) revision: u64,
    pub(super) location: ObjectLocation,
    /// Whether the object is in its entry, and that lacks the deletion timestamp or the finalizers, which only the claim has.
    pub(super) lacks_deletion: bool,
}

/// The entry that has an object.
#[derive(Clone, Debug)]
pub(super) enum ObjectLocation {
    /// The entry with its key.
    Entry {
        claim: Option<StoredObject>,
        /// The revision of the claim, also of one that protects nothing.
        claim_revision: Option<u64>,
    },
    /// The claim. An entry with the key is that of a later object, which is shown when this one is gone.
    Claim {
        claim: StoredObject,
        later: Option<Box<StoredObject>>,
        /// The revision of the entry if it is an invalid value of this object.
        invalid: Option<u64>,
    },
}

/// A claim as it is read.
#[derive(Debug)]
pub(super) struct ReadClaim {
    pub(super) revision: u64,
    /// `None` if the value can't be decoded.
    pub(super) stored: Option<StoredObject>,
}

/// The state of the key of an object: its entry together with its claim.
#[derive(Debug)]
pub(super) enum BucketKeyState {
    Nothing,
    Object(Box<ResolvedObject>),
    /// The entry is no valid object, for this reason. Its last valid state may be known, see `KindStore::last_valid`.
    Invalid(String),
    /// The claim of an object whose entry is invalid. The claim must be written again before the object is shown from it: its revision may
    /// be lower than that of the last valid entry, and the version of an object must not decrease.
    ClaimOutdated(Box<StoredObject>),
    /// The claim of an object that has lost its entry. It must be detached before the object is shown from it.
    EntryLost(Box<StoredObject>),
}

impl ResolvedObject {
    /// Returns whether the claim (the copy of an object with finalizers in a second entry) agrees with the object: it is up to date if the
    /// object has finalizers, and absent if not. It disagrees if an earlier write failed after it had written only one of the two entries.
    pub(super) fn has_settled_claim(&self) -> bool {
        match &self.location {
            ObjectLocation::Claim { .. } => true,
            ObjectLocation::Entry { claim, .. } if has_finalizers(&self.object) => {
                !is_outdated(claim.as_ref(), &self.object)
            }
            ObjectLocation::Entry { claim, .. } => claim.is_none(),
        }
    }

    /// Returns the claim, which is the copy of an object with finalizers in a second entry; `None` if it is absent or has no finalizers.
    pub(super) fn claim(&self) -> Option<&StoredObject> {
        match &self.location {
            ObjectLocation::Entry { claim, .. } => claim.as_ref(),
            ObjectLocation::Claim { claim, .. } => Some(claim),
        }
    }
}

/// Determines the state of an object from its entry and its claim, which is the copy of an object with finalizers in a second entry.
/// `invalid` is the value of the entry if it is no valid object; `entry` is `None` then. If neither the entry nor the claim has a uid,
/// `fallback_uid` returns the uid of the object for the revision of the entry: other clients write entries without a uid.
pub(super) fn key_state(
    kind: &BucketKind,
    entry: Option<StoredObject>,
    claim: Option<ReadClaim>,
    invalid: Option<InvalidValue>,
    fallback_uid: impl FnOnce(u64) -> String,
) -> BucketKeyState {
    let claim_revision = claim.as_ref().map(|claim| claim.revision);
    // A claim without finalizers protects nothing.
    let claim = claim.and_then(|claim| claim.stored).filter(|claim| has_finalizers(&claim.object));
    let Some(claim) = claim else {
        return match (entry, invalid) {
            (Some(entry), _) => in_entry(kind, entry, None, claim_revision, fallback_uid),
            (None, Some(invalid)) => BucketKeyState::Invalid(invalid.why),
            (None, None) => BucketKeyState::Nothing,
        };
    };
    let Some(entry) = entry else {
        // The entry is gone or invalid, and the claim has the object. An invalid value does not count as a deletion. A claim that is older
        // than the invalid value has to be written again first, so that the version of the object does not decrease.
        return match invalid {
            Some(invalid) if !claim.is_detached && claim.revision < invalid.revision => {
                BucketKeyState::ClaimOutdated(Box::new(claim))
            }
            None if !claim.is_detached => BucketKeyState::EntryLost(Box::new(claim)),
            invalid => in_claim(kind, claim, None, invalid),
        };
    };
    // Another client writes entries without a uid. Such an entry changes the claimed object, or is a new object of the same name if the
    // claimed object is being deleted.
    let is_same_object = match uid(&entry.object) {
        "" => !is_deleting(&claim.object),
        entry_uid => entry_uid == uid(&claim.object),
    };
    match is_same_object {
        true => in_entry(kind, entry, Some(claim), claim_revision, fallback_uid),
        false if claim.is_detached => in_claim(kind, claim, Some(entry), None),
        false => BucketKeyState::EntryLost(Box::new(claim)),
    }
}

/// Returns the state of an object that is read from its claim, the copy of an object with finalizers in a second entry. `later` is the
/// entry with the key if it is another object of the same name, and `invalid` is the value of the entry if it is no valid object.
fn in_claim(
    kind: &BucketKind,
    claim: StoredObject,
    later: Option<StoredObject>,
    invalid: Option<InvalidValue>,
) -> BucketKeyState {
    let mut object = claim.object.clone();
    let revision = claim.revision;
    complete(kind, &mut object);
    set_version(kind, &mut object, revision);
    let invalid = invalid.filter(|invalid| invalid.uid == uid(&object)).map(|invalid| invalid.revision);
    let location = ObjectLocation::Claim { claim, later: later.map(Box::new), invalid };
    BucketKeyState::Object(Box::new(ResolvedObject { object, revision, location, lacks_deletion: false }))
}

/// Returns the state of an object that is read from its entry. If another client wrote the entry, it may lack metadata: the metadata then
/// comes from the claim, which is the copy of an object with finalizers in a second entry, and a missing uid from `fallback_uid`.
fn in_entry(
    kind: &BucketKind,
    entry: StoredObject,
    claim: Option<StoredObject>,
    claim_revision: Option<u64>,
    fallback_uid: impl FnOnce(u64) -> String,
) -> BucketKeyState {
    let StoredObject { mut object, revision, digest, is_foreign, .. } = entry;
    if is_foreign {
        super::fields::disown_desired_state(&mut object);
        // The revision of the entry becomes the generation: it is higher than all earlier generations, since each of them took a write.
        if kind.has_generation {
            metadata_mut(&mut object).insert("generation".to_owned(), revision.into());
        }
    }
    let mut lacks_deletion = false;
    match &claim {
        Some(claim) if uid(&object).is_empty() => {
            // The generation stays if the desired state equals that of the claim. If the entry lacks its status, the status comes from the
            // claim and may be outdated: a new generation then makes the operator write the status again.
            let keeps_generation = claim.digest == digest && !(kind.has_status && object.get("status").is_none());
            add_claimed_metadata(&mut object, claim, keeps_generation);
        }
        Some(claim) if is_deleting(&claim.object) => {
            lacks_deletion = !is_deleting(&object) || !has_finalizers(&object);
            restore_deletion(&mut object, &claim.object);
        }
        _ => {}
    }
    if uid(&object).is_empty() {
        metadata_mut(&mut object).insert("uid".to_owned(), fallback_uid(revision).into());
    }
    complete(kind, &mut object);
    set_version(kind, &mut object, revision);
    let location = ObjectLocation::Entry { claim, claim_revision };
    BucketKeyState::Object(Box::new(ResolvedObject { object, revision, location, lacks_deletion }))
}

/// Adds the metadata and the status of the claim to an object whose entry has no uid, because another client wrote it. The claim is the
/// copy of the object in a second entry. Labels, annotations, owner references and a status of the object itself win.
fn add_claimed_metadata(object: &mut Value, claim: &StoredObject, keeps_generation: bool) {
    let (claimed, own) = (&claim.object, &*object);
    let merged = |field: &str| -> Option<Value> {
        let entries =
            |object: &Value| at(object, &["metadata", field]).and_then(Value::as_object).cloned().unwrap_or_default();
        let mut merged: Map<String, Value> = entries(claimed);
        merged.extend(entries(own));
        (!merged.is_empty()).then_some(Value::Object(merged))
    };
    let (labels, annotations) = (merged("labels"), merged("annotations"));
    let mut all_finalizers: Vec<String> = finalizers(claimed).map(str::to_owned).collect();
    let further = finalizers(own).filter(|own| finalizers(claimed).all(|finalizer| finalizer != *own));
    all_finalizers.extend(further.map(str::to_owned));
    let claimed_field = |field: &str| at(claimed, &["metadata", field]).cloned();
    let owners = at(own, &["metadata", "ownerReferences"]).cloned().or_else(|| claimed_field("ownerReferences"));
    let metadata = metadata_mut(object);
    for (field, value) in [
        ("labels", labels),
        ("annotations", annotations),
        ("finalizers", Some(all_finalizers.into())),
        ("ownerReferences", owners),
        ("uid", claimed_field("uid")),
        ("creationTimestamp", claimed_field("creationTimestamp")),
    ] {
        super::object::set(metadata, field, value);
    }
    if keeps_generation && let Some(generation) = generation(claimed) {
        metadata.insert("generation".to_owned(), generation.into());
    }
    if let (Some(fields), Some(status)) = (object.as_object_mut(), claimed.get("status")) {
        fields.entry("status").or_insert_with(|| status.clone());
    }
}

/// Sets the deletion timestamp and the finalizers of an object to those of its claim, the copy of the object in a second entry: another
/// client that has overwritten the entry can neither cancel a deletion nor remove a finalizer.
fn restore_deletion(object: &mut Value, claimed: &Value) {
    let metadata = metadata_mut(object);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"] {
        super::object::set(metadata, field, at(claimed, &["metadata", field]).cloned());
    }
}

/// Sets the resourceVersion to the revision of the entry, and the generation to 1 if the kind has generations and the object has none.
fn set_version(kind: &BucketKind, object: &mut Value, revision: u64) {
    let has_generation = generation(object).is_some();
    set_resource_version(object, revision);
    if kind.has_generation && !has_generation {
        metadata_mut(object).insert("generation".to_owned(), 1.into());
    }
}

/// Returns whether the claim, the copy of an object with finalizers in a second entry, is missing, detached or differs from the object in
/// the metadata that it protects, so that it must be written again.
pub(super) fn is_outdated(claim: Option<&StoredObject>, object: &Value) -> bool {
    let Some(claim) = claim else { return true };
    let differs = |field: &str| at(&claim.object, &["metadata", field]) != at(object, &["metadata", field]);
    claim.is_detached || ["uid", "finalizers", "generation", "deletionTimestamp"].into_iter().any(differs)
}
