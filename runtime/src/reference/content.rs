//! `ContentDigest`: shows whether the content of a referenced object has changed. It is a hash if the object has no `metadata.generation`.

use crate::{cache::ANNOTATION_PREFIX, engine::applied_mark::APPLIED_ANNOTATION, kind::Kind};
use serde_json::{Map, Value};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The fields in the spec of a Lease or a LeaseCandidate that their clients write periodically.
const HEARTBEATS: [&str; 2] = ["renewTime", "pingTime"];

/// Returns whether objects of the kind have a field that a client writes periodically to show that it is alive. The metadata does not
/// tell such a write from another one, so the content has to be watched.
pub(crate) fn has_heartbeats(kind: &Kind) -> bool {
    kind.group == "coordination.k8s.io"
}

/// Hashes of a referenced object, which are computed when the watch delivers it.
///
/// The content is everything but the status and the metadata, plus the labels and the annotations of users. So neither a write of
/// the status nor the reference of another object changes the content. The renewal of a Lease changes it neither: a change of the
/// holder does, and that a Lease has expired follows from the time alone, and from no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentDigest {
    /// The object has a generation: the API server counts the changes of its spec.
    Generation,
    /// The hash of the content.
    Object(u64),
    /// The operator watches only the metadata, in which the content itself is missing.
    Metadata {
        /// The hash of the labels, the annotations, and the entries of `managedFields` for the content.
        content: u64,
        /// The hash of the finalizers, the annotations of operators, and the entries of `managedFields` for the status.
        other: u64,
    },
}

impl ContentDigest {
    /// Computes the digest of an object from its JSON. `generation` is its `metadata.generation`, or 0 if the kind has none. With
    /// `metadata_only`, the operator watches only the metadata, and the digest ignores all other fields.
    ///
    /// # Errors
    /// Fails if the JSON is invalid.
    pub(crate) fn compute(kind: &Kind, generation: i64, json: &[u8], metadata_only: bool) -> serde_json::Result<Self> {
        // The generation counts the changes of the spec, so callers compare it, and no hash is needed.
        if generation > 0 {
            return Ok(Self::Generation);
        }
        let mut object: Map<String, Value> = serde_json::from_slice(json)?;
        let metadata = object.remove("metadata").unwrap_or_default();
        if metadata_only {
            return Ok(Self::of_metadata(&metadata));
        }
        // The items of a list have no `apiVersion` and no `kind`.
        object.retain(|field, _| !matches!(field.as_str(), "apiVersion" | "kind" | "status"));
        if has_heartbeats(kind)
            && let Some(Value::Object(spec)) = object.get_mut("spec")
        {
            spec.retain(|field, _| !HEARTBEATS.contains(&field.as_str()));
        }
        let mut hasher = DefaultHasher::new();
        let (_, user_annotations) = split_annotations(&metadata);
        (object, &metadata["labels"], user_annotations).hash(&mut hasher);
        Ok(Self::Object(hasher.finish()))
    }

    /// Computes both hashes of [`ContentDigest::Metadata`]: `content` changes when a client writes labels, annotations of users, or fields
    /// outside the metadata except the status; `other` changes when a client writes finalizers, annotations of operators, or the status.
    /// The entries of `managedFields`, with their times, stand for the fields outside the metadata.
    fn of_metadata(metadata: &Value) -> Self {
        let (mut content, mut other) = (DefaultHasher::new(), DefaultHasher::new());
        let (operator_annotations, user_annotations) = split_annotations(metadata);
        // This annotation of opgen is a hash of the content that an operator has applied.
        (&metadata["labels"], user_annotations, operator_annotations.get(APPLIED_ANNOTATION)).hash(&mut content);
        (&metadata["finalizers"], operator_annotations).hash(&mut other);
        let entries = metadata["managedFields"].as_array().into_iter().flatten();
        let (of_status, others): (Vec<_>, Vec<_>) = entries.partition(|entry| entry["subresource"] == "status");
        of_status.hash(&mut other);
        // The hashes are sorted because the order of the entries depends on their times.
        let mut hashes: Vec<_> = others.into_iter().filter_map(content_entry).map(|entry| hash_of(&entry)).collect();
        hashes.sort_unstable();
        hashes.hash(&mut content);
        Self::Metadata { content: content.finish(), other: other.finish() }
    }

