//! Fixes branches (`anyOf`, `oneOf`, `allOf`, `not`), which may validate values and not define fields.

use serde_json::{Map, Value, json};

use super::super::super::lint::Findings;
use super::super::schema::BRANCH_KEYWORDS;
use opgen_schema::keyword::{INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS};

/// Bounds that apply to values of one type and ignore other values.
const BOUNDS: [&str; 8] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"];

/// Moves the type and `nullable` from the branches of `object` (the schemas in `anyOf`, `oneOf`, `allOf` and `not`) to `object` itself, and
/// removes the keywords that the API server refuses in branches.
pub(crate) fn fix_branches(object: &mut Map<String, Value>, path: &str, findings: &mut Findings) {
    hoist_type(object);
    fix_scalar_union(object, path, findings);
    let mut nullable = false;
    for keyword in BRANCH_KEYWORDS {
        let Some(mut branches) = object.remove(keyword) else { continue };
        for branch in branches.as_array_mut().into_iter().flatten() {
            // Null satisfies `anyOf` and `oneOf` if one branch allows it, and `allOf` only if all branches do.
            nullable |= keyword != "allOf" && branch["nullable"] == true;
            strip_definitions(branch, object);
        }
        if branches.as_array().is_some_and(|list| !list.is_empty()) {
            object.insert(keyword.into(), branches);
        }
    }
    if let Some(mut not) = object.remove("not") {
        strip_definitions(&mut not, object);
        object.insert("not".into(), not);
    }
    if nullable {
        object.insert("nullable".into(), json!(true));
    }
}

/// Sets the type of a schema without a type to the type that all branches of its `anyOf` or `oneOf` share.
fn hoist_type(object: &mut Map<String, Value>) {
    if object.contains_key("type") || object.contains_key(INT_OR_STRING) {
        return;
    }
    let shared = ["anyOf", "oneOf"].into_iter().find_map(|keyword| {
        let branches = object.get(keyword)?.as_array()?;
        let first = branches.first()?.get("type")?;
        branches.iter().all(|branch| branch.get("type") == Some(first)).then(|| first.clone())
    });
    if let Some(shared) = shared {
        object.insert("type".into(), shared);
    }
}

/// Replaces the branches of an untagged enum of scalars, since the API server refuses types in branches and `kube` removes them: only its
/// format still shows that a branch is a number. An integer and a string become an int-or-string with the bounds of the branches. Any other
/// union becomes a schema that accepts any value, with a warning.
fn fix_scalar_union(object: &mut Map<String, Value>, path: &str, findings: &mut Findings) {
    // A schema with a type, fields or items of its own is no untagged enum of scalars.
    if ["type", INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS, "properties", "items"]
        .iter()
        .any(|key| object.contains_key(*key))
    {
        return;
    }
    let Some(keyword) = ["anyOf", "oneOf"].into_iter().find(|keyword| object.contains_key(*keyword)) else { return };
    let Some(Value::Array(branches)) = object.get(keyword).cloned() else { return };
    if branches.is_empty() || !branches.iter().all(is_scalar) {
        return;
    }
    object.remove(keyword);
    if branches.len() == 2
        && branches.iter().filter(|branch| is_integer(branch)).count() == 1
        && branches.iter().any(may_be_string)
    {
        object.insert(INT_OR_STRING.into(), json!(true));
        if branches.iter().any(|branch| branch["format"] == "int32") {
            object.insert("minimum".into(), json!(i32::MIN));
            object.insert("maximum".into(), json!(i32::MAX));
        }
        for bound in BOUNDS {
            if let Some(value) = branches.iter().find_map(|branch| branch.get(bound)) {
                object.insert(bound.into(), value.clone());
            }
        }
        crate::manifest::crd::fix::normalize::normalize(object);
    } else {
        object.insert(PRESERVE_UNKNOWN_FIELDS.into(), json!(true));
        findings.warning(
            path,
            "the schema of this untagged enum does not distinguish its variants, so it accepts any value",
            "use a number and a string, or structs, as the variants, or set on the field `#[schemars(schema_with = ...)]`",
        );
    }
}

/// Returns whether a branch describes a scalar: it has no keywords other than a type, a format, bounds, a title and a description.
fn is_scalar(branch: &Value) -> bool {
    let is_allowed = |key: &String| {
        BOUNDS.contains(&key.as_str()) || matches!(key.as_str(), "format" | "type" | "title" | "description")
    };
    branch.as_object().is_some_and(|branch| branch.keys().all(is_allowed))
        && !matches!(branch["type"].as_str(), Some("object" | "array"))
}

/// Returns whether a branch describes an integer, by its type or by a format such as `int32` or `uint64`.
fn is_integer(branch: &Value) -> bool {
    branch["type"] == "integer"
        || branch["format"].as_str().is_some_and(|format| format.trim_start_matches('u').starts_with("int"))
}

/// Returns whether a branch may describe a string: neither its type nor its format is one of another scalar.
fn may_be_string(branch: &Value) -> bool {
    let has_other_type = matches!(branch["type"].as_str(), Some("integer" | "number" | "boolean"));
    let is_number = is_integer(branch) || matches!(branch["format"].as_str(), Some("float" | "double"));
    !has_other_type && !is_number
}

/// Removes from a branch, and from its fields, items and nested branches, the keywords that the API server allows only in the outer schema:
/// documentation, defaults and `nullable` always, and a type if the outer schema has the same type.
fn strip_definitions(branch: &mut Value, outer: &Map<String, Value>) {
    let Some(object) = branch.as_object_mut() else { return };
    for key in ["description", "title", "default", "example", "nullable"] {
        object.remove(key);
    }
    if object.get("type").is_some_and(|kind| outer.get("type") == Some(kind)) {
        object.remove("type");
    }
    crate::manifest::crd::fix::normalize::normalize(object);
    for key in ["properties", "items"] {
        let Some(inner) = object.get_mut(key) else { continue };
        match (key, outer.get(key)) {
            ("properties", Some(fields)) => {
                for (name, field) in inner.as_object_mut().into_iter().flatten() {
                    if let Some(outer) = fields.get(name).and_then(Value::as_object) {
                        strip_definitions(field, outer);
                    }
                }
            }
            ("items", Some(Value::Object(outer))) => strip_definitions(inner, outer),
            _ => {}
        }
    }
    for keyword in BRANCH_KEYWORDS {
        object
            .get_mut(keyword)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
            .for_each(|nested| strip_definitions(nested, outer));
    }
}
