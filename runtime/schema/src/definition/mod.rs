//! Checks the schema of one version of a CustomResourceDefinition, as kube-apiserver does.

use serde_json::Value;

pub use rules::{CompileRule, CompiledRule, at_path};

use crate::{
    keyword::KEYWORDS,
    schema_path::SchemaPath,
    step::Step,
    structural::Metadata,
    violation::{Rule, Violation},
};

mod defaults;
mod levels;
mod rules;
mod structure;

/// The keywords that the root of a schema may have if the kind has a status subresource.
const ROOT_KEYWORDS: [&str; 22] = [
    "description",
    "type",
    "format",
    "title",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "required",
    "items",
    "properties",
    "externalDocs",
    "example",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// The parts of a check that differ between callers.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// The definition of `metadata`; `None` admits any metadata in the default of an embedded resource.
    pub metadata: Metadata,
    /// The compiler of CEL rules.
    pub compile: CompileRule,
}

/// Returns the rules that the schema of `version` violates, in the order of kube-apiserver; none if it has no schema.
///
/// `version` is an entry of `spec.versions` of the definition. The errors name fields below `path`, which is the path of the
/// schema in the definition. It compiles CEL rules only if the schema violates no other rule.
pub fn check(version: &Value, path: &str, options: CheckOptions) -> Vec<Violation> {
    let (schema, path) = (&version["schema"]["openAPIV3Schema"], SchemaPath::root(path));
    if !schema.is_object() {
        return Vec::new();
    }
    let mut violations = Vec::new();
    if version["subresources"]["status"].is_object() {
        violations.extend(check_root(schema, &path));
    }
    if schema["nullable"] == true {
        let why = "nullable cannot be true at the root";
        violations.push(Violation::forbidden(Rule::RootKeyword, path.keyword("nullable"), why));
    }
    let mut structural = structure::check(schema, &path);
    // Defaults are checked only in a structural schema.
    if structural.is_empty() {
        structural = defaults::check(schema, &path, options.metadata);
    }
    let level_violations = levels::check(schema, &path);
    let is_structural = structural.is_empty() && level_violations.is_empty();
    violations.extend(structural);
    for violation in level_violations {
        // Two checks may report the same error.
        if !violations.iter().any(|known| known.cause == violation.cause) {
            violations.push(violation);
        }
    }
    if is_structural {
        violations.extend(rules::check(schema, &path, options.compile));
    }
    violations
}

/// Checks the type and the keywords of the root schema of a kind with a status subresource. Returns the first violation, or `None` if the
/// root is valid.
fn check_root(schema: &Value, path: &SchemaPath) -> Option<Violation> {
    if schema["type"].is_string() && schema["type"] != "object" {
        let why =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        return Some(Violation::invalid(Rule::RootType, path.keyword("type"), &schema["type"], why));
    }
    let disallowed = KEYWORDS.into_iter().find(|key| !ROOT_KEYWORDS.contains(key) && !is_zero_value(&schema[*key]))?;
    let names: Vec<String> = ROOT_KEYWORDS.iter().map(|key| go_name(key)).collect();
    let why = format!(
        "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
        names.join(" ")
    );
    let mut violation = Violation::invalid(Rule::RootKeyword, path.clone(), schema, &why);
    violation.path.push(Step::Keyword(disallowed.to_owned()));
    Some(violation)
}

/// Returns whether a keyword has the zero value of its Go type, which counts as absent.
fn is_zero_value(value: &Value) -> bool {
    value.is_null() || *value == false || value == "" || value.as_array().is_some_and(Vec::is_empty)
}

/// Returns the name of the Go field for a keyword: `MaxItems` for `maxItems`, `XListType` for `x-kubernetes-list-type`.
fn go_name(key: &str) -> String {
    let words = key.strip_prefix("x-kubernetes-").map_or(vec![key], |rest| {
        let mut words = vec!["x"];
        words.extend(rest.split('-'));
        words
    });
    let capitalize = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    };
    words.into_iter().map(capitalize).collect()
}

#[cfg(test)]
mod tests;
