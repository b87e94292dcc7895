//! What is asked of an object all the time, read from its JSON without decoding the rest.

use super::{
    ObjectKey, ResourceVersion, Uid,
    packed::{PackedList, PackedMap},
    text::{self, Text},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Annotations kept in a [`Header`] unless other prefixes are asked for.
pub const ANNOTATION_PREFIX: &str = "opgen.dev/";

/// The metadata of an object that a controller looks at on every event.
#[derive(Clone, Debug, PartialEq)]
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
    pub owners: Box<[Owner]>,
}

/// One owner reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Owner {
    /// The owner's uid.
    pub uid: Uid,
    /// Whether the owner is the one controller of the object.
    pub controller: bool,
    texts: PackedList,
}

/// Why a header could not be read.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// Not the JSON of an object, or its metadata has another form.
    #[error("failed to read the metadata of an object")]
    Json(#[from] serde_json::Error),
    /// Nothing to file the object under.
    #[error("object has no `metadata.name`")]
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
        let Object { metadata: meta } = serde_json::from_slice(json)?;
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
            owners: meta.owner_references.unwrap_or_default().iter().map(Owner::from).collect(),
        })
    }

    /// The owner reference marked as the controller.
    pub fn controller(&self) -> Option<&Owner> {
        self.owners.iter().find(|owner| owner.controller)
    }

    /// Whether this state replaces `other`, which is of the same key.
    pub(super) fn is_newer_than(&self, other: &Self) -> bool {
        // Text versions tell nothing about order: what arrives later is newer.
        self.resource_version.partial_cmp(&other.resource_version).is_none_or(|order| order.is_gt())
    }
}

impl Owner {
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
struct Object<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Metadata<'a> {
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
    owner_references: Option<Vec<OwnerReference<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct OwnerReference<'a> {
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

impl From<&OwnerReference<'_>> for Owner {
    fn from(reference: &OwnerReference<'_>) -> Self {
        let OwnerReference { api_version, kind, name, uid, controller } = reference;
        Self::new(api_version, kind, name, Uid::from(&**uid), controller.unwrap_or_default())
    }
}
