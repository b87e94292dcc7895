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

/// Serves the `APIGroup` of a group.
pub(super) fn group(groups: &Groups, name: &str) -> Result<ApiResponse, Failure> {
    let Some(group) = groups.find(name).filter(|_| !name.is_empty()) else { return Ok(no_page()) };
    let mut described = group.described();
    described["kind"] = "APIGroup".into();
    described["apiVersion"] = "v1".into();
    Ok(ApiResponse::object(&described))
}

/// Serves the `APIResourceList` of a group and version.
pub(super) fn list(groups: &Groups, group: &str, version: &str) -> Result<ApiResponse, Failure> {
    let Some(found) = groups.find(group) else { return Ok(no_page()) };
    if !found.versions.iter().any(|own| own == version) {
        return if found.is_custom() { Ok(no_page()) } else { Err(Failure::no_such_resource()) };
    }
    let resources: Vec<Value> = found.kinds(version).flat_map(|kind| rows(found, kind)).collect();
    let written = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let mut list = json!({"kind": "APIResourceList", "groupVersion": written, "resources": resources});
    // The list of the core group has no `apiVersion`.
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    Ok(ApiResponse::object(&list))
}

/// Returns the entries of a kind and its subresources.
fn rows(group: &Group, kind: &Kind) -> Vec<Value> {
    let mut row = json!({
        "name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced, "kind": kind.kind,
        "verbs": kind.verbs,
    });
    if !kind.short_names.is_empty() {
        row["shortNames"] = kind.short_names.clone().into();
    }
    if !kind.categories.is_empty() {
        row["categories"] = kind.categories.clone().into();
    }
    if kind.is_stored() && kind.plural != "componentstatuses" {
        row["storageVersionHash"] = storage_hash(group, kind).into();
    }
    let below = kind.subresources.iter().map(|subresource| subresource_row(kind, subresource));
    std::iter::once(row).chain(below).collect()
}

fn subresource_row(kind: &Kind, subresource: &Subresource) -> Value {
    let (group, version, answered) = &subresource.answers;
    let mut row = Map::new();
    row.insert("name".into(), format!("{}/{}", kind.plural, subresource.name).into());
    row.insert("singularName".into(), "".into());
    row.insert("namespaced".into(), kind.namespaced.into());
    row.insert("kind".into(), answered.clone().into());
    row.insert("verbs".into(), subresource.verbs.clone().into());
    let own = version.is_empty() || (*group == kind.group && *version == kind.version);
    if !own {
        row.insert("version".into(), version.clone().into());
        if !group.is_empty() {
            row.insert("group".into(), group.clone().into());
        }
    }
    Value::Object(row)
}

/// Returns the hash of the group, version and kind in which objects are stored. Clients compare it to see whether two
/// versions share one storage.
fn storage_hash(group: &Group, kind: &Kind) -> String {
    let kept = match kind.custom() {
        Some(custom) => format!("{}/{}/{}", kind.group, custom.storage_version, kind.kind),
        None if kind.is("events.k8s.io", "events") => "/v1/Event".to_owned(),
        None => {
            let preferred = group.versions.first().map_or(kind.version.as_str(), String::as_str);
            format!("{}/{preferred}/{}", kind.group, kind.kind)
        }
    };
    STANDARD.encode(digest(&SHA256, kept.as_bytes()).as_ref().get(..8).unwrap_or_default())
}