    /// Compares the digests of an object before a write (`self`) and `after` it. Returns whether the content has not changed.
    pub(crate) fn is_unchanged_by(&self, after: &Self) -> bool {
        match (self, after) {
            // Each write changes a field. If neither hash differs, the field is outside the metadata, so the content has changed.
            (Self::Metadata { content, other }, Self::Metadata { content: content_after, other: other_after }) => {
                content == content_after && other != other_after
            }
            _ => self == after,
        }
    }
}

/// Returns the annotations of an object in two maps: those that operators set (`opgen.dev/…`), and those that users set.
fn split_annotations(metadata: &Value) -> (Map<String, Value>, Map<String, Value>) {
    let annotations = metadata["annotations"].as_object().cloned().unwrap_or_default();
    annotations.into_iter().partition(|(name, _)| name.starts_with(ANNOTATION_PREFIX))
}

/// Returns a copy of an entry of `managedFields` without finalizers and annotations of operators; `None` if it has no other fields. The
/// copy has no time if the entry has finalizers, because each write of a finalizer changes this time.
fn content_entry(entry: &Value) -> Option<Value> {
    let mut entry = entry.clone();
    let fields = entry.get_mut("fieldsV1")?.as_object_mut()?;
    let mut has_finalizers = false;
    if let Some(metadata) = fields.get_mut("f:metadata").and_then(Value::as_object_mut) {
        has_finalizers = metadata.remove("f:finalizers").is_some();
        if let Some(annotations) = metadata.get_mut("f:annotations").and_then(Value::as_object_mut) {
            let is_of_operator = |name: &str| name.starts_with(ANNOTATION_PREFIX);
            // The field `.` stands for the map of annotations itself.
            annotations.retain(|field, _| field != "." && !field.strip_prefix("f:").is_some_and(is_of_operator));
            if annotations.is_empty() {
                metadata.remove("f:annotations");
            }
        }
        if metadata.is_empty() {
            fields.remove("f:metadata");
        }
    }
    if fields.is_empty() {
        return None;
    }
    if has_finalizers {
        entry.as_object_mut()?.remove("time");
    }
    Some(entry)
}

