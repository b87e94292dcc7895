//! Reads fields of Kubernetes objects in JSON form.

use serde_json::Value;

/// The annotation with the path of the tree node that applied an object.
pub(crate) const NODE: &str = "opgen.dev/node";

/// Returns the string at a JSON pointer; empty if there is none.
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the UID of an object; empty if it has none.
pub(crate) fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

/// Returns the API group of an object; empty for the core group.
pub(crate) fn group(object: &Value) -> &str {
    text(object, "/apiVersion").split_once('/').map_or("", |(group, _)| group)
}

/// Returns the name of an object, with its namespace in front if it has one.
pub(crate) fn namespaced_name(object: &Value) -> String {
    let name = text(object, "/metadata/name");
    match object["metadata"]["namespace"].as_str().filter(|namespace| !namespace.is_empty()) {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

/// Returns the kind, namespace and name of an object for messages, and its cluster if it is not in the cluster of the program.
pub(crate) fn label(object: &Value) -> String {
    let place = cluster_of(object).map(|cluster| format!(" in {cluster}")).unwrap_or_default();
    format!("{} {}{place}", text(object, "/kind"), namespaced_name(object))
}

/// The field of the metadata with the name of the cluster, in the objects of another cluster. A snapshot adds it.
const CLUSTER_FIELD: &str = "opgenCluster";

/// Returns the name of the cluster that an object of a snapshot is in; `None` for that of the program.
pub(crate) fn cluster_of(object: &Value) -> Option<&str> {
    object["metadata"][CLUSTER_FIELD].as_str()
}

/// Adds the name of its cluster to an object.
pub(crate) fn set_cluster(object: &mut Value, cluster: &str) {
    object["metadata"][CLUSTER_FIELD] = cluster.into();
}

/// Removes the name of its cluster from an object, before it is sent to a server.
pub(crate) fn remove_cluster(object: &mut Value) {
    object["metadata"].as_object_mut().map(|metadata| metadata.remove(CLUSTER_FIELD));
}

/// Returns the kind, namespace and name of an object, and the tree node that applied it if an annotation names one.
pub(crate) fn label_with_node(object: &Value) -> String {
    let node = object["metadata"]["annotations"][NODE].as_str();
    let node = node.map(|node| format!(" (node `{node}`)")).unwrap_or_default();
    format!("{}{node}", label(object))
}

/// The annotation of an opgen operator's record of a cluster: the Secret with its kubeconfig, as JSON.
pub(crate) const CLUSTER_RECORD: &str = "opgen.dev/cluster";
/// The annotation of a record whose cluster ends with the owner.
pub(crate) const BACKGROUND: &str = "opgen.dev/background";

/// Returns whether an object is a record of a cluster.
pub(crate) fn is_cluster_record(object: &Value) -> bool {
    object["metadata"]["annotations"].get(CLUSTER_RECORD).is_some()
}

/// The field of an object of a snapshot that stands for a thing of an external service.
pub(crate) const EXTERNAL_FIELD: &str = "opgenExternal";

/// Returns whether an object of a snapshot stands for a thing of an external service.
pub(crate) fn is_external(object: &Value) -> bool {
    object.get(EXTERNAL_FIELD).is_some()
}

/// Returns whether an object stands for a thing of an external service that may remain after the samples are deleted.
pub(crate) fn may_remain(object: &Value) -> bool {
    object[EXTERNAL_FIELD]["mayRemain"] == true
}

/// The label of an opgen operator's record of a thing of an external service.
const EXTERNAL_RECORD: &str = "opgen.dev/external-record";

/// Returns whether an object is a record of a thing of an external service. An operator reads its records live, watches none, and writes
/// a lost one again only when it has to do with the thing.
pub(crate) fn is_external_record(object: &Value) -> bool {
    object["metadata"]["labels"].get(EXTERNAL_RECORD).is_some()
}

/// Removes all data except the node, the owner, the phase and the thing from a record, the ConfigMap in which an operator stores the state
/// of a thing of an external service: the token, the id and the UID of the owner may be those of an earlier object of the same name, and
/// are not compared. Other objects stay unchanged.
pub(crate) fn reduce_external_record(object: &mut Value) {
    if is_external_record(object)
        && let Some(data) = object["data"].as_object_mut()
    {
        data.retain(|field, _| matches!(field.as_str(), "node" | "owner" | "phase" | "thing"));
    }
}

/// Returns whether two objects have the same cluster, kind, namespace and name.
pub(crate) fn is_same_object(one: &Value, other: &Value) -> bool {
    cluster_of(one) == cluster_of(other)
        && ["/kind", "/metadata/name", "/metadata/namespace"].iter().all(|at| one.pointer(at) == other.pointer(at))
}

/// Returns the owner references of an object.
pub(crate) fn owner_references(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["ownerReferences"].as_array().into_iter().flatten()
}

/// Returns the finalizers of an object.
pub(crate) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    object["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the conditions in the status of an object.
pub(crate) fn conditions(object: &Value) -> impl Iterator<Item = &Value> {
    object["status"]["conditions"].as_array().into_iter().flatten()
}

/// Returns whether a condition reports that its object is not ready.
pub(crate) fn is_not_ready(condition: &Value) -> bool {
    matches!(condition["type"].as_str(), Some("Available" | "Ready")) && condition["status"] != "True"
}

/// Returns whether the conditions of an object report that it is not ready.
pub(crate) fn is_waiting(object: &Value) -> bool {
    conditions(object).any(is_not_ready)
}

/// Returns whether `observedGeneration` is the current generation; `None` if the status has no `observedGeneration`.
pub(crate) fn is_observed(object: &Value) -> Option<bool> {
    let observed = &object["status"]["observedGeneration"];
    (!observed.is_null()).then(|| *observed == object["metadata"]["generation"])
}
