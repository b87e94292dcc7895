//! Looks up the stored objects that plugins read.

use serde_json::Value;

use crate::server::Server;

/// Returns a stored object without `apiVersion` and `kind`; `None` if it does not exist.
pub(super) fn stored_object(server: &Server, group_resource: &str, namespace: &str, name: &str) -> Option<Value> {
    serde_json::from_slice(&server.store.get(group_resource, namespace, name)?.json).ok()
}

/// Returns the stored objects of a group resource without `apiVersion` and `kind`; `None` as the namespace means all.
pub(super) fn stored_objects(server: &Server, group_resource: &str, namespace: Option<&str>) -> Vec<Value> {
    let (_, items) = server.store.list(group_resource, namespace);
    items.iter().filter_map(|item| serde_json::from_slice(&item.json).ok()).collect()
}

/// Returns the name of the class that an annotation marks as the default; `None` if no class is marked. If several are marked, returns the
/// newest one, or the first one by name if several are equally new.
pub(super) fn default_class(server: &Server, group_resource: &str, annotation: &str) -> Option<String> {
    let mut defaults = stored_objects(server, group_resource, None);
    defaults.retain(|class| class["metadata"]["annotations"][annotation] == "true");
    let created = |class: &Value| crate::object::text(class, &["metadata", "creationTimestamp"]).to_owned();
    let name = |class: &Value| crate::object::name(class).to_owned();
    defaults.sort_by(|a, b| created(b).cmp(&created(a)).then_with(|| name(a).cmp(&name(b))));
    defaults.first().map(name)
}
