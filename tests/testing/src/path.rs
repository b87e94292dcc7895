//! Builds the REST paths of objects, with plurals from the installed CustomResourceDefinitions.

use serde_json::Value;

use crate::object::{group, text};

/// Returns the REST path of an object. `installed` has the CustomResourceDefinitions with the plurals.
pub(crate) fn object_path(object: &Value, installed: &[Value]) -> String {
    format!("{}/{}", collection_path(object, installed), text(object, "/metadata/name"))
}

/// Returns the REST path of the collection that an object is in. `installed` has the CustomResourceDefinitions with the plurals.
pub(crate) fn collection_path(object: &Value, installed: &[Value]) -> String {
    let (version, plural) = (text(object, "/apiVersion"), plural(object, installed));
    let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{plural}"),
    }
}

/// Returns the plural of a kind: from its CustomResourceDefinition, otherwise formed by the rules of English.
pub(crate) fn plural(object: &Value, installed: &[Value]) -> String {
    let kind = text(object, "/kind");
    let definition = find_definition(group(object), kind, installed);
    let plural = definition.map(|definition| &definition["spec"]["names"]["plural"]);
    if let Some(plural) = plural.and_then(Value::as_str) {
        return plural.to_owned();
    }
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ if lower.ends_with('s') || lower.ends_with('x') => format!("{lower}es"),
        _ => format!("{lower}s"),
    }
}

/// Returns the CustomResourceDefinition of a kind; `None` if none of the installed ones defines it.
pub(crate) fn find_definition<'a>(group: &str, kind: &str, installed: &'a [Value]) -> Option<&'a Value> {
    installed.iter().find(|object| {
        object["kind"] == "CustomResourceDefinition"
            && object["spec"]["group"] == group
            && object["spec"]["names"]["kind"] == kind
    })
}
