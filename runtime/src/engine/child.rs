//! What is remembered of a child: its marks, its readiness, and which of its fields are ours.

use crate::{
    cache::{Entry, Header, HeaderError, OwnerReference, without_managed_fields},
    engine::{
        desired::{APPLIED, Desired, NODE},
        field_ownership::{Owned, first_lost, has_field},
        owner_mark::Mark,
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
    /// The node of the tree that made it.
    pub(crate) node: Box<str>,
    /// Digest of what was applied last.
    pub(crate) applied: Box<str>,
    pub(crate) readiness: Readiness,
    /// Tells two sets of fields apart.
    pub(crate) fields: u64,
    /// The whole object, where a node reads it.
    pub(crate) object: Option<Arc<[u8]>>,
    ownership: Mutex<Ownership>,
}

/// Who owns the fields is looked at once for each state of the object; then the list of fields can go.
#[derive(Debug)]
enum Ownership {
    Unread { ours: Box<str>, others: Box<[OfManager]> },
    Read { lost: Option<Lost> },
}

/// The fields of a manager.
type OfManager = (Box<str>, Box<str>);

/// A field that was applied and is not ours any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) path: Box<str>,
    /// The manager that has it now.
    pub(crate) manager: Option<Box<str>>,
}

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

/// The children of one owner and kind by their nodes, as the cache had them when the pass first asked.
pub(crate) type ByNode = HashMap<Box<str>, Vec<Arc<Entry<Child>>>>;

impl Child {
    /// Reads an object as the server sent it, and keeps the `whole` of it.
    ///
    /// # Errors
    /// If it isn't an object of the API.
    pub(crate) fn project(
        kind: &Kind,
        manager: &str,
        header: &Header,
        json: &[u8],
        whole: bool,
    ) -> serde_json::Result<Self> {
        let object: ProjectedChild<'_> = serde_json::from_slice(json)?;
        let is_ours = |entry: &&ManagedFields<'_>| entry.manager == manager && entry.operation == "Apply";
        let (ours, others): (Vec<_>, Vec<_>) =
            object.metadata.managed_fields.iter().filter(|entry| entry.subresource.is_empty()).partition(is_ours);
        let fields = ours.first().and_then(|entry| entry.fields_v1).map_or("{}", RawValue::get);
        let of_manager =
            |entry: &&ManagedFields<'_>| Some((entry.manager.as_ref().into(), entry.fields_v1?.get().into()));
        let others = others.iter().filter_map(of_manager).collect();
        let spec = object.spec.unwrap_or_default();
        let status = object.status.unwrap_or_default();
        Ok(Self {
            node: header.annotations.get(NODE).unwrap_or_default().into(),
            applied: header.annotations.get(APPLIED).unwrap_or_default().into(),
            readiness: readiness(kind, header.generation, &spec, &status),
            fields: hash(fields),
            object: whole.then(|| without_managed_fields(json)).transpose()?,
            ownership: Mutex::new(Ownership::Unread { ours: fields.into(), others }),
        })
    }

    /// The first field of `desired` that somebody else has taken or removed.
    pub(crate) fn lost(&self, desired: &Desired) -> Option<Lost> {
        let mut ownership = self.ownership.lock();
        if let Ownership::Unread { ours, others } = &*ownership {
            let read = |fields: &str| -> Value { serde_json::from_str(fields).unwrap_or_default() };
            let (ours, read_others) = (read(ours), others.iter().map(|(_, fields)| read(fields)).collect::<Vec<_>>());
            let owned = Owned { ours: &ours, others: read_others.iter().collect() };
            let lost = first_lost(&owned, &desired.object).map(|path| {
                let has = |fields: &Value| has_field(fields, &path);
                let holder = others.iter().zip(&read_others).find(|(_, fields)| has(fields));
                Lost { path: path.as_str().into(), manager: holder.map(|((manager, _), _)| manager.clone()) }
            });
            *ownership = Ownership::Read { lost };
        }
        match &*ownership {
            Ownership::Read { lost } => lost.clone(),
            Ownership::Unread { .. } => None,
        }
    }

    /// Whether it is known that all that was applied still is ours.
    pub(crate) fn is_known_complete(&self) -> bool {
        matches!(&*self.ownership.lock(), Ownership::Read { lost: None })
    }

    /// Whether a pass would see no difference between the two.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        self.node == other.node
            && self.applied == other.applied
            && self.readiness == other.readiness
            && self.fields == other.fields
            && self.object == other.object
    }
}

/// The header of a child; a mark of its owner counts as an owner reference.
///
/// # Errors
/// If it isn't an object of the API.
pub(crate) fn header_of(json: &[u8]) -> Result<Header, HeaderError> {
    let mut header = Header::parse(json)?;
    if let Some(mark) = Mark::of(&header) {
        let owner = OwnerReference::new("", mark.kind, &mark.key().to_string(), mark.uid(), true);
        header.owners = header.owners.iter().cloned().chain([owner]).collect();
    }
    Ok(header)
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
