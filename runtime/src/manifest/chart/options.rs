//! Generates the values below `config` of the Helm chart, and their JSON Schema, from the published schema of the operator's configuration
//! file.

use crate::manifest::project::Project;
use serde_json::Value;

/// The schema that a test compares with the options in the code.
const PUBLISHED: &str = include_str!("../../../operator-configuration.schema.json");

/// The options that a release sets, by their paths, as YAML: those that the generated Deployment passes as flags.
pub(super) fn defaults(project: &Project) -> [(&'static str, &'static str); 2] {
    let metrics = if project.runs_without_kubernetes() { "\"0\"" } else { "\":8443\"" };
    [("leaderElection.enabled", "true"), ("metrics.address", metrics)]
}

/// Returns the published schema of the configuration file.
fn config_file_schema() -> Value {
    // A test reads it, so it is JSON.
    serde_json::from_str(PUBLISHED).unwrap_or_default()
}

/// Returns `apiVersion` and `kind` of the configuration file.
pub(super) fn header() -> (String, String) {
    let schema = config_file_schema();
    let text = |key: &str| schema["properties"][key]["const"].as_str().unwrap_or_default().to_owned();
    (text("apiVersion"), text("kind"))
}

/// Returns the schema of the chart's value `config`: the schema of the configuration file, without `apiVersion` and `kind`, which
/// the chart writes itself, without the connection to NATS, which the chart's values `nats` set, and without the options of webhooks
/// if the operator has none.
pub(super) fn schema(project: &Project) -> Value {
    let mut schema = config_file_schema();
    // The required fields are `apiVersion` and `kind`.
    if let Some(fields) = schema.as_object_mut() {
        for field in ["$schema", "required", "title"] {
            fields.remove(field);
        }
    }
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove("apiVersion");
        properties.remove("kind");
        properties.remove("nats");
        if !project.has_webhooks() {
            properties.remove("webhooks");
        }
    }
    schema
}

/// Returns the options as YAML: the options that a release sets with their values, and all other options as comments.
pub(super) fn values(project: &Project) -> String {
    let mut text = String::new();
    write_values(&schema(project), &defaults(project), ("", 1, false), &mut text);
    text
}

/// Writes the options of the group at `path` to `text`, indented by `depth` levels, each with its description as a comment. An option that
/// the release doesn't set is a comment, too, and so is a group without an option that the release sets; within such a group, `in_comment`
/// is true.
fn write_values(
    schema: &Value,
    defaults: &[(&str, &str)],
    (path, depth, in_comment): (&str, usize, bool),
    text: &mut String,
) {
    for (name, option) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let description = option["description"].as_str().unwrap_or_default().lines().collect::<Vec<_>>().join(" ");
        let mut line = |is_comment: bool, line: &str| {
            let indent = "  ".repeat(depth);
            // In a group that is a comment as a whole, each `#` stands at the depth of the outermost group.
            let line = match (in_comment, is_comment) {
                (true, _) => format!("  # {}{line}", "  ".repeat(depth - 1)),
                (false, true) => format!("{indent}# {line}"),
                (false, false) => format!("{indent}{line}"),
            };
            text.push_str(line.trim_end());
            text.push('\n');
        };
        if option["properties"].is_object() {
            let is_set = defaults.iter().any(|(default, _)| default.starts_with(&format!("{path}.")));
            line(!is_set, &format!("{name}:"));
            write_values(option, defaults, (&path, depth + 1, !is_set), text);
            continue;
        }
        // In a group that is a comment, a second `#` distinguishes the description from the options.
        line(true, &format!("{}{description}", if in_comment { "# " } else { "" }));
        match defaults.iter().find(|(default, _)| *default == path) {
            Some((_, value)) => line(false, &format!("{name}: {value}")),
            None => line(true, &format!("{name}:")),
        }
    }
}
