//! Answers discovery requests for the kinds in buckets: the version of the API, its groups, and their resources.

use super::kind::BucketKind;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The verbs of the kinds in buckets.
const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Returns the response to a discovery request for the path, such as `/version` or `/apis/<group>`; `None` for any other path.
pub(super) fn respond(kinds: &[&BucketKind], path: &str) -> Option<Value> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        ["version"] => Some(version()),
        ["api"] => Some(json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})),
        ["apis"] => {
            let groups = versions_by_group(kinds).into_iter();
            let groups: Vec<Value> = groups.map(|(name, versions)| group(name, &versions)).collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        ["apis", name] => versions_by_group(kinds).get(name).map(|versions| group(name, versions)),
        ["api", "v1"] => Some(resources(kinds, "", "v1")),
        ["apis", group, version] => Some(resources(kinds, group, version))
            .filter(|list| list["resources"].as_array().is_some_and(|resources| !resources.is_empty())),
        _ => None,
    }
}

/// Returns the response to `/version`: the version of Kubernetes that this API behaves like.
fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "gitVersion": concat!("v1.36.0+opgen-", env!("CARGO_PKG_VERSION")),
        "gitCommit": "", "gitTreeState": "", "buildDate": "", "goVersion": "", "compiler": "", "platform": "",
    })
}

/// Returns the API groups of the kinds with their versions, without the core group.
fn versions_by_group<'k>(kinds: &[&'k BucketKind]) -> BTreeMap<&'k str, Vec<&'k str>> {
    let mut groups = BTreeMap::<&str, Vec<&str>>::new();
    for kind in kinds.iter().map(|kind| &kind.kind).filter(|kind| !kind.group.is_empty()) {
        let versions = groups.entry(&kind.group).or_default();
        if !versions.contains(&&*kind.version) {
            versions.push(&kind.version);
        }
    }
    groups
}

/// Returns the `APIGroup` of a group with these versions, of which the first is preferred.
fn group(name: &str, versions: &[&str]) -> Value {
    let version = |version: &str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let all: Vec<Value> = versions.iter().map(|name| version(name)).collect();
    let preferred = all.first().cloned().unwrap_or_default();
    json!({"kind": "APIGroup", "apiVersion": "v1", "name": name, "versions": all, "preferredVersion": preferred})
}

/// Returns the `APIResourceList` of a version of a group: the resources of its kinds, and their status subresources.
fn resources(kinds: &[&BucketKind], group: &str, version: &str) -> Value {
    let of_version = kinds.iter().filter(|kind| kind.kind.group == group && kind.kind.version == version);
    let resources = of_version.flat_map(|served| {
        let kind = &served.kind;
        let resource = |name: String, verbs: &[&str]| {
            let singular = kind.kind.to_lowercase();
            json!({"name": name, "singularName": singular, "namespaced": kind.namespaced, "kind": kind.kind, "verbs": verbs})
        };
        let status = served.has_status.then(|| resource(format!("{}/status", kind.plural), &["get", "patch", "update"]));
        std::iter::once(resource(kind.plural.to_string(), &VERBS)).chain(status)
    });
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let resources: Vec<Value> = resources.collect();
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources})
}
