//! Branches (`anyOf`, `oneOf`, `allOf`, `not`): they may validate, not define.

use serde_json::{Map, Value, json};

use super::super::super::finding::Findings;
use super::super::schema::JUNCTORS;
use crate::manifest::crd::keyword::{EITHER, OPEN};

/// Bounds that say nothing about values of another type.
const BOUNDS: [&str; 8] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"];

pub(crate) fn mend(object: &mut Map<String, Value>, path: &str, found: &mut Findings) {
    shared_type(object);
    scalars(object, path, found);
    let mut nullable = false;
    for junctor in JUNCTORS {
        let Some(mut branches) = object.remove(junctor) else { continue };
        for branch in branches.as_array_mut().into_iter().flatten() {
            nullable |= junctor != "allOf" && branch["nullable"] == true;
            undefine(branch, object);
        }
        if branches.as_array().is_some_and(|list| !list.is_empty()) {
            object.insert(junctor.into(), branches);
        }
    }
    if let Some(mut not) = object.remove("not") {
        undefine(&mut not, object);
        object.insert("not".into(), not);
    }
    if nullable {
        object.insert("nullable".into(), json!(true));
    }
}

/// A type that all branches share is the type of the whole.
fn shared_type(object: &mut Map<String, Value>) {
    if object.contains_key("type") || object.contains_key(EITHER) {
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

/// An untagged enum of scalars: `kube` takes the types away, and what is left tells numbers by their format.
fn scalars(object: &mut Map<String, Value>, path: &str, found: &mut Findings) {
    if ["type", EITHER, OPEN, "properties", "items"].iter().any(|key| object.contains_key(*key)) {
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
        && branches.iter().any(may_be_text)
    {
        object.insert(EITHER.into(), json!(true));
        if branches.iter().any(|branch| branch["format"] == "int32") {
            object.insert("minimum".into(), json!(i32::MIN));
            object.insert("maximum".into(), json!(i32::MAX));
        }
        for bound in BOUNDS {
            if let Some(value) = branches.iter().find_map(|branch| branch.get(bound)) {
                object.insert(bound.into(), value.clone());
            }
        }
        crate::manifest::crd::mend::plain::plain(object);
    } else {
        object.insert(OPEN.into(), json!(true));
        found.warning(
            path,
            "the schema of this untagged enum doesn't say what its variants are, so any value is accepted",
            "take a number and a string, or structs, as the variants, or give the field a `#[schemars(schema_with = ...)]`",
        );
    }
}

fn is_scalar(branch: &Value) -> bool {
    let scalar = |key: &String| {
        BOUNDS.contains(&key.as_str()) || matches!(key.as_str(), "format" | "type" | "title" | "description")
    };
    branch.as_object().is_some_and(|branch| branch.keys().all(scalar))
        && !matches!(branch["type"].as_str(), Some("object" | "array"))
}

fn is_integer(branch: &Value) -> bool {
    branch["type"] == "integer"
        || branch["format"].as_str().is_some_and(|format| format.trim_start_matches('u').starts_with("int"))
}

fn may_be_text(branch: &Value) -> bool {
    let other = matches!(branch["type"].as_str(), Some("integer" | "number" | "boolean"));
    let number = is_integer(branch) || matches!(branch["format"].as_str(), Some("float" | "double"));
    !other && !number
}

/// Takes from a branch what only the schema around it may say, as far as that is the same or mere documentation.
fn undefine(branch: &mut Value, around: &Map<String, Value>) {
    let Some(object) = branch.as_object_mut() else { return };
    for key in ["description", "title", "default", "example", "nullable"] {
        object.remove(key);
    }
    if object.get("type").is_some_and(|kind| around.get("type") == Some(kind)) {
        object.remove("type");
    }
    crate::manifest::crd::mend::plain::plain(object);
    for key in ["properties", "items"] {
        let Some(inner) = object.get_mut(key) else { continue };
        match (key, around.get(key)) {
            ("properties", Some(fields)) => {
                for (name, field) in inner.as_object_mut().into_iter().flatten() {
                    if let Some(around) = fields.get(name).and_then(Value::as_object) {
                        undefine(field, around);
                    }
                }
            }
            ("items", Some(Value::Object(around))) => undefine(inner, around),
            _ => {}
        }
    }
    for junctor in JUNCTORS {
        object
            .get_mut(junctor)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
            .for_each(|nested| undefine(nested, around));
    }
}
