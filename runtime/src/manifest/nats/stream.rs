//! Generates the NATS key-value buckets as `Stream` objects of NACK, the JetStream controller of NATS. The kind `KeyValue` of NACK can't
//! allow TTLs of messages, which the operator needs for the entries that keep copies of objects with finalizers.

use crate::{bucket::BucketDefinition, manifest::project::Project, text_hash::text_hash};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};

/// The longest time in which the server recognizes a message that is sent twice. It may not exceed the maximum age.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// The shortest TTL that the server takes for markers of expired keys.
const MIN_MARKER_TTL: Duration = Duration::from_secs(1);

/// How many bytes of the hash of a bucket's name are in the name of its object.
const HASH_BYTES: usize = 4;

/// Returns a `Stream` object of NACK for each bucket that the operator defines, sorted by the name of the bucket. Buckets of other
/// operators get none.
pub(super) fn documents(project: &Project) -> Vec<Value> {
    let buckets: BTreeMap<_, _> =
        project.defined_buckets().into_values().map(|bucket| (bucket.name.clone(), bucket)).collect();
    buckets.values().map(|bucket| document(project, bucket)).collect()
}

/// Returns the `Stream` object of a bucket: a stream with the settings of a NATS key-value bucket that also allows TTLs of messages.
fn document(project: &Project, bucket: &BucketDefinition) -> Value {
    let mut spec = json!({
        "allowDirect": true,
        "allowMsgTtl": true,
        "allowRollup": true,
        "denyDelete": true,
        "discard": "new",
        "maxMsgsPerSubject": bucket.history.clamp(1, 64),
        "name": format!("KV_{}", bucket.name),
        "replicas": bucket.replicas,
        "storage": bucket.storage.as_str(),
        "subjects": [format!("$KV.{}.>", bucket.name)],
    });
    if let Some(age) = bucket.max_age {
        let text = |age: Duration| match age.subsec_millis() {
            0 => format!("{}s", age.as_secs()),
            _ => format!("{}ms", age.as_millis()),
        };
        spec["maxAge"] = text(age).into();
        spec["duplicateWindow"] = text(age.min(DUPLICATE_WINDOW)).into();
        // The server stores a delete marker when a key reaches its maximum age, so that watches see the deletion at once.
        spec["subjectDeleteMarkerTtl"] = text(age.max(MIN_MARKER_TTL)).into();
    }
    json!({
        "apiVersion": "jetstream.nats.io/v1beta2",
        "kind": "Stream",
        "metadata": {"labels": project.labels(), "name": object_name(&bucket.name), "namespace": project.namespace},
        "spec": spec,
    })
}

/// Returns the Kubernetes name of a bucket's `Stream` object. The bucket's name may have upper case letters and underscores, which a
/// Kubernetes name can't have; a changed name ends with a hash of the bucket's name, so that the objects of two buckets differ.
fn object_name(bucket: &str) -> String {
    let name = bucket.to_ascii_lowercase().replace('_', "-");
    let name = name.trim_matches('-');
    match name {
        unchanged if unchanged == bucket => bucket.to_owned(),
        "" => format!("bucket-{}", text_hash([bucket], HASH_BYTES)),
        changed => format!("{changed}-{}", text_hash([bucket], HASH_BYTES)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_similar_names_have_objects_of_different_names() {
        assert_eq!(object_name("a-b"), "a-b");
        let names = ["a_b", "A-b", "-a-b", "__"].map(object_name);
        for (position, name) in names.iter().enumerate() {
            assert!(name != "a-b" && !names[..position].contains(name), "{names:?}");
        }
        assert!(names[3].starts_with("bucket-"), "{names:?}");
    }
}
