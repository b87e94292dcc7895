//! Compares the versions in two releases of a CustomResourceDefinition: which are served and stored, their subresources and their schemas.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    change::{Breaks, Changes},
    schema::compare_schemas,
};
use crate::{flag, text};

/// Compares the versions of two releases of a CRD by name: adds the changes within a version, the removed and the added versions, and a
/// change of the storage version.
pub(super) fn compare_versions(old: &Value, new: &Value, changes: &mut Changes) {
    let versions = |definition: &Value| definition["spec"]["versions"].as_array().cloned().unwrap_or_default();
    // Only a CRD that was read from a cluster has a status. Without it, objects may be stored in each version.
    let stored_versions = old["status"]["storedVersions"].as_array();
    let is_stored = |name: &str| stored_versions.is_none_or(|stored| stored.iter().any(|version| version == name));
    let (old, new) = (versions(old), versions(new));
    let find = |list: &[Value], name: &str| list.iter().find(|version| text(version, "name") == name).cloned();
    for before in &old {
        let name = text(before, "name");
        match find(&new, name) {
            Some(after) => compare_version(name, before, &after, changes),
            None => add_removed(name, before, is_stored(name), changes),
        }
    }
    for after in new.iter().filter(|version| find(&old, text(version, "name")).is_none()) {
        changes.add(version_path(text(after, "name")), Breaks::NOTHING, "the version is added");
    }
    let storage_version = |list: &[Value]| {
        list.iter().find(|version| flag(version, "storage")).map(|version| text(version, "name").to_owned())
    };
    if let (Some(before), Some(after)) = (storage_version(&old), storage_version(&new))
        && before != after
    {
        let message = format!(
            "objects are stored in `{after}` instead of `{before}`; `{before}` must stay in the definition until all objects were rewritten"
        );
        changes.add(".spec.versions[*].storage", Breaks::NOTHING, message);
    }
}

/// Returns the path of a version in the definition.
fn version_path(name: &str) -> String {
    format!(".spec.versions[{name}]")
}

/// Adds the change of a removed version. It breaks clients if the version was served, and stored objects if some may be stored in it.
fn add_removed(name: &str, version: &Value, is_stored: bool, changes: &mut Changes) {
    let is_served = flag(version, "served");
    let breaks = Breaks { stored: is_stored, clients: is_served };
    let message = match is_stored {
        true => "the version is removed: the API server refuses the definition while `status.storedVersions` has it",
        false => "the version is removed: no object is stored in it",
    };
    let message = if is_served { format!("{message}, and requests in this version fail") } else { message.to_owned() };
    changes.add(version_path(name), breaks, message);
}

/// Compares two releases of one version of the CRD: whether it is served and deprecated, its subresources, selectable fields and schema.
fn compare_version(name: &str, old: &Value, new: &Value, changes: &mut Changes) {
    match (flag(old, "served"), flag(new, "served")) {
        (true, false) => {
            changes.add(
                format!("{}.served", version_path(name)),
                Breaks::CLIENTS,
                "the version is not served: requests in it fail",
            );
        }
        (false, true) => {
            changes.add(format!("{}.served", version_path(name)), Breaks::NOTHING, "the version is served")
        }
        _ => {}
    }
    if !flag(old, "deprecated") && flag(new, "deprecated") {
        let path = format!("{}.deprecated", version_path(name));
        changes.add(path, Breaks::NOTHING, "the version is deprecated: its clients get a warning");
    }
    let mut found = Changes::of_version(name);
    compare_subresources(&old["subresources"], &new["subresources"], &mut found);
    compare_selectable(&old["selectableFields"], &new["selectableFields"], &mut found);
    compare_schemas(&old["schema"]["openAPIV3Schema"], &new["schema"]["openAPIV3Schema"], &mut found);
    changes.extend(found);
}

/// Compares the subresources `status` and `scale`.
fn compare_subresources(old: &Value, new: &Value, changes: &mut Changes) {
    match (old["status"].is_object(), new["status"].is_object()) {
        (true, false) => {
            let message =
                "the subresource is removed: writes of the status fail, and writes of an object change its status";
            changes.add(".status", Breaks::BOTH, message);
        }
        (false, true) => {
            changes.add(
                ".status",
                Breaks::CLIENTS,
                "it becomes a subresource: writes of an object no longer change its status",
            );
        }
        _ => {}
    }
    match (old["scale"].is_object(), new["scale"].is_object()) {
        (true, false) => {
            changes.add("/scale", Breaks::CLIENTS, "the subresource is removed: autoscalers and `kubectl scale` fail")
        }
        (false, true) => changes.add("/scale", Breaks::NOTHING, "the subresource is added"),
        (true, true) if old["scale"] != new["scale"] => {
            changes.add("/scale", Breaks::CLIENTS, "its paths differ: autoscalers read and write other fields");
        }
        _ => {}
    }
}

/// Compares `selectableFields`, the fields that the field selector of a list or watch request may name.
fn compare_selectable(old: &Value, new: &Value, changes: &mut Changes) {
    let paths = |fields: &Value| -> BTreeSet<String> {
        let fields = fields.as_array().cloned().unwrap_or_default();
        fields.iter().map(|field| text(field, "jsonPath").to_owned()).collect()
    };
    let (old, new) = (paths(old), paths(new));
    for path in old.difference(&new) {
        changes.add(
            path,
            Breaks::CLIENTS,
            "objects can no longer be selected by the field: such lists and watches fail",
        );
    }
    for path in new.difference(&old) {
        changes.add(path, Breaks::NOTHING, "objects can be selected by the field");
    }
}