/// Returns the hash of a JSON value, which is stable within the process.
fn hash_of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    const REFERENCE: &str = "desks.live.example.com/reference_shop_a";

    /// An object of a kind without generations, as a watch delivers it.
    fn object() -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"net": "blue"}, "status": {"phase": "Active"},
            "metadata": {
                "name": "a", "namespace": "shop", "uid": "one", "resourceVersion": "7", "labels": {"app": "web"},
                "annotations": {"example.com/a": "1", "opgen.dev/node": "top"},
                "managedFields": [entry("kubectl", "Update", 1, json!({"f:data": {"f:net": {}}}))],
            },
        })
    }

    /// Returns an entry of `managedFields`, written at the given second.
    fn entry(manager: &str, operation: &str, second: u32, fields: Value) -> Value {
        let time = format!("2026-03-01T12:00:0{second}Z");
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "time": time, "fieldsV1": fields})
    }

    fn finalizers_entry(second: u32) -> Value {
        entry("live", "Update", second, json!({"f:metadata": {"f:finalizers": {".": {}, "v:\"b\"": {}}}}))
    }

    fn digest(object: &Value, metadata_only: bool) -> ContentDigest {
        ContentDigest::compute(&kind_of::<ConfigMap>(), 0, object.to_string().as_bytes(), metadata_only).unwrap()
    }

    /// Applies `writes`, each the JSON pointer of a field and its new value, to an object. Returns whether its digest shows no change
    /// of the content.
    fn is_unchanged(metadata_only: bool, writes: &[(&str, Value)]) -> bool {
        let (before, mut after) = (object(), object());
        for (path, value) in writes {
            let (parent, field) = path.rsplit_once('/').unwrap();
            after.pointer_mut(parent).unwrap()[field] = value.clone();
        }
        digest(&before, metadata_only).is_unchanged_by(&digest(&after, metadata_only))
    }

    #[test]
    fn the_content_of_an_object_is_neither_its_status_nor_what_operators_and_the_server_write() {
        // Writes that leave the content unchanged.
        for (path, value) in [
            ("/status", json!({"phase": "Terminating"})),
            ("/apiVersion", Value::Null),
            ("/metadata/resourceVersion", json!("8")),
            ("/metadata/managedFields", json!([])),
            ("/metadata/finalizers", json!([REFERENCE])),
            ("/metadata/annotations", json!({"example.com/a": "1", "opgen.dev/node": "base"})),
        ] {
            assert!(is_unchanged(false, &[(path, value)]), "{path}");
        }
        // Writes that change the content.
        for (path, value) in [
            ("/data", json!({"net": "red"})),
            ("/immutable", json!(true)),
            ("/metadata/labels", json!({})),
            ("/metadata/annotations", json!({"example.com/a": "2", "opgen.dev/node": "top"})),
        ] {
            assert!(!is_unchanged(false, &[(path, value)]), "{path}");
        }
    }

    #[test]
    fn the_first_annotation_of_an_object_does_not_change_the_content_if_an_operator_sets_it() {
        let mut before = object();
        before["metadata"]["annotations"] = Value::Null;
        let mut after = before.clone();
        after["metadata"]["annotations"] = json!({"opgen.dev/node": "top"});
        assert_eq!(digest(&before, false), digest(&after, false));
    }

    #[test]
    fn an_object_with_a_generation_needs_no_hash() {
        let digest = ContentDigest::compute(&kind_of::<ConfigMap>(), 3, b"{}", false).unwrap();
        assert_eq!(digest, ContentDigest::Generation);
        assert!(digest.is_unchanged_by(&digest));
    }

    /// The new resourceVersion shows a write, but no field of the metadata shows what the write changed.
    #[test]
    fn a_write_that_the_metadata_does_not_show_has_changed_the_content() {
        assert!(!is_unchanged(true, &[("/metadata/resourceVersion", json!("8"))]));
    }

    /// Each of the `writes` changes `managedFields` together with another field, as the API server does.
    #[test]
    fn metadata_shows_that_a_write_changed_only_finalizers_operator_annotations_or_the_status() {
        let data = || object()["metadata"]["managedFields"][0].clone();
        let mut status = entry("kube-controller-manager", "Update", 2, json!({"f:status": {"f:phase": {}}}));
        status["subresource"] = json!("status");
        let operator_annotations =
            entry("live", "Apply", 2, json!({"f:metadata": {"f:annotations": {"f:opgen.dev/node": {}}}}));
        for writes in [
            [
                ("/metadata/finalizers", json!([REFERENCE])),
                ("/metadata/managedFields", json!([data(), finalizers_entry(2)])),
            ],
            [
                ("/metadata/annotations", json!({"example.com/a": "1", "opgen.dev/node": "base"})),
                ("/metadata/managedFields", json!([operator_annotations, data()])),
            ],
            [("/metadata/resourceVersion", json!("8")), ("/metadata/managedFields", json!([data(), status]))],
        ] {
            assert!(is_unchanged(true, &writes), "{writes:?}");
        }
    }

    /// Each write adds a finalizer and changes the content at the same time.
    #[test]
    fn metadata_shows_a_change_of_the_content_also_with_a_finalizer() {
        let later = entry("kubectl", "Update", 2, json!({"f:data": {"f:net": {}}}));
        for (path, value) in [
            ("/metadata/managedFields", json!([finalizers_entry(2), later])),
            ("/metadata/labels", json!({"app": "shop"})),
            ("/metadata/annotations", json!({"example.com/a": "1", "opgen.dev/applied": "0f"})),
        ] {
            assert!(!is_unchanged(true, &[("/metadata/finalizers", json!([REFERENCE])), (path, value)]), "{path}");
        }
    }

    /// One field manager writes the data and the finalizers, so that one entry of `managedFields` contains both.
    #[test]
    fn finalizers_of_the_manager_of_the_content_change_no_content() {
        let fields = |finalizers: Value| json!({"f:data": {"f:net": {}}, "f:metadata": {"f:finalizers": finalizers}});
        let digest_with = |finalizers: &[&str], second, fields| {
            let mut object = object();
            object["metadata"]["finalizers"] = json!(finalizers);
            object["metadata"]["managedFields"] = json!([entry("live", "Update", second, fields)]);
            digest(&object, true)
        };
        let before = digest_with(&[REFERENCE], 1, fields(json!({".": {}, "v:\"a\"": {}})));
        let with_other = digest_with(&[REFERENCE, "other"], 2, fields(json!({".": {}, "v:\"a\"": {}, "v:\"b\"": {}})));
        assert!(before.is_unchanged_by(&with_other));
        let edited = digest_with(&[REFERENCE], 3, fields(json!({".": {}, "v:\"a\"": {}})));
        assert!(!before.is_unchanged_by(&edited));
    }
}
