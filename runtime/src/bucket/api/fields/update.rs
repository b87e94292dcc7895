//! Updates `managedFields` after a write that is not an apply: the manager that writes becomes the owner of the changed fields.

use super::{
    changes::FieldChanges,
    field_set::FieldSet,
    managers::{self, FieldManagers, ManagerEntry, OwnedFields, UPDATE},
    structure::FieldType,
};
use crate::bucket::api::{kind::BucketKind, object::at};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The fields of the metadata that no manager owns: those of the server, and those that identify the object.
const UNOWNED_METADATA: [&str; 9] = [
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
];

/// All fields that no manager owns.
pub(super) static UNOWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    let mut unowned = FieldSet::from_paths(&[&["apiVersion"], &["kind"], &["metadata"]]);
    UNOWNED_METADATA.iter().for_each(|name| unowned.extend(&FieldSet::from_paths(&[&["metadata", *name]])));
    unowned
});

/// The write that `managedFields` records: of which kind and subresource, by which manager, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldWriter<'a> {
    pub(crate) kind: &'a BucketKind,
    /// Empty for the object itself.
    pub(crate) subresource: &'a str,
    /// The field manager.
    pub(crate) manager: &'a str,
    /// The current time in whole seconds.
    pub(crate) now: &'a str,
}

impl<'a> FieldWriter<'a> {
    pub(super) fn root(&self) -> FieldType<'a> {
        FieldType::Root(self.kind.schema.as_deref())
    }

    /// Returns the fields that the write can't change: a write of the status changes only the status, and any other write of a kind with a
    /// status subresource does not change the status.
    pub(super) fn ignored(&self) -> FieldSet {
        match self.subresource {
            "status" => FieldSet::from_paths(&[&["metadata"], &["spec"]]),
            _ if self.kind.has_status => FieldSet::from_paths(&[&["status"]]),
            _ => FieldSet::default(),
        }
    }

    /// Returns the changes that the write makes.
    pub(super) fn changes(&self, old: &Value, new: &Value) -> FieldChanges {
        FieldChanges::between(self.root(), old, new).without(&self.ignored())
    }

    /// Returns the empty object, which a new object is compared with.
    pub(super) fn empty_object(&self) -> Value {
        json!({"apiVersion": self.kind.kind.api_version(), "kind": self.kind.kind.kind})
    }

    /// Returns the managers after the manager `name` has changed `old` to `new`: all managers lose the changed fields, and `name` gets
    /// those that were added or modified.
    pub(super) fn update_managers(
        &self,
        mut managers: FieldManagers,
        old: &Value,
        new: &Value,
        name: &str,
    ) -> FieldManagers {
        let changes = self.changes(old, new);
        managers.entries.values_mut().for_each(|owned| changes.take_from(&mut owned.set));
        managers.remove_empty();
        let gained = changes.modified.union(&changes.added).difference(&UNOWNED);
        if !gained.is_empty() {
            let api_version = self.kind.kind.api_version();
            let manager = ManagerEntry::new(name, UPDATE, &api_version, self.subresource);
            let empty = || OwnedFields { api_version, time: String::new(), set: FieldSet::default() };
            let owned = managers.entries.entry(manager).or_insert_with(empty);
            owned.set.extend(&gained);
            self.now.clone_into(&mut owned.time);
        }
        managers.cap_updates();
        managers
    }
}

/// Updates `managedFields` of `new`: the manager of the write owns the fields that it changes. `old` is `None` for a new object.
///
/// If `new` has `managedFields`, they replace the stored ones, and a single empty entry removes all managers; a write of a subresource can
/// do neither. In contrast to Kubernetes, the first write to an object without managers adds its manager: other clients of a bucket write
/// objects without `managedFields`.
pub(crate) fn update(writer: FieldWriter<'_>, old: Option<&Value>, new: &mut Value) {
    let live = || old.and_then(FieldManagers::of).unwrap_or_default();
    let resets = writer.subresource.is_empty() && requests_reset(new);
    let managers = if !writer.subresource.is_empty() {
        live()
    } else if resets {
        FieldManagers::default()
    } else {
        FieldManagers::of(new).filter(|managers| !managers.is_empty()).unwrap_or_else(live)
    };
    managers::clear(new);
    let managers = match old {
        Some(_) if resets => managers,
        Some(old) => writer.update_managers(managers, old, new, writer.manager),
        None => writer.update_managers(managers, &writer.empty_object(), new, writer.manager),
    };
    managers.write_to(new);
}

/// Returns whether an object requests that all managers are removed: `managedFields` is a list with a single empty entry.
fn requests_reset(object: &Value) -> bool {
    let entries = at(object, &["metadata", "managedFields"]).and_then(Value::as_array);
    entries.is_some_and(|entries| matches!(entries.as_slice(), [only] if only.as_object().is_some_and(Map::is_empty)))
}
