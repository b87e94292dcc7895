//! Checks that each default in the schema of a CustomResourceDefinition is a valid value of the subschema that declares the default.

use serde_json::Value;

use crate::{
    accessor::entries,
    cause::Cause,
    part,
    schema_path::SchemaPath,
    structural::Metadata,
    violation::{Rule, Violation},
};

/// Returns the violations of the defaults of a schema and of all schemas below it. A default of an embedded resource must have
/// metadata of the definition `metadata`; with `None`, it may have any.
pub(super) fn check(schema: &Value, path: &SchemaPath, metadata: Metadata) -> Vec<Violation> {
    let mut found = Vec::new();
    check_recursively(schema, path, metadata, &mut found);
    found
}

/// Checks the default of a schema and of each schema below it, and adds the violations to `found`.
fn check_recursively(schema: &Value, path: &SchemaPath, metadata: Metadata, found: &mut Vec<Violation>) {
    if !schema.is_object() {
        return;
    }
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        let path = path.keyword("default");
        let causes = part::check(schema, default, &path.text, metadata)
            .unwrap_or_else(|| vec![Cause::invalid(path.text.as_str(), default, "must not have unknown fields")]);
        let violation = |cause| Violation::from_cause(Rule::Default, path.steps.clone(), cause);
        found.extend(causes.into_iter().map(violation));
    }
    for (name, property) in entries(schema, "properties") {
        check_recursively(property, &path.property(name), metadata, found);
    }
    check_recursively(&schema["items"], &path.items(), metadata, found);
    check_recursively(&schema["additionalProperties"], &path.additional(), metadata, found);
}
