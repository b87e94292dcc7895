//! Defaults, prepares, deletes and validates CustomResourceDefinitions.

use serde_json::{Map, Value, json};

pub(crate) use condition::{has_condition, set_condition};
pub(crate) use validate::validate;

use super::{Kind, custom::storage_version};
use crate::{
    condition::Condition,
    object::{self, at, text},
    server::Server,
};

mod condition;
mod conversion;
mod names;
mod parts;
mod validate;

/// The finalizer that holds a deleted CRD until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The group of CRDs.
pub(crate) const GROUP: &str = "apiextensions.k8s.io";

/// The plural of CRDs.
pub(crate) const PLURAL: &str = "customresourcedefinitions";

/// Returns whether objects of the kind are CRDs.
pub(crate) fn is_crd(kind: &Kind) -> bool {
    kind.is(GROUP, PLURAL)
}

/// Sets the defaults of a CRD: singular, list kind, conversion strategy and the port of the conversion webhook.
pub(crate) fn default(crd: &mut Value) {
    let kind = text(crd, &["spec", "names", "kind"]).to_owned();
    if !crd["spec"].is_object() {
        return;
    }
    let is_unset =
        |names: &Map<String, Value>, key: &str| names.get(key).is_none_or(|name| *name == "" || name.is_null());
    let names = object::map_at(crd, &["spec", "names"]);
    if is_unset(names, "singular") && !kind.is_empty() {
        names.insert("singular".into(), kind.to_lowercase().into());
    }
    if is_unset(names, "listKind") && !kind.is_empty() {
        names.insert("listKind".into(), format!("{kind}List").into());
    }
    let spec = object::map_at(crd, &["spec"]);
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion".into(), json!({"strategy": "None"}));
    }
    if at(crd, &["spec", "conversion", "webhook", "clientConfig", "service"]).is_some() {
        let service = object::map_at(crd, &["spec", "conversion", "webhook", "clientConfig", "service"]);
        service.entry("port").or_insert_with(|| 443.into());
    }
}

/// Resets the status of a new CRD: no accepted names and conditions, and the storage version in `storedVersions`.
pub(crate) fn prepare_create(crd: &mut Value) {
    let stored = storage_version(crd).to_owned();
    let stored_versions: Vec<_> = Some(stored).filter(|stored| !stored.is_empty()).into_iter().collect();
    crd["status"] = json!({
        "conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored_versions,
    });
}

/// Adds the storage version of an updated CRD to `status.storedVersions` if it is missing there.
pub(crate) fn prepare_update(crd: &mut Value) {
    let stored = storage_version(crd).to_owned();
    let status = object::map_at(crd, &["status"]);
    let versions = status.entry("storedVersions").or_insert_with(|| json!([]));
    if let Value::Array(versions) = versions
        && !stored.is_empty()
        && !versions.iter().any(|version| *version == stored)
    {
        versions.push(stored.into());
    }
}

/// Marks a CRD as deleted: sets the deletion timestamp, the condition `Terminating`, and the finalizer that holds the CRD
/// until its objects are gone. Does nothing for a CRD that is already marked.
pub(crate) fn mark_deleted(server: &Server, crd: &mut Value) {
    if object::is_deleting(crd) {
        return;
    }
    let time = server.environment.time();
    let mut finalizers: Vec<String> = object::finalizers(crd).into_iter().map(str::to_owned).collect();
    if !finalizers.iter().any(|finalizer| finalizer == CLEANUP) {
        finalizers.push(CLEANUP.into());
    }
    object::set_finalizers(crd, finalizers);
    object::metadata_mut(crd).insert("deletionTimestamp".into(), time.clone().into());
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    set_condition(crd, &Condition::new("Terminating", true, "InstanceDeletionPending", message), &time);
}
