//! `Managers`: the field managers of an object and the fields that each owns, decoded from `managedFields` and encoded again.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Set;
use crate::{environment, kind::Kind, object};

/// The `operation` by which a manager got its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ManagerOperation {
    Apply,
    Update,
}

/// The identity of a manager: the properties that distinguish the entries of `managedFields`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Manager {
    pub(crate) name: String,
    pub(crate) operation: ManagerOperation,
    /// Empty for `Apply`, because a manager has one `Apply` entry whatever the version.
    pub(crate) version: String,
    pub(crate) subresource: String,
}

/// The fields that a manager owns, in one version of the schema (upstream: `fieldpath.VersionedSet`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionedSet {
    /// The version whose schema names the fields.
    pub(crate) api_version: String,
    pub(crate) time: Option<Timestamp>,
    pub(crate) set: Set,
}

/// All managers of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Managers {
    pub(crate) sets: BTreeMap<Manager, VersionedSet>,
}

impl ManagerOperation {
    /// Returns the operation as it is written in `managedFields`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

impl Manager {
    /// Returns the identity of a manager for a write through a subresource, or to the object itself if it is `None`.
    pub(crate) fn new(name: &str, operation: ManagerOperation, api_version: &str, subresource: Option<&str>) -> Self {
        let version = if operation == ManagerOperation::Apply { String::new() } else { api_version.to_owned() };
        let name = if name.is_empty() { "unknown" } else { name };
        Self { name: name.to_owned(), operation, version, subresource: subresource.unwrap_or_default().to_owned() }
    }

    /// Returns the JSON of the manager without its time, by which kube-apiserver sorts managers with the same time.
    pub(crate) fn sort_key(&self) -> String {
        let mut text = format!("{{\"manager\":{:?},\"operation\":{:?}", self.name, self.operation.as_str());
        for (key, value) in [("apiVersion", &self.version), ("subresource", &self.subresource)] {
            if !value.is_empty() {
                text.push_str(&format!(",{key:?}:{value:?}"));
            }
        }
        text + "}"
    }
}

impl VersionedSet {
    /// Returns a set of fields without a time.
    pub(crate) fn new(api_version: &str, set: Set) -> Self {
        Self { api_version: api_version.to_owned(), time: None, set }
    }

    /// Returns the time in seconds since the epoch; 0 if there is none.
    fn seconds(&self) -> i64 {
        self.time.map_or(0, Timestamp::as_second)
    }
}

impl Managers {
    /// Decodes the managers in `managedFields` of an object; `None` if an entry is invalid.
    pub(crate) fn of(object: &Value) -> Option<Self> {
        let entries = object::at(object, &["metadata", "managedFields"]);
        let entries = entries.map_or(Some(&[][..]), |entries| entries.as_array().map(Vec::as_slice))?;
        let sets = entries.iter().map(decode_entry).collect::<Option<_>>()?;
        Some(Self { sets })
    }

    /// Returns whether the object has no managers.
    pub(crate) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Writes the managers into an object; removes `managedFields` if there are none.
    pub(crate) fn write_to(&self, object: &mut Value) {
        let metadata = object::metadata_mut(object);
        if self.is_empty() {
            metadata.remove("managedFields");
        } else {
            metadata.insert("managedFields".into(), self.encode());
        }
    }

    /// Encodes the managers as `managedFields` in the order of kube-apiserver: `Apply` before `Update`, then by time, name,
    /// API version and subresource.
    fn encode(&self) -> Value {
        let mut entries: Vec<_> = self.sets.iter().collect();
        entries.sort_by(|(a, owned), (b, other)| {
            let order = a.operation.cmp(&b.operation).then(owned.seconds().cmp(&other.seconds()));
            let order = order.then_with(|| a.name.cmp(&b.name)).then_with(|| owned.api_version.cmp(&other.api_version));
            order.then_with(|| a.subresource.cmp(&b.subresource))
        });
        entries.into_iter().map(|(manager, owned)| encode_entry(manager, owned)).collect()
    }

    /// Removes the managers that own no fields.
    pub(crate) fn remove_empty(&mut self) {
        self.sets.retain(|_, owned| !owned.set.is_empty());
    }
}

/// Removes `managedFields` from an object.
pub(crate) fn clear(object: &mut Value) {
    object::metadata_mut(object).remove("managedFields");
}

/// Returns whether an object requests the server to reset `managedFields`: by a list with one empty entry, or by an
/// empty list. For a custom kind, an empty list has no effect.
pub(crate) fn requests_reset(kind: &Kind, object: &Value) -> bool {
    match object::at(object, &["metadata", "managedFields"]).and_then(Value::as_array).map(Vec::as_slice) {
        Some([]) => kind.custom().is_none(),
        Some([entry]) => entry.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// Decodes an entry of `managedFields`; `None` if its operation, API version, fields type or fields are invalid.
fn decode_entry(entry: &Value) -> Option<(Manager, VersionedSet)> {
    let operation = match entry["operation"].as_str() {
        Some("Apply") => ManagerOperation::Apply,
        Some("Update") => ManagerOperation::Update,
        _ => return None,
    };
    let api_version = entry["apiVersion"].as_str().filter(|version| !version.is_empty())?;
    if entry["fieldsType"] != "FieldsV1" {
        return None;
    }
    let set = match object::at(entry, &["fieldsV1"]) {
        Some(fields) => Set::decode(fields)?,
        None => Set::default(),
    };
    let time = entry["time"].as_str().and_then(|time| time.parse().ok());
    let version = if operation == ManagerOperation::Apply { "" } else { api_version };
    let manager = Manager {
        name: entry["manager"].as_str().unwrap_or_default().to_owned(),
        operation,
        version: version.to_owned(),
        subresource: entry["subresource"].as_str().unwrap_or_default().to_owned(),
    };
    Some((manager, VersionedSet { api_version: api_version.to_owned(), time, set }))
}

/// Encodes an entry of `managedFields`.
fn encode_entry(manager: &Manager, owned: &VersionedSet) -> Value {
    let mut entry = Map::new();
    let mut set = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
    set("apiVersion", owned.api_version.as_str().into());
    set("fieldsType", "FieldsV1".into());
    set("fieldsV1", owned.set.encode());
    if !manager.name.is_empty() {
        set("manager", manager.name.as_str().into());
    }
    set("operation", manager.operation.as_str().into());
    if !manager.subresource.is_empty() {
        set("subresource", manager.subresource.as_str().into());
    }
    if let Some(time) = owned.time {
        set("time", environment::seconds(time).into());
    }
    Value::Object(entry)
}
