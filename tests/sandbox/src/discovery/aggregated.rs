//! Serves aggregated discovery (`apidiscovery.k8s.io/v2`).

use serde_json::{Value, json};

use super::{
    etag::tagged,
    groups::{Group, Groups},
};
use crate::{
    kind::{Kind, Subresource},
    response::ApiResponse,
};

const MEDIA_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Returns the discovery document of the core group.
pub(super) fn core(groups: &Groups) -> ApiResponse {
    list(groups.all().filter(|group| group.name.is_empty()))
}

/// Returns the discovery document of all named groups.
pub(super) fn others(groups: &Groups) -> ApiResponse {
    list(groups.others())
}

fn list<'a>(groups: impl Iterator<Item = &'a Group>) -> ApiResponse {
    let items: Vec<Value> = groups.map(described).collect();
    let list = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items});
    let mut answer = ApiResponse::object(&list);
    answer.content_type = MEDIA_TYPE;
    tagged(answer)
}

fn described(group: &Group) -> Value {
    let metadata = if group.name.is_empty() { json!({}) } else { json!({"name": group.name}) };
    let version = |version: &String| {
        let resources: Vec<Value> = group.kinds(version).map(|kind| resource(kind)).collect();
        json!({"version": version, "resources": resources, "freshness": "Current"})
    };
    json!({"metadata": metadata, "versions": group.versions.iter().map(version).collect::<Vec<_>>()})
}

fn resource(kind: &Kind) -> Value {
    let scope = if kind.namespaced { "Namespaced" } else { "Cluster" };
    let mut resource = json!({
        "resource": kind.plural, "responseKind": answered(kind, ("", "", &kind.kind)), "scope": scope,
        "singularResource": kind.singular, "verbs": kind.verbs,
    });
    if !kind.short_names.is_empty() {
        resource["shortNames"] = kind.short_names.clone().into();
    }
    if !kind.categories.is_empty() {
        resource["categories"] = kind.categories.clone().into();
    }
    if !kind.subresources.is_empty() {
        resource["subresources"] = kind.subresources.iter().map(|subresource| below(kind, subresource)).collect();
    }
    resource
}

fn below(kind: &Kind, subresource: &Subresource) -> Value {
    let (group, version, name) = &subresource.answers;
    let answered = answered(kind, (group, version, name));
    json!({"subresource": subresource.name, "responseKind": answered, "verbs": subresource.verbs})
}

/// Returns the `responseKind` of a resource or subresource. kube-apiserver leaves group and version empty for built-in
/// kinds, and fills them in for a CRD's.
fn answered(kind: &Kind, (group, version, name): (&str, &str, &str)) -> Value {
    let own = version.is_empty() && kind.custom().is_some();
    let (group, version) = if own { (kind.group.as_str(), kind.version.as_str()) } else { (group, version) };
    json!({"group": group, "version": version, "kind": name})
}
