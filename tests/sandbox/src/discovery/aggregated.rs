//! Serves aggregated discovery (`apidiscovery.k8s.io/v2`).

use serde_json::{Value, json};

use super::{
    etag::with_etag,
    groups::{Group, Groups},
};
use crate::{
    kind::{Kind, Subresource},
    response::ApiResponse,
};

const MEDIA_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Returns the discovery document of the core group.
pub(super) fn core_group(groups: &Groups) -> ApiResponse {
    group_list(groups.all().filter(|group| group.name.is_empty()))
}

/// Returns the discovery document of all named groups.
pub(super) fn named_groups(groups: &Groups) -> ApiResponse {
    group_list(groups.others())
}

/// Returns the response with the `APIGroupDiscoveryList` of the groups.
fn group_list<'a>(groups: impl Iterator<Item = &'a Group>) -> ApiResponse {
    let items: Vec<Value> = groups.map(describe_group).collect();
    let list = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items});
    let mut response = ApiResponse::object(&list);
    response.content_type = MEDIA_TYPE;
    with_etag(response)
}

/// Returns the `APIGroupDiscovery` of a group with its versions and resources.
fn describe_group(group: &Group) -> Value {
    let metadata = if group.name.is_empty() { json!({}) } else { json!({"name": group.name}) };
    let version = |version: &String| {
        let resources: Vec<Value> = group.kinds(version).map(|kind| resource_entry(kind)).collect();
        json!({"version": version, "resources": resources, "freshness": "Current"})
    };
    json!({"metadata": metadata, "versions": group.versions.iter().map(version).collect::<Vec<_>>()})
}

/// Returns the `APIResourceDiscovery` of a kind.
fn resource_entry(kind: &Kind) -> Value {
    let scope = if kind.namespaced { "Namespaced" } else { "Cluster" };
    let mut resource = json!({
        "resource": kind.plural, "responseKind": response_kind(kind, ("", "", &kind.kind)), "scope": scope,
        "singularResource": kind.singular, "verbs": kind.verbs,
    });
    if !kind.short_names.is_empty() {
        resource["shortNames"] = kind.short_names.clone().into();
    }
    if !kind.categories.is_empty() {
        resource["categories"] = kind.categories.clone().into();
    }
    if !kind.subresources.is_empty() {
        resource["subresources"] =
            kind.subresources.iter().map(|subresource| subresource_entry(kind, subresource)).collect();
    }
    resource
}

/// Returns the `APISubresourceDiscovery` of a subresource.
fn subresource_entry(kind: &Kind, subresource: &Subresource) -> Value {
    let (group, version, name) = &subresource.answers;
    let response_kind = response_kind(kind, (group, version, name));
    json!({"subresource": subresource.name, "responseKind": response_kind, "verbs": subresource.verbs})
}

/// Returns the `responseKind` of a resource or subresource. If the version is empty, the response has the group and version of `kind`,
/// which kube-apiserver fills in for custom kinds and leaves empty for built-in kinds.
fn response_kind(kind: &Kind, (group, version, name): (&str, &str, &str)) -> Value {
    let is_custom = version.is_empty() && kind.custom().is_some();
    let (group, version) = if is_custom { (kind.group.as_str(), kind.version.as_str()) } else { (group, version) };
    json!({"group": group, "version": version, "kind": name})
}
