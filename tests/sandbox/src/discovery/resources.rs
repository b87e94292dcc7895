//! Serves unaggregated discovery: one document for each group and version.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

use super::{
    groups::{Group, Groups},
    not_found::no_page,
};
use crate::{
    failure::Failure,
    kind::{Kind, Subresource},
    response::ApiResponse,
};

/// Returns the `APIVersions` of the core group.
pub(super) fn core_versions() -> Value {
    let addresses = json!([{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:443"}]);
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses})
}

/// Serves the `APIGroup` of a named group. The response is a 404 page if the group is not served.
pub(super) fn group(groups: &Groups, name: &str) -> Result<ApiResponse, Failure> {
    let Some(group) = groups.find(name).filter(|_| !name.is_empty()) else { return Ok(no_page()) };
    let mut api_group = group.to_api_group();
    api_group["kind"] = "APIGroup".into();
    api_group["apiVersion"] = "v1".into();
    Ok(ApiResponse::object(&api_group))
}

/// Serves the `APIResourceList` of a group and version. The response is a 404 page if the group or a version of a custom group is not
/// served.
///
/// # Errors
/// `NotFound` if a built-in group does not serve the version.
pub(super) fn list(groups: &Groups, group: &str, version: &str) -> Result<ApiResponse, Failure> {
    let Some(served_group) = groups.find(group) else { return Ok(no_page()) };
    if !served_group.versions.iter().any(|served| served == version) {
        return if served_group.is_custom() { Ok(no_page()) } else { Err(Failure::no_such_resource()) };
    }
    let resources: Vec<Value> =
        served_group.kinds(version).flat_map(|kind| resource_entries(served_group, kind)).collect();
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let mut list = json!({"kind": "APIResourceList", "groupVersion": group_version, "resources": resources});
    // The list of the core group has no `apiVersion`.
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    Ok(ApiResponse::object(&list))
}

/// Returns the `APIResource` entries of a kind and its subresources.
fn resource_entries(group: &Group, kind: &Kind) -> Vec<Value> {
    let mut entry = json!({
        "name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced, "kind": kind.kind,
        "verbs": kind.verbs,
    });
    if !kind.short_names.is_empty() {
        entry["shortNames"] = kind.short_names.clone().into();
    }
    if !kind.categories.is_empty() {
        entry["categories"] = kind.categories.clone().into();
    }
    if kind.is_stored() && kind.plural != "componentstatuses" {
        entry["storageVersionHash"] = storage_hash(group, kind).into();
    }
    let subresources = kind.subresources.iter().map(|subresource| subresource_entry(kind, subresource));
    std::iter::once(entry).chain(subresources).collect()
}

/// Returns the `APIResource` entry of a subresource. The entry has the group and version of the kind that the subresource responds with
/// only if they differ from those of `kind`.
fn subresource_entry(kind: &Kind, subresource: &Subresource) -> Value {
    let (group, version, response_kind) = &subresource.answers;
    let mut entry = Map::new();
    entry.insert("name".into(), format!("{}/{}", kind.plural, subresource.name).into());
    entry.insert("singularName".into(), "".into());
    entry.insert("namespaced".into(), kind.namespaced.into());
    entry.insert("kind".into(), response_kind.clone().into());
    entry.insert("verbs".into(), subresource.verbs.clone().into());
    let is_own_version = version.is_empty() || (*group == kind.group && *version == kind.version);
    if !is_own_version {
        entry.insert("version".into(), version.clone().into());
        if !group.is_empty() {
            entry.insert("group".into(), group.clone().into());
        }
    }
    Value::Object(entry)
}

/// Returns the `storageVersionHash` of a kind: the hash of the group, version and kind in which its objects are stored. Clients compare it
/// to see whether two versions share one storage.
fn storage_hash(group: &Group, kind: &Kind) -> String {
    let stored_as = match kind.custom() {
        Some(custom) => format!("{}/{}/{}", kind.group, custom.storage_version, kind.kind),
        None if kind.is("events.k8s.io", "events") => "/v1/Event".to_owned(),
        None => {
            let preferred = group.versions.first().map_or(kind.version.as_str(), String::as_str);
            format!("{}/{preferred}/{}", kind.group, kind.kind)
        }
    };
    STANDARD.encode(digest(&SHA256, stored_as.as_bytes()).as_ref().get(..8).unwrap_or_default())
}
