//! Fixes branches (`anyOf`, `oneOf`, `allOf`, `not`), which may validate values and not define fields.

use serde_json::{Map, Value, json};

use super::super::super::lint::Findings;
use super::super::schema::JUNCTORS;
use opgen_schema::keyword::{INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS};

/// Bounds that apply to values of one type and ignore other values.
const BOUNDS: [&str; 8] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"];

/// Moves the type and `nullable` from branches to the schema around them, and removes what branches may not contain.
pub(crate) fn fix_branches(object: &mut Map<String, Value>, path: &str, findings: &mut Findings) {
    hoist_type(object);
    fix_scalar_union(object, path, findings);
    let mut nullable = false;
    for junctor in JUNCTORS {
        let Some(mut branches) = object.remove(junctor) else { continue };
        for branch in branches.as_array_mut().into_iter().flatten() {
            nullable |= junctor != "allOf" && branch["nullable"] == true;
            strip_definitions(branch, object);
        }
        if branches.as_array().is_some_and(|list| !list.is_empty()) {
            object.insert(junctor.into(), branches);
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

/// Sets the type of a schema without one to the type that all its branches share.
fn hoist_type(object: &mut Map<String, Value>) {
    if object.contains_key("type") || object.contains_key(INT_OR_STRING) {
        return;
    }
    let shared = ["anyOf", "oneOf"].into_iter().find_map(|junctor| {
        let branches = object.get(junctor)?.as_array()?;
        let first = branches.first()?.get("type")?;
        branches.iter().all(|branch| branch.get("type") == Some(first)).then(|| first.clone())
    });
    if let Some(shared) = shared {
        object.insert("type".into(), shared);
    }
}

/// Fixes an untagged enum of scalars. `kube` removes the types of its branches; only the format still shows which one is a
/// number. An integer and a string become an int-or-string. Any other union accepts any value, with a warning.
fn fix_scalar_union(object: &mut Map<String, Value>, path: &str, findings: &mut Findings) {
    if ["type", INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS, "properties", "items"]
        .iter()
        .any(|key| object.contains_key(*key))
    {
        return;
    }
    let Some(junctor) = ["anyOf", "oneOf"].into_iter().find(|junctor| object.contains_key(*junctor)) else { return };
    let Some(Value::Array(branches)) = object.get(junctor).cloned() else { return };
    if branches.is_empty() || !branches.iter().all(is_scalar) {
        return;
    }
    object.remove(junctor);
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

/// Returns whether a branch describes a scalar: it has only a type, a format, bounds and texts.
fn is_scalar(branch: &Value) -> bool {
    let is_allowed = |key: &String| {
        BOUNDS.contains(&key.as_str()) || matches!(key.as_str(), "format" | "type" | "title" | "description")
    };
    branch.as_object().is_some_and(|branch| branch.keys().all(is_allowed))
        && !matches!(branch["type"].as_str(), Some("object" | "array"))
}

fn is_integer(branch: &Value) -> bool {
    branch["type"] == "integer"
        || branch["format"].as_str().is_some_and(|format| format.trim_start_matches('u').starts_with("int"))
}

fn may_be_string(branch: &Value) -> bool {
    let other = matches!(branch["type"].as_str(), Some("integer" | "number" | "boolean"));
    let number = is_integer(branch) || matches!(branch["format"].as_str(), Some("float" | "double"));
    !other && !number
}

/// Removes from a branch the keywords that only the outer schema may contain, if they are documentation or equal to the outer
/// schema's.
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
    for junctor in JUNCTORS {
        object
            .get_mut(junctor)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
            .for_each(|nested| strip_definitions(nested, outer));
    }
}
