//! `Child`: the small part of a child object that the cache keeps, such as its readiness and the fields that the operator owns.

use crate::{
    cache::{Entry, Header, HeaderError, OwnerReference, without_managed_fields},
    engine::{
        applied_mark::{APPLIED_ANNOTATION, AppliedMark},
        desired::{Desired, NODE_ANNOTATION},
        field_ownership::{FieldSets, first_lost_path, has_field},
        owner_mark::OwnerMark,
    },
    kind::Kind,
    readiness::{Readiness, readiness},
};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use std::collections::HashMap;
use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

/// The projection of a child that the cache holds: some hundred bytes, whatever the size of the object.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) readiness: Readiness,
    /// Hash of the set of fields that the operator owns.
    pub(crate) fields: u64,
    /// The object as JSON, if a node reads objects of this kind.
    pub(crate) object: Option<Arc<[u8]>>,
    /// Whether it is a copy of a child, with the annotations of that child.
    is_copy: bool,
    /// Whether the operator last wrote the object by merge patch instead of server-side apply, see [`plain`](crate::engine::plain).
    /// Then all fields of its field manager count as applied.
    pub(crate) is_plain: bool,
    ownership: Mutex<FieldOwnership>,
}

impl Child {
    /// Returns the bytes of its texts and its object.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.object.as_ref().map_or(0, |object| object.len())
    }
}

/// Whether the operator still owns the fields it applied. The check runs once for each state of the object; then the sets of
/// fields are dropped.
#[derive(Debug)]
enum FieldOwnership {
    Unchecked(Box<UncheckedFields>),
    Checked { lost: Option<Box<LostField>> },
}

/// The sets of fields of the operator and of the other managers.
#[derive(Debug)]
struct UncheckedFields {
    own: Box<str>,
    others: Box<[ManagerFields]>,
}

/// The set of fields (`fieldsV1`) of one field manager, as JSON text.
#[derive(Debug)]
struct ManagerFields {
    manager: Box<str>,
    fields: Box<str>,
}

/// A field that the operator applied and does not own any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostField {
    pub(crate) path: Box<str>,
    /// The manager that owns the field now; `None` if the field was removed.
    pub(crate) manager: Option<Box<str>>,
}

/// The parts of a child from which its projection is computed.
#[derive(Deserialize)]
struct ProjectedChild<'a> {
    #[serde(borrow)]
    metadata: ProjectedMetadata<'a>,
    #[serde(default)]
    spec: Option<Value>,
    #[serde(default)]
    status: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProjectedMetadata<'a> {
    #[serde(borrow, default)]
    managed_fields: Vec<ManagedFields<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManagedFields<'a> {
    #[serde(borrow, default)]
    manager: Cow<'a, str>,
    #[serde(borrow, default)]
    operation: Cow<'a, str>,
    #[serde(borrow, default)]
    subresource: Cow<'a, str>,
    #[serde(borrow, default)]
    fields_v1: Option<&'a RawValue>,
}

/// The children of one owner and kind, by the path of their node.
pub(crate) type ChildrenByNode = HashMap<Box<str>, Vec<Arc<Entry<Child>>>>;

