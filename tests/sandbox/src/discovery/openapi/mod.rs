//! OpenAPI of what is served, made from the table and the CRDs.

use serde_json::{Map, Value, json};

use super::{groups::Groups, hash, tagged};
use crate::answer::{Answer, JSON};

mod components;
mod descriptions;
mod gnostic;
mod operations;
mod registered;
pub(super) mod swagger;

/// `/openapi/v3`: the documents, with hashes for clients that keep them.
pub(super) fn index(groups: &Groups) -> Answer {
    let mut paths = Map::new();
    for group in groups.all() {
        for version in &group.versions {
            let path = prefix(&group.name, version);
            let address = format!("/openapi/v3/{path}?hash={}", document_hash(groups, &group.name, version));
            paths.insert(path, json!({"serverRelativeURL": address}));
        }
    }
    Answer::object(&json!({"paths": paths}))
}

/// `/openapi/v3/apis/GROUP/VERSION`
pub(super) fn document(groups: &Groups, words: &[&str]) -> Option<Answer> {
    let (group, version) = match *words {
        ["api", version] => ("", version),
        ["apis", group, version] => (group, version),
        _ => return None,
    };
    let found = groups.find(group).filter(|found| found.versions.iter().any(|own| own == version))?;
    let kinds: Vec<_> = found.kinds(version).collect();
    let mut schemas = components::schemas(&kinds);
    if let Some(options) = schemas.get_mut("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions") {
        let custom = kinds.iter().any(|kind| kind.custom().is_some());
        options["x-kubernetes-group-version-kind"] = registered::delete_options(group, version, custom);
    }
    let document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "1.36"},
        "paths": operations::paths(&prefix(group, version), &kinds),
        "components": {"schemas": schemas},
    });
    let mut answer = tagged(Answer::object(&document));
    answer.content_type = JSON;
    Some(answer)
}

/// `apis/apps/v1`, or `api/v1` for the core group.
fn prefix(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// What a document is made from, hashed: to make all documents for the index would take long.
fn document_hash(groups: &Groups, group: &str, version: &str) -> String {
    let mut source = format!("{} {group}/{version}", super::RELEASE);
    for kind in groups.find(group).into_iter().flat_map(|group| group.kinds(version)) {
        source.push_str(&kind.kind);
        if let Some(custom) = kind.custom() {
            source.push_str(&custom.written.to_string());
            source.push_str(&kind.subresources.iter().map(|subresource| subresource.name.as_str()).collect::<String>());
        }
    }
    hash(source.as_bytes())
}

/// The name of a kind's schema: `io.k8s.api.apps.v1.Deployment`, `com.example.v1.Shop`.
fn schema_name(kind: &crate::kind::Kind, name: &str) -> String {
    if let Some(definition) = crate::schema::builtin::of_kind(&kind.group, &kind.version, name) {
        return definition.name.to_owned();
    }
    let reversed: Vec<&str> = kind.group.rsplit('.').collect();
    format!("{}.{}.{name}", reversed.join("."), kind.version)
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
