//! What is asked of an object all the time, read from its JSON without decoding the rest.

use super::{
    ObjectKey, ResourceVersion, Uid,
    packed::{PackedList, PackedMap},
    text::{self, Text},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Annotations kept in a [`Header`] unless other prefixes are asked for.
pub const ANNOTATION_PREFIX: &str = "opgen.dev/";

/// The metadata of an object that a controller looks at on every event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Header {
    /// Namespace and name.
    pub key: ObjectKey,
    /// Identity of this incarnation; empty where the source has none.
    pub uid: Uid,
    /// Version of the object.
    pub resource_version: ResourceVersion,
    /// Counts changes of the wanted state; 0 for kinds that don't count.
    pub generation: i64,
    /// Whether `deletionTimestamp` is set.
    pub deleting: bool,
    /// `creationTimestamp`, if there is a readable one.
    pub created: Option<Timestamp>,
    /// All finalizers, also foreign ones.
    pub finalizers: PackedList,
    /// All labels.
    pub labels: PackedMap,
    /// The annotations under the prefixes that were asked for.
    pub annotations: PackedMap,
    /// All owner references.
    pub owners: Arc<[OwnerReference]>,
}

/// One owner reference.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnerReference {
    /// The owner's uid.
    pub uid: Uid,
    /// Whether the owner is the one controller of the object.
    pub controller: bool,
    texts: PackedList,
}

/// Why a header could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// Not the JSON of an object, or its metadata has another form.
    #[error("failed to read the metadata of an object")]
    Json(#[from] serde_json::Error),
    /// Nothing to file the object under.
    #[error("object has no `metadata.name`; a source must name every object")]
    Nameless,
}

impl Header {
    /// Reads the metadata of an object, with the annotations under [`ANNOTATION_PREFIX`].
    ///
    /// # Errors
    /// When `json` is not an object with a `metadata.name`. A null is read as absent.
    pub fn parse(json: &[u8]) -> Result<Self, HeaderError> {
        Self::parse_keeping(json, &[ANNOTATION_PREFIX])
    }

    /// Reads the metadata of an object, with the annotations under any of `prefixes` (`""` keeps all).
    ///
    /// # Errors
    /// As [`Header::parse`].
    pub fn parse_keeping(json: &[u8], prefixes: &[&str]) -> Result<Self, HeaderError> {
        let HeaderObject { metadata: meta } = serde_json::from_slice(json)?;
        if meta.name.is_empty() {
            return Err(HeaderError::Nameless);
        }
        Ok(Self {
            key: ObjectKey::new(Some(&meta.namespace), &meta.name),
            uid: Uid::from(&*meta.uid),
            resource_version: ResourceVersion::from(&*meta.resource_version),
            generation: meta.generation.unwrap_or_default(),
            deleting: !meta.deletion_timestamp.is_empty(),
            created: meta.creation_timestamp.parse().ok(),
            finalizers: text::list(meta.finalizers)?,
            labels: text::map(meta.labels, |_| true)?,
            annotations: text::map(meta.annotations, |key| prefixes.iter().any(|prefix| key.starts_with(prefix)))?,
            owners: meta
                .owner_references
                .filter(|owners| !owners.is_empty())
                .map_or_else(Arc::default, |owners| owners.iter().map(OwnerReference::from).collect()),
        })
    }

    /// The owner reference marked as the controller.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owners.iter().find(|owner| owner.controller)
    }

    /// Takes the allocations of `other` for what both say: siblings and versions of an object say much the same.
    pub(super) fn share(&mut self, other: &Self) {
        self.finalizers.share(&other.finalizers);
        self.labels.share(&other.labels);
        self.annotations.share(&other.annotations);
        if self.owners == other.owners {
            self.owners.clone_from(&other.owners);
        }
    }

    /// Whether this state replaces `other`, which is of the same key.
    pub(super) fn is_newer_than(&self, other: &Self) -> bool {
        // Text versions tell nothing about order: what arrives later is newer.
        self.resource_version.partial_cmp(&other.resource_version).is_none_or(|order| order.is_gt())
    }
}

impl OwnerReference {
    /// An owner as a source knows it that has no owner references.
    pub fn new(api_version: &str, kind: &str, name: &str, uid: Uid, controller: bool) -> Self {
        Self { uid, controller, texts: [api_version, kind, name].into_iter().collect() }
    }

    /// Group and version of the owner, as `group/version` or `v1`.
    pub fn api_version(&self) -> &str {
        self.text(0)
    }

    /// Kind of the owner.
    pub fn kind(&self) -> &str {
        self.text(1)
    }

    /// Name of the owner; it lives in the object's namespace or in none.
    pub fn name(&self) -> &str {
        self.text(2)
    }