impl Child {
    /// Computes the small part of a child object that the cache keeps: its readiness, and the fields that the operator and other managers
    /// own. `with_object` keeps the JSON of the object as well. `manager` is the operator's field manager.
    ///
    /// # Errors
    /// If the JSON is not an object of the API.
    pub(crate) fn project(
        kind: &Kind,
        manager: &str,
        header: &Header,
        json: &[u8],
        with_object: bool,
    ) -> serde_json::Result<Self> {
        let object: ProjectedChild<'_> = serde_json::from_slice(json)?;
        let entries = || object.metadata.managed_fields.iter().filter(|entry| entry.subresource.is_empty());
        let is_apply = |entry: &&ManagedFields<'_>| entry.manager == manager && entry.operation == "Apply";
        let paths_hash = header.annotations.get(APPLIED_ANNOTATION).and_then(AppliedMark::paths_hash);
        // A write by apply leaves an `Apply` entry of the operator; a merge patch leaves only an `Update` entry.
        let is_plain = paths_hash.is_some() && !entries().any(|entry| is_apply(&entry));
        let is_own = |entry: &&ManagedFields<'_>| is_apply(entry) || is_plain && entry.manager == manager;
        let (own_entries, other_entries): (Vec<_>, Vec<_>) = entries().partition(is_own);
        let own = own_entries.first().and_then(|entry| entry.fields_v1).map_or("{}", RawValue::get);
        let manager_fields = |entry: &&ManagedFields<'_>| {
            Some(ManagerFields { manager: entry.manager.as_ref().into(), fields: entry.fields_v1?.get().into() })
        };
        let others = other_entries.iter().filter_map(manager_fields).collect();
        let spec = object.spec.unwrap_or_default();
        let status = object.status.unwrap_or_default();
        Ok(Self {
            readiness: readiness(kind, header.generation, &spec, &status),
            fields: hash(own),
            object: with_object.then(|| without_managed_fields(json)).transpose()?,
            is_copy: AppliedMark::is_copy(header),
            is_plain,
            ownership: Mutex::new(FieldOwnership::Unchecked(UncheckedFields { own: own.into(), others }.into())),
        })
    }

    /// Returns the first field of `desired` that the operator no longer owns, since another client has changed or removed it; `None` if the
    /// operator owns all of them. The first call compares the fields, stores the result, and drops the sets of fields to save memory. Later
    /// calls return this result, whatever `desired` is.
    pub(crate) fn first_lost_field(&self, desired: &Desired) -> Option<LostField> {
        let mut ownership = self.ownership.lock();
        if let FieldOwnership::Unchecked(unchecked) = &*ownership {
            let UncheckedFields { own, others } = &**unchecked;
            let parse = |fields: &str| -> Value { serde_json::from_str(fields).unwrap_or_default() };
            let own_fields = parse(own);
            let other_sets = others.iter().map(|other| parse(&other.fields)).collect::<Vec<_>>();
            let sets = FieldSets { own: &own_fields, is_plain: self.is_plain, others: other_sets.iter().collect() };
            let lost = first_lost_path(&sets, &desired.object).map(|path| {
                let has_path = |fields: &Value| has_field(fields, &path);
                let new_owner = others.iter().zip(&other_sets).find(|(_, fields)| has_path(fields));
                Box::new(LostField {
                    path: path.as_str().into(),
                    manager: new_owner.map(|(other, _)| other.manager.clone()),
                })
            });
            *ownership = FieldOwnership::Checked { lost };
        }
        match &*ownership {
            FieldOwnership::Checked { lost } => lost.as_deref().cloned(),
            FieldOwnership::Unchecked(_) => None,
        }
    }

    /// Returns whether a check has shown that the operator still owns all fields it applied.
    pub(crate) fn owns_all_fields(&self) -> bool {
        matches!(&*self.ownership.lock(), FieldOwnership::Checked { lost: None })
    }
}

impl Entry<Child> {
    /// Returns the path of the tree node that applied the object; empty if its annotation is absent, or for a copy of a child.
    pub(crate) fn node(&self) -> &str {
        self.annotation(NODE_ANNOTATION)
    }

    /// Returns the digest of the last applied state; empty if the operator has never applied the object.
    pub(crate) fn applied_digest(&self) -> &str {
        self.annotation(APPLIED_ANNOTATION)
    }

    /// Returns an annotation of the operator; empty if it is absent, or was written for another object.
    fn annotation(&self, name: &str) -> &str {
        self.header.annotations.get(name).filter(|_| !self.value.is_copy).unwrap_or_default()
    }

    /// Returns whether two states of a child are equal in all that a pass reads, so that the change between them triggers no pass.
    pub(crate) fn has_same_state(&self, other: &Self) -> bool {
        self.node() == other.node()
            && self.applied_digest() == other.applied_digest()
            && self.value.readiness == other.value.readiness
            && self.value.fields == other.value.fields
            && self.value.object == other.value.object
    }
}

/// Returns the header of a child, with an owner that only the annotations of the child name added to its owner references: the owner in
/// an owner mark, and an owner whose reference another client has removed (see [`is_removed_owner`]).
///
/// # Errors
/// If the JSON is not an object of the API.
pub(crate) fn child_header(json: &[u8]) -> Result<Header, HeaderError> {
    let mut header = Header::parse(json)?;
    let mut owners = header.owners.to_vec();
    if let Some(mark) = OwnerMark::of(&header) {
        owners.push(OwnerReference::new("", mark.kind, &mark.key().to_string(), mark.uid(), true));
    }
    if let Some(uid) = AppliedMark::owner_of(&header)
        && !owners.iter().any(|owner| owner.uid == uid)
    {
        // `is_removed_owner` recognizes this reference by its empty kind.
        owners.push(OwnerReference::new("", "", "", uid, false));
    }
    if owners.len() > header.owners.len() {
        header.owners = owners.into();
    }
    Ok(header)
}

/// Returns whether [`child_header`] has added this owner by the annotation with the digest: the object no longer has a reference to it.
pub(crate) fn is_removed_owner(owner: &OwnerReference) -> bool {
    owner.kind().is_empty()
}

/// Returns a hash of a text that is only valid within this process.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
