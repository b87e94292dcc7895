//! What Kubernetes itself admits by: its built-in plugins, those of them that are on by default.

use serde_json::Value;

use crate::sandbox::Server;

pub(super) mod default_ingress_class;
pub(super) mod default_storage_class;
pub(super) mod default_tolerations;
pub(super) mod limit_ranger;
pub(super) mod namespace_lifecycle;
pub(super) mod owner_references;
mod pod_resources;
pub(super) mod pod_security;
pub(super) mod priority;
pub(crate) mod quota_usage;
pub(super) mod resource_quota;
pub(super) mod service_account;
pub(super) mod storage_protection;
pub(super) mod taint_nodes;

/// An object that is kept, without its type.
fn kept(server: &Server, shelf: &str, namespace: &str, name: &str) -> Option<Value> {
    serde_json::from_slice(&server.store.get(shelf, namespace, name)?.json).ok()
}

/// The objects of a kind, without their types.
fn all_kept(server: &Server, shelf: &str, namespace: Option<&str>) -> Vec<Value> {
    let (_, items) = server.store.list(shelf, namespace);
    items.iter().filter_map(|item| serde_json::from_slice(&item.json).ok()).collect()
}

/// The class that an annotation marks as the default: of several the newest, then the first by name.
fn default_class(server: &Server, shelf: &str, annotation: &str) -> Option<String> {
    let mut marked = all_kept(server, shelf, None);
    marked.retain(|class| class["metadata"]["annotations"][annotation] == "true");
    let created = |class: &Value| crate::object::text(class, &["metadata", "creationTimestamp"]).to_owned();
    let name = |class: &Value| crate::object::name(class).to_owned();
    marked.sort_by(|a, b| created(b).cmp(&created(a)).then_with(|| name(a).cmp(&name(b))));
    marked.first().map(name)
}