    fn text(&self, position: usize) -> &str {
        self.texts.iter().nth(position).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct HeaderObject<'a> {
    #[serde(borrow)]
    metadata: HeaderMetadata<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct HeaderMetadata<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    #[serde(borrow)]
    resource_version: Text<'a>,
    generation: Option<i64>,
    #[serde(borrow)]
    creation_timestamp: Text<'a>,
    #[serde(borrow)]
    deletion_timestamp: Text<'a>,
    #[serde(borrow)]
    finalizers: Option<&'a RawValue>,
    #[serde(borrow)]
    labels: Option<&'a RawValue>,
    #[serde(borrow)]
    annotations: Option<&'a RawValue>,
    #[serde(borrow)]
    owner_references: Option<Vec<JsonOwnerReference<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct JsonOwnerReference<'a> {
    #[serde(borrow)]
    api_version: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    controller: Option<bool>,
}

impl From<&JsonOwnerReference<'_>> for OwnerReference {
    fn from(reference: &JsonOwnerReference<'_>) -> Self {
        let JsonOwnerReference { api_version, kind, name, uid, controller } = reference;
        Self::new(api_version, kind, name, Uid::from(&**uid), controller.unwrap_or_default())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Header, HeaderError};
    use crate::cache::{ObjectKey, ResourceVersion};

    const POD: &str = r#"{
        "apiVersion": "v1", "kind": "Pod", "spec": {"metadata": {"name": "not this one"}},
        "metadata": {
            "name": "web-1", "namespace": "shop", "uid": "0a1b2c3d-0e4f-5061-7283-94a5b6c7d8e9",
            "resourceVersion": "4711", "generation": 3, "creationTimestamp": "2026-03-01T12:00:00Z",
            "deletionTimestamp": "2026-03-02T12:00:00Z", "finalizers": ["example.com/a", "opgen.dev/b"],
            "labels": {"app": "web", "tier": "\u00fc\"x"},
            "annotations": {"opgen.dev/hash": "abc", "kubectl.kubernetes.io/last-applied": "{\"a\":1}"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs-1", "controller": true},
                {"apiVersion": "v1", "kind": "Node", "name": "node-1", "uid": "node-uid"}
            ],
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:metadata": {}}}]
        }
    }"#;

    #[test]
    fn metadata_is_read_and_the_rest_is_not() {
        let header = Header::parse(POD.as_bytes()).unwrap();
        assert_eq!(header.key, ObjectKey::namespaced("shop", "web-1"));
        assert_eq!(header.uid.to_string(), "0a1b2c3d-0e4f-5061-7283-94a5b6c7d8e9");
        assert_eq!((header.resource_version.number(), header.generation, header.deleting), (Some(4711), 3, true));
        assert_eq!(header.created.unwrap().to_string(), "2026-03-01T12:00:00Z");
        assert!(header.finalizers.iter().eq(["example.com/a", "opgen.dev/b"]));
        assert!(header.labels.iter().eq([("app", "web"), ("tier", "ü\"x")]));
    }

    #[test]
    fn owners_are_told_apart() {
        let header = Header::parse(POD.as_bytes()).unwrap();
        let owner = header.controller().unwrap();
        assert_eq!((owner.api_version(), owner.kind(), owner.name()), ("apps/v1", "ReplicaSet", "web"));
        assert_eq!((header.owners.len(), header.owners[1].kind()), (2, "Node"));
    }

    #[test]
    fn only_annotations_that_were_asked_for_are_kept() {
        let keys = |prefixes: &[&str]| {
            let header = Header::parse_keeping(POD.as_bytes(), prefixes).unwrap();
            header.annotations.iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(keys(&["opgen.dev/"]), ["opgen.dev/hash"]);
        assert_eq!(keys(&[]), [""; 0]);
        assert_eq!(keys(&["other/", "kubectl"]), ["kubectl.kubernetes.io/last-applied"]);
        assert_eq!(keys(&[""]).len(), 2);
    }

    #[test]
    fn null_is_read_as_absent() {
        let json = br#"{"metadata":{"name":"a","namespace":null,"uid":null,"resourceVersion":null,"generation":null,
            "creationTimestamp":null,"deletionTimestamp":null,"finalizers":null,"labels":null,"annotations":null,
            "ownerReferences":null}}"#;
        let header = Header::parse(json).unwrap();
        assert_eq!(header, Header::parse(br#"{"metadata":{"name":"a"}}"#).unwrap());
        assert_eq!((header.deleting, header.created), (false, None));
        assert_eq!(header.resource_version, ResourceVersion::from(""));
    }

    #[test]
    fn what_has_no_name_is_refused() {
        for json in [r#"{"metadata":{}}"#, r#"{"metadata":{"name":""}}"#] {
            assert!(matches!(Header::parse(json.as_bytes()), Err(HeaderError::Nameless)), "{json}");
        }
        for json in ["", "[]", "{}", r#"{"metadata":null}"#, r#"{"metadata":{"name":1}}"#] {
            assert!(matches!(Header::parse(json.as_bytes()), Err(HeaderError::Json(_))), "{json}");
        }
    }
}
