//! Generates, for a kind whose objects are in a NATS key-value bucket, the script that puts a sample object into the bucket.

use crate::manifest::{
    crd::definition::Definition,
    json,
    project::{KindDescription, Project},
    sample,
    yaml::HEADER,
};

/// Returns the shell script that puts a sample object of a kind into its bucket with `nats kv put`. Returns `None` for a kind without a
/// bucket, or if the definition has no schema of the controller's version.
pub(super) fn script(project: &Project, definition: &Definition) -> Option<String> {
    let is_defined_kind = |described: &&KindDescription| {
        described.kind.group == definition.group && described.kind.kind == definition.kind
    };
    let described = project.controllers.iter().find(is_defined_kind)?;
    let bucket = &described.bucket.as_ref()?.name;
    let mut object = sample::complete(project, described, definition.schema(&described.kind.version)?);
    let name = object["metadata"]["name"].as_str()?.to_owned();
    let key = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{namespace}.{name}"),
        None if described.kind.namespaced => format!("default.{name}"),
        None => name,
    };
    // A value in the bucket doesn't contain its kind, name and namespace: the bucket and the key determine them.
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|field, _| !["apiVersion", "kind"].contains(&field.as_str()));
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|field, _| !["name", "namespace"].contains(&field.as_str()));
        if metadata.is_empty() {
            object.as_object_mut()?.remove("metadata");
        }
    }
    let value = json::render(object).trim_end().replace('\'', "'\\''");
    Some(format!(
        "{HEADER}\n# Puts a sample into its bucket. The same command changes it, and `nats kv del {bucket} {key}` deletes it.\n\
         nats kv put {bucket} {key} '{value}'\n"
    ))
}
