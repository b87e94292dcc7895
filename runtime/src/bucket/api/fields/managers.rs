//! `FieldManagers`: the entries of `metadata.managedFields`, with the fields that each manager owns.

use super::field_set::FieldSet;
use crate::bucket::api::object::{at, is_equal_ignoring, metadata_mut, set, text};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The operation of an apply in an entry.
pub(super) const APPLY: &str = "Apply";
/// The operation of all other writes in an entry.
pub(super) const UPDATE: &str = "Update";

/// The maximum number of entries of updates. The oldest are merged.
const MAX_UPDATES: usize = 10;
/// The manager of merged entries.
const ANCIENT: &str = "ancient-changes";

/// The key of an entry: an object has one entry for each combination of these fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ManagerEntry {
    pub(super) operation: String,
    pub(super) name: String,
    /// Empty for an apply: a manager has one entry for all versions.
    pub(super) version: String,
    pub(super) subresource: String,
}

/// The fields that a manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnedFields {
    pub(super) api_version: String,
    /// The time of the last write that changed them; empty if it is not known.
    pub(super) time: String,
    pub(super) set: FieldSet,
}

/// All entries of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldManagers {
    pub(super) entries: BTreeMap<ManagerEntry, OwnedFields>,
}

impl ManagerEntry {
    /// Returns the key of the entry of a manager for an operation on the object or on a subresource.
    pub(super) fn new(name: &str, operation: &str, api_version: &str, subresource: &str) -> Self {
        let version = if operation == APPLY { "" } else { api_version };
        let [operation, name, version, subresource] = [operation, name, version, subresource].map(str::to_owned);
        Self { operation, name, version, subresource }
    }

    /// Decodes an entry of `managedFields`: its key, and the fields that the manager owns. `None` if the entry is invalid.
    fn decode(entry: &Value) -> Option<(Self, OwnedFields)> {
        let field = |name: &str| text(entry, &[name]);
        let (operation, api_version) = (field("operation"), field("apiVersion"));
        if !matches!(operation, APPLY | UPDATE) || api_version.is_empty() || field("fieldsType") != "FieldsV1" {
            return None;
        }
        let set = match at(entry, &["fieldsV1"]) {
            Some(fields) => FieldSet::decode(fields)?,
            None => FieldSet::default(),
        };
        let manager = Self::new(field("manager"), operation, api_version, field("subresource"));
        Some((manager, OwnedFields { api_version: api_version.to_owned(), time: field("time").to_owned(), set }))
    }

    /// Encodes the manager and the fields that it owns as an entry of `managedFields`.
    fn encode(&self, owned: &OwnedFields) -> Value {
        let mut entry = Map::new();
        for (name, value) in [
            ("manager", &self.name),
            ("operation", &self.operation),
            ("apiVersion", &owned.api_version),
            ("subresource", &self.subresource),
            ("time", &owned.time),
        ] {
            if !value.is_empty() {
                entry.insert(name.to_owned(), value.as_str().into());
            }
        }
        entry.insert("fieldsType".to_owned(), "FieldsV1".into());
        entry.insert("fieldsV1".to_owned(), owned.set.encode());
        Value::Object(entry)
    }
}

impl FieldManagers {
    /// Reads `managedFields` of an object; `None` if an entry is invalid.
    pub(super) fn of(object: &Value) -> Option<Self> {
        let entries = match at(object, &["metadata", "managedFields"]) {
            Some(entries) => entries.as_array()?.as_slice(),
            None => &[][..],
        };
        let entries = entries.iter().map(ManagerEntry::decode).collect::<Option<_>>()?;
        Some(Self { entries })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sets `managedFields` of an object. The entries are in the order of kube-apiserver: applies before updates, and the oldest first.
    pub(super) fn write_to(&self, object: &mut Value) {
        let metadata = metadata_mut(object);
        if self.is_empty() {
            metadata.remove("managedFields");
            return;
        }
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(manager, owned)| (manager.operation.clone(), owned.time.clone()));
        let entries: Value = entries.into_iter().map(|(manager, owned)| manager.encode(owned)).collect();
        metadata.insert("managedFields".to_owned(), entries);
    }

    /// Removes the managers that own nothing.
    pub(super) fn remove_empty(&mut self) {
        self.entries.retain(|_, owned| !owned.set.is_empty());
    }

    /// Merges the oldest entries of updates if there are more than [`MAX_UPDATES`]. The merged entries have the manager `ancient-changes`,
    /// and there is one for each API version.
    pub(super) fn cap_updates(&mut self) {
        let updates = self.entries.iter().filter(|(manager, _)| manager.operation == UPDATE);
        let mut updates: Vec<(String, ManagerEntry)> =
            updates.map(|(manager, owned)| (owned.time.clone(), manager.clone())).collect();
        if updates.len() <= MAX_UPDATES {
            return;
        }
        updates.sort();
        // The merged entry counts, too: one entry more than the surplus is merged.
        updates.truncate(updates.len() + 1 - MAX_UPDATES);
        for (_, manager) in updates {
            let Some(owned) = self.entries.remove(&manager) else { continue };
            let ancient = ManagerEntry::new(ANCIENT, UPDATE, &owned.api_version, "");
            match self.entries.get_mut(&ancient) {
                Some(merged) => {
                    merged.set.extend(&owned.set);
                    merged.time = owned.time;
                }
                None => drop(self.entries.insert(ancient, owned)),
            }
        }
    }
}

/// Removes `managedFields` from an object.
pub(super) fn clear(object: &mut Value) {
    metadata_mut(object).remove("managedFields");
}

/// Removes the entries of `managedFields` that are for the object itself, and keeps those for subresources. Another client has changed the
/// desired state, and it is not known which fields the managers still own.
pub(crate) fn disown_desired_state(object: &mut Value) {
    let metadata = metadata_mut(object);
    let Some(Value::Array(entries)) = metadata.get_mut("managedFields") else { return };
    entries.retain(|entry| !text(entry, &["subresource"]).is_empty());
    if entries.is_empty() {
        metadata.remove("managedFields");
    }
}

/// Restores the old `managedFields` if the new object differs from the old one only in their times, so that a write without an effect does
/// not change the object.
pub(crate) fn keep_times(old: &Value, new: &mut Value) {
    let without_times = |object: &Value| {
        let mut managers = FieldManagers::of(object)?;
        managers.entries.values_mut().for_each(|owned| owned.time.clear());
        Some(managers)
    };
    let ignored = ["managedFields", "resourceVersion"];
    let is_same = is_equal_ignoring(old, new, &ignored)
        && without_times(old).is_some_and(|managers| without_times(new) == Some(managers));
    if is_same {
        let before = at(old, &["metadata", "managedFields"]).cloned();
        set(metadata_mut(new), "managedFields", before);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_too_many_updates_are_merged() {
        let mut managers = FieldManagers::default();
        for number in 10..22 {
            let manager = ManagerEntry::new(&format!("m{number}"), UPDATE, "v1", "");
            let set = FieldSet::from_paths(&[&["data", &format!("f{number}")]]);
            let owned = OwnedFields { api_version: "v1".to_owned(), time: number.to_string(), set };
            managers.entries.insert(manager, owned);
        }
        managers.cap_updates();
        assert_eq!(managers.entries.len(), MAX_UPDATES);
        let ancient = managers.entries.get(&ManagerEntry::new(ANCIENT, UPDATE, "v1", "")).unwrap();
        assert_eq!(ancient.set.paths(), [".data.f10", ".data.f11", ".data.f12"]);
    }
}
