//! Serves `/openapi/v3`: its index and the document of each group and version.

use serde_json::{Map, json};

use super::{components, operations, registered};
use crate::{
    discovery::{
        etag::{hash, with_etag},
        groups::Groups,
        version::RELEASE,
    },
    response::{ApiResponse, JSON},
};

/// Serves `/openapi/v3`: the paths of the documents, with hashes for clients that cache them.
pub(crate) fn index(groups: &Groups) -> ApiResponse {
    let mut paths = Map::new();
    for group in groups.all() {
        for version in &group.versions {
            let path = prefix(&group.name, version);
            let address = format!("/openapi/v3/{path}?hash={}", document_hash(groups, &group.name, version));
            paths.insert(path, json!({"serverRelativeURL": address}));
        }
    }
    ApiResponse::object(&json!({"paths": paths}))
}

/// Serves `/openapi/v3/apis/GROUP/VERSION`; `None` if the group version is not served.
pub(crate) fn document(groups: &Groups, segments: &[&str]) -> Option<ApiResponse> {
    let (group, version) = match *segments {
        ["api", version] => ("", version),
        ["apis", group, version] => (group, version),
        _ => return None,
    };
    let served_group = groups.find(group).filter(|group| group.versions.iter().any(|served| served == version))?;
    let kinds: Vec<_> = served_group.kinds(version).collect();
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
    let mut response = with_etag(ApiResponse::object(&document));
    response.content_type = JSON;
    Some(response)
}

/// Returns the path prefix of a group version: `apis/apps/v1`, or `api/v1` for the core group.
fn prefix(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// Returns a hash for the document of a group version, computed from the release, the kinds, and the properties of custom kinds that the
/// document contains. It does not hash the document itself, since the index would have to build all documents.
fn document_hash(groups: &Groups, group: &str, version: &str) -> String {
    let mut source = format!("{} {group}/{version}", RELEASE);
    for kind in groups.find(group).into_iter().flat_map(|group| group.kinds(version)) {
        source.push_str(&kind.kind);
        if let Some(custom) = kind.custom() {
            source.push_str(&custom.schema_json.to_string());
            source.push_str(&json!([kind.plural, kind.list_kind, custom.selectable]).to_string());
            source.push_str(&kind.subresources.iter().map(|subresource| subresource.name.as_str()).collect::<String>());
        }
    }
    hash(source.as_bytes())
}
