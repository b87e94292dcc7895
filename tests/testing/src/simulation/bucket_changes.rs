//! Overwrites, deletes and purges sample objects that are entries of key-value buckets, as other clients of the buckets may, and restores
//! them afterwards.

use serde_json::Value;

use super::bucket_stores::BucketStores;
use crate::{
    object::{is_same_object, label},
    store_disturbance::StoreDisturbance,
    stored_kind::{StoredKind, bare_object, bare_value},
};

/// A value that is no JSON, so that the program can't read it as an object.
const INVALID_VALUE: &[u8] = b"this is no object";

/// A sample whose kind is in a bucket.
struct StoredSample<'a> {
    kind: &'a StoredKind,
    key: String,
    sample: &'a Value,
}

impl BucketStores {
    /// Changes the buckets (key-value stores) as another client or the operations of the store do. Changes each sample that is in a bucket
    /// at the moment; one that is being deleted only if the disturbance removes samples.
    pub(crate) fn disturb(&self, samples: &[Value], disturbance: StoreDisturbance) {
        if disturbance == StoreDisturbance::Children {
            return self.purge_children(samples);
        }
        // In reverse order, since a sample may refer to an earlier one.
        for (number, stored) in self.stored_samples(samples).iter().enumerate().rev() {
            // A client may remove an object that is being deleted, but does not put it.
            let is_affected =
                |object: &Value| disturbance.removes_samples() || object["metadata"]["deletionTimestamp"].is_null();
            if let Some(object) = self.object_of(stored).filter(is_affected) {
                self.disturb_sample(stored, disturbance, object, number);
            }
        }
        let buckets = self.kinds().iter().map(|kind| self.bucket(&kind.bucket));
        match disturbance {
            StoreDisturbance::PurgeWhileStopped => buckets.for_each(|bucket| bucket.compact()),
            StoreDisturbance::Interruption => buckets.for_each(|bucket| bucket.interrupt()),
            _ => {}
        }
    }

    /// Overwrites or removes the bucket entry of a sample. `object` is the valid object in the entry, and `number` the index of the sample.
    fn disturb_sample(&self, stored: &StoredSample<'_>, disturbance: StoreDisturbance, object: Value, number: usize) {
        let StoredSample { kind, key, sample } = stored;
        let bucket = self.bucket(&kind.bucket);
        match disturbance {
            StoreDisturbance::BareSpec | StoreDisturbance::Interruption => {
                bucket.put_raw(key, bare_value(sample));
            }
            StoreDisturbance::Stale => {
                bucket.put_raw(key, stale_value(object));
            }
            StoreDisturbance::Deletion => {
                bucket.delete_raw(key);
            }
            StoreDisturbance::Purge | StoreDisturbance::PurgeWhileStopped => {
                bucket.purge_raw(key);
            }
            StoreDisturbance::Invalid => self.put_foreign(kind, key, INVALID_VALUE.to_vec()),
            StoreDisturbance::Replacement => {
                bucket.purge_raw(key);
                bucket.put_raw(key, replacement(sample, number));
            }
            StoreDisturbance::Children => {}
        }
    }

    /// Puts the samples again whose bucket entries are missing or have invalid values. The program no longer has to keep an invalid value.
    pub(crate) fn restore(&self, samples: &[Value]) {
        for stored in self.stored_samples(samples) {
            if self.object_of(&stored).is_none() {
                let StoredSample { kind, key, sample } = stored;
                self.forget_foreign(kind, &key);
                self.bucket(&kind.bucket).put_raw(&key, bare_value(sample));
            }
        }
    }

    /// Returns whether the bucket entry of a sample is missing or has an invalid value.
    pub(crate) fn lacks_samples(&self, samples: &[Value]) -> bool {
        self.stored_samples(samples).iter().any(|stored| self.object_of(stored).is_none())
    }

    /// Returns the names of the samples whose bucket entries exist and are valid objects, for messages.
    pub(crate) fn existing_samples(&self, samples: &[Value]) -> Vec<String> {
        let stored = self.stored_samples(samples);
        stored.iter().filter_map(|stored| self.object_of(stored)).map(|object| label(&object)).collect()
    }

    /// Returns whether each sample in a bucket has a claim, the entry beside it in which the operator keeps the last valid object.
    pub(crate) fn has_claims(&self, samples: &[Value]) -> bool {
        self.stored_samples(samples).iter().all(|StoredSample { kind, key, .. }| self.has_claim(kind, key))
    }

    /// Purges the bucket entries of the objects that were created in this run and are neither samples nor being deleted. Keeps their
    /// claims, the entries of the operator beside them.
    fn purge_children(&self, samples: &[Value]) {
        for (kind, entry) in self.entries_since_base() {
            let Some(object) = kind.object(&entry.key, &entry.value) else { continue };
            let is_sample = samples.iter().any(|sample| is_same_object(sample, &object));
            if !is_sample && object["metadata"]["deletionTimestamp"].is_null() {
                self.bucket(&kind.bucket).purge_raw(&entry.key);
            }
        }
    }

    /// Returns the samples whose kinds are in buckets, each with its kind and key.
    fn stored_samples<'a>(&'a self, samples: &'a [Value]) -> Vec<StoredSample<'a>> {
        let stored = samples.iter().filter_map(|sample| {
            let kind = self.kind_of(sample)?;
            Some(StoredSample { kind, key: kind.key(sample), sample })
        });
        stored.collect()
    }

    /// Returns the object in the bucket entry of a sample; `None` if the entry is missing or its value is no object.
    fn object_of(&self, StoredSample { kind, key, .. }: &StoredSample<'_>) -> Option<Value> {
        kind.object(key, &self.entry(&kind.bucket, key)?.value)
    }
}

/// Returns an object, as the value of an entry, in the form in which a client read it before the program wrote its status and finalizers.
fn stale_value(mut object: Value) -> Vec<u8> {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["finalizers", "managedFields", "generation"] {
            metadata.remove(field);
        }
    }
    object.to_string().into_bytes()
}

/// Returns the value of a different object under the key of a sample: with the spec of the sample, and a UID that has the number.
fn replacement(sample: &Value, number: usize) -> Vec<u8> {
    let mut object = bare_object(sample);
    object["metadata"]["uid"] = format!("00000000-0000-4000-8000-{number:012}").into();
    object.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stale_value_has_no_status_and_no_finalizers() {
        let object = json!({
            "metadata": {"uid": "1", "finalizers": ["a"], "generation": 2, "labels": {"b": "c"}},
            "spec": {"d": 1}, "status": {"e": 1},
        });
        let stale: Value = serde_json::from_slice(&stale_value(object)).unwrap_or_default();
        assert_eq!(stale, json!({"metadata": {"uid": "1", "labels": {"b": "c"}}, "spec": {"d": 1}}));
    }

    #[test]
    fn a_replacement_has_another_uid() {
        let object: Value = serde_json::from_slice(&replacement(&json!({"spec": {"a": 1}}), 7)).unwrap_or_default();
        assert_eq!(object, json!({"metadata": {"uid": "00000000-0000-4000-8000-000000000007"}, "spec": {"a": 1}}));
    }
}
