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
    /// Returns whether the claim is the one that the object needs: an earlier write may have failed between the claim and the entry.
    pub(super) fn has_settled_claim(&self) -> bool {
        match &self.location {
            ObjectLocation::Claim { .. } => true,
            ObjectLocation::Entry { claim, .. } if has_finalizers(&self.object) => {
                !is_outdated(claim.as_ref(), &self.object)
            }
            ObjectLocation::Entry { claim, .. } => claim.is_none(),
        }
    }

    /// Returns the claim; `None` if there is none, or one that protects nothing.
    pub(super) fn claim(&self) -> Option<&StoredObject> {
        match &self.location {
            ObjectLocation::Entry { claim, .. } => claim.as_ref(),
            ObjectLocation::Claim { claim, .. } => Some(claim),
        }
    }
}

/// Finds the object of a key by its entry and its claim. `invalid` is the value of the entry if it is no valid object. An entry that
/// another client wrote may have no uid: `fallback_uid` returns that of the object for the revision of the entry.
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
        // An invalid value is no deletion: the object stays as its claim has it.
        return match invalid {
            Some(invalid) if !claim.is_detached && claim.revision < invalid.revision => {
                BucketKeyState::ClaimOutdated(Box::new(claim))
            }
            None if !claim.is_detached => BucketKeyState::EntryLost(Box::new(claim)),
            invalid => in_claim(kind, claim, None, invalid),
        };
    };
    // An entry without a uid changes the claimed object. If that is being deleted, the entry is a later object of the same name.
    let is_same = match uid(&entry.object) {
        "" => !is_deleting(&claim.object),
        entry_uid => entry_uid == uid(&claim.object),
    };
    match is_same {
        true => in_entry(kind, entry, Some(claim), claim_revision, fallback_uid),
        false if claim.is_detached => in_claim(kind, claim, Some(entry), None),
        false => BucketKeyState::EntryLost(Box::new(claim)),
    }
}

/// Returns the object in a claim.
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

/// Returns the object in an entry, with the metadata that only its claim has.
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
        // The revision is the new generation: it is higher than every earlier one, since each of them took a write.
        if kind.has_generation {
            metadata_mut(&mut object).insert("generation".to_owned(), revision.into());
        }
    }
    let mut lacks_deletion = false;
    match &claim {
        Some(claim) if uid(&object).is_empty() => {
            // The generation stays if the desired state is that of the claim, and if the entry has its own status. The status of the claim
            // may be outdated: a new generation makes the operator write it again.
            let keeps_generation = claim.digest == digest && !(kind.has_status && object.get("status").is_none());
            take_metadata(&mut object, claim, keeps_generation);
        }
        Some(claim) if is_deleting(&claim.object) => {
            lacks_deletion = !is_deleting(&object) || !has_finalizers(&object);
            take_deletion(&mut object, &claim.object);
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

/// Gives an object without a uid the metadata and the status of its claim. Its own labels and annotations win.
fn take_metadata(object: &mut Value, claim: &StoredObject, keeps_generation: bool) {
    let (claimed, own) = (&claim.object, &*object);
    let merged = |field: &str| -> Option<Value> {
        let entries =
            |object: &Value| at(object, &["metadata", field]).and_then(Value::as_object).cloned().unwrap_or_default();
        let mut merged: Map<String, Value> = entries(claimed);
        merged.extend(entries(own));
        (!merged.is_empty()).then_some(Value::Object(merged))
    };
    let (labels, annotations) = (merged("labels"), merged("annotations"));
    let mut all: Vec<String> = finalizers(claimed).map(str::to_owned).collect();
    let further = finalizers(own).filter(|own| finalizers(claimed).all(|finalizer| finalizer != *own));
    all.extend(further.map(str::to_owned));
    let claimed_field = |field: &str| at(claimed, &["metadata", field]).cloned();
    let owners = at(own, &["metadata", "ownerReferences"]).cloned().or_else(|| claimed_field("ownerReferences"));
    let metadata = metadata_mut(object);
    for (field, value) in [
        ("labels", labels),
        ("annotations", annotations),
        ("finalizers", Some(all.into())),
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

/// Sets the deletion timestamp and the finalizers that the claim of an object has: another client neither takes back a deletion nor
/// ends it.
fn take_deletion(object: &mut Value, claimed: &Value) {
    let metadata = metadata_mut(object);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"] {
        super::object::set(metadata, field, at(claimed, &["metadata", field]).cloned());
    }
}

/// Sets the resourceVersion, and the generation if the object has none.
fn set_version(kind: &BucketKind, object: &mut Value, revision: u64) {
    let has_generation = generation(object).is_some();
    set_resource_version(object, revision);
    if kind.has_generation && !has_generation {
        metadata_mut(object).insert("generation".to_owned(), 1.into());
    }
}

/// Returns whether a claim lacks what the object has now, so that it must be written again.
pub(super) fn is_outdated(claim: Option<&StoredObject>, object: &Value) -> bool {
    let Some(claim) = claim else { return true };
    let differs = |field: &str| at(&claim.object, &["metadata", field]) != at(object, &["metadata", field]);
    claim.is_detached || ["uid", "finalizers", "generation", "deletionTimestamp"].into_iter().any(differs)
}
