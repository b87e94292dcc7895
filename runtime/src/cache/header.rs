//! `Header`: the metadata that controllers read on every event, parsed without the rest of the object.

use super::{
    ObjectKey, ResourceVersion, Uid,
    packed::{PackedList, PackedMap},
    text::{self, Text},
};
use crate::kind::Kind;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The prefix of the annotations in a [`Header`] by default.
pub const ANNOTATION_PREFIX: &str = "opgen.dev/";

/// The metadata of an object that a controller reads on every event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Header {
    /// Namespace and name.
    pub key: ObjectKey,
    /// The uid, which differs if an object is created again with the same name; empty if the source has none.
    pub uid: Uid,
    /// The version of the object.
    pub resource_version: ResourceVersion,
    /// The generation, which counts changes of the spec; 0 for kinds without generations.
    pub generation: i64,
    /// Whether `deletionTimestamp` is set.
    pub deleting: bool,
    /// `creationTimestamp`, if there is a valid one.
    pub created: Option<Timestamp>,
    /// All finalizers, with those of others.
    pub finalizers: PackedList,
    /// All labels.
    pub labels: PackedMap,
    /// The annotations with the requested prefixes.
    pub annotations: PackedMap,
    /// All owner references.
    pub owners: Arc<[OwnerReference]>,
}

/// One owner reference.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnerReference {
    /// The owner's uid.
    pub uid: Uid,
    /// Whether the owner is the controller of the object.
    pub controller: bool,
    texts: PackedList,
}

/// The reasons why a header could not be parsed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The JSON is not an object, or its metadata has another form.
    #[error("failed to read the metadata of an object")]
    Json(#[from] serde_json::Error),
    /// The object has no name.
    #[error("object has no `metadata.name`; a source must name every object")]
    Nameless,
}

impl Header {
    /// Parses the metadata of an object, with the annotations under [`ANNOTATION_PREFIX`].
    ///
    /// # Errors
    /// Fails if `json` is not an object with a `metadata.name`. A null counts as absent.
    pub fn parse(json: &[u8]) -> Result<Self, HeaderError> {
        Self::parse_keeping(json, &[ANNOTATION_PREFIX])
    }

    /// Parses the metadata of an object, with the annotations under any of `prefixes` (`""` keeps all).
    ///
    /// # Errors
    /// As [`Header::parse`].
    pub fn parse_keeping(json: &[u8], prefixes: &[&str]) -> Result<Self, HeaderError> {
        let HeaderObject { metadata } = serde_json::from_slice(json)?;
        if metadata.name.is_empty() {
            return Err(HeaderError::Nameless);
        }
        Ok(Self {
            key: ObjectKey::new(Some(&metadata.namespace), &metadata.name),
            uid: Uid::from(&*metadata.uid),
            resource_version: ResourceVersion::from(&*metadata.resource_version),
            generation: metadata.generation.unwrap_or_default(),
            deleting: !metadata.deletion_timestamp.is_empty(),
            created: metadata.creation_timestamp.parse().ok(),
            finalizers: text::list(metadata.finalizers)?,
            labels: text::map(metadata.labels, |_| true)?,
            annotations: text::map(metadata.annotations, |key| prefixes.iter().any(|prefix| key.starts_with(prefix)))?,
            owners: metadata
                .owner_references
                .filter(|owners| !owners.is_empty())
                .map_or_else(Arc::default, |owners| owners.iter().map(OwnerReference::from).collect()),
        })
    }

    /// Returns the owner reference with `controller: true`; `None` if there is none.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owners.iter().find(|owner| owner.controller)
    }

    /// Replaces finalizers, labels, annotations and owners that equal those of `other` by references to the allocations of `other`. This
    /// saves memory, since the versions of an object and the objects next to each other in a list have much in common.
    pub(super) fn share_allocations(&mut self, other: &Self) {
        self.finalizers.share_allocation(&other.finalizers);
        self.labels.share_allocation(&other.labels);
        self.annotations.share_allocation(&other.annotations);
        if self.owners == other.owners {
            self.owners.clone_from(&other.owners);
        }
    }

    /// Returns whether this state of an object is newer than the state `other` with the same key, and so replaces it in a store.
    pub(super) fn is_newer_than(&self, other: &Self) -> bool {
        // Versions that are not numbers have no order; the later event is newer.
        self.resource_version.partial_cmp(&other.resource_version).is_none_or(|order| order.is_gt())
    }
}

impl OwnerReference {
    /// Creates an owner reference for a source whose objects have none.
    pub fn new(api_version: &str, kind: &str, name: &str, uid: Uid, controller: bool) -> Self {
        Self { uid, controller, texts: [api_version, kind, name].into_iter().collect() }
    }

    /// Returns the group and the version of the owner, as `group/version` or `v1`.
    pub fn api_version(&self) -> &str {
        self.text(0)
    }

    /// Returns whether the owner is of a kind, in whatever version the reference names it.
    pub fn is_of_kind(&self, kind: &Kind) -> bool {
        kind.is_kind_of(self.api_version(), self.kind())
    }

    /// Returns the kind of the owner.
    pub fn kind(&self) -> &str {
        self.text(1)
    }

    /// Returns the name of the owner, which is in the object's namespace or cluster-scoped.
    pub fn name(&self) -> &str {
        self.text(2)
    }

    /// Returns the packed text at a position; empty if there is none.
    fn text(&self, position: usize) -> &str {
        self.texts.iter().nth(position).unwrap_or_default()
    }
}

/// The part of an object that the parser reads.
#[derive(Deserialize)]
struct HeaderObject<'a> {
    #[serde(borrow)]
    metadata: HeaderMetadata<'a>,
}

/// The fields of the metadata that the parser reads.
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

/// An owner reference in JSON.
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
    fn owner_references_are_parsed_and_the_controller_is_found() {
        let header = Header::parse(POD.as_bytes()).unwrap();
        let owner = header.controller().unwrap();
        assert_eq!((owner.api_version(), owner.kind(), owner.name()), ("apps/v1", "ReplicaSet", "web"));
        assert_eq!((header.owners.len(), header.owners[1].kind()), (2, "Node"));
    }

    #[test]
    fn only_annotations_with_a_requested_prefix_are_parsed() {
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
    fn an_object_without_a_name_is_an_error() {
        for json in [r#"{"metadata":{}}"#, r#"{"metadata":{"name":""}}"#] {
            assert!(matches!(Header::parse(json.as_bytes()), Err(HeaderError::Nameless)), "{json}");
        }
        for json in ["", "[]", "{}", r#"{"metadata":null}"#, r#"{"metadata":{"name":1}}"#] {
            assert!(matches!(Header::parse(json.as_bytes()), Err(HeaderError::Json(_))), "{json}");
        }
    }
}
