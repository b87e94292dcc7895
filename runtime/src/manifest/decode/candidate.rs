//! Generates values at the limits of what a schema admits, with which the linter checks that the Rust type can decode them.

use opgen_schema::keyword::INT_OR_STRING;
use serde_json::{Map, Value, json};

use super::super::{crd, sample};

/// Returns values with which to test a field of `schema`: null if it is nullable, all values of an enum, and otherwise a sample and values
/// at the limits of its type. The schema may not admit all of them. If CEL rules apply to the field, null is the only value.
pub(super) fn values(schema: &Value, name: &str, has_rules: bool) -> Vec<Value> {
    let mut all = Vec::new();
    if crd::flag(schema, "nullable") {
        all.push(Value::Null);
    }
    if has_rules {
        return all;
    }
    let choices = crd::list(schema, "enum");
    if !choices.is_empty() {
        all.extend(choices.iter().cloned());
        return all;
    }
    all.push(sample::make(schema, name));
    match crd::text(schema, "type") {
        "string" => all.extend(strings(schema)),
        "integer" => all.extend(whole_numbers(schema)),
        "number" => all.extend([json!(0), json!(-1), json!(0.5), json!(1e300)]),
        "boolean" => all.extend([json!(false), json!(true)]),
        "array" => all.push(json!([])),
        "object" => {
            all.push(json!({}));
            let each = &schema["additionalProperties"];
            all.extend(["key", "0", "-", ""].into_iter().filter(|_| each.is_object()).map(|key| {
                let value = sample::make(each, name);
                json!({key: value})
            }));
        }
        _ if crd::flag(schema, INT_OR_STRING) => {
            all.extend(whole_numbers(schema).into_iter().chain(strings(schema)));
        }
        _ => all.extend([json!(true), json!(0.5), json!("-"), json!([1]), json!({"-": {"-": null}})]),
    }
    all
}

/// Returns objects to which the field `name` of `schema` may be added: for each variant of an enum that has the field, an object with the
/// required fields of the variant, then the sample, and an empty object. The schema may not admit all of them.
pub(super) fn sibling_fields(schema: &Value, name: &str, sample: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let variants = ["anyOf", "oneOf"].into_iter().flat_map(|keyword| crd::list(schema, keyword));
    let requires = |branch: &Value| crd::list(branch, "required").iter().any(|required| required == name);
    let variants_with_field = variants.filter(|branch| branch["properties"].get(name).is_some() || requires(branch));
    let object = |branch: &Value| {
        let required = [schema, branch].into_iter().flat_map(|schema| crd::list(schema, "required"));
        let field = |field: &str| {
            let (general, of_variant) = (&schema["properties"][field], &branch["properties"][field]);
            // The variant restricts a tag, by which the type distinguishes its variants, to its own value.
            let is_tag = !crd::list(of_variant, "enum").is_empty();
            (field.to_owned(), sample::make(if is_tag { of_variant } else { general }, field))
        };
        required.filter_map(Value::as_str).map(field).collect()
    };
    variants_with_field.map(object).chain([sample.clone(), Map::new()]).collect()
}

/// Returns strings that few formats accept, filled up to the minimum length; none if the schema restricts more than the length.
fn strings(schema: &Value) -> Vec<Value> {
    let is_unrestricted =
        ["pattern", "format", "allOf", "anyOf", "oneOf", "not"].iter().all(|key| schema[*key].is_null());
    let minimum = schema["minLength"].as_u64().and_then(|minimum| usize::try_from(minimum).ok()).unwrap_or_default();
    let stretched = |text: &&str| json!(format!("{text}{}", "-".repeat(minimum.saturating_sub(text.len()))));
    let candidates = ["", "-", "0", "\u{e9}"];
    candidates.iter().filter(|_| is_unrestricted).map(stretched).collect()
}

/// Returns the limits of Rust's integer types, small numbers, and the bounds of the schema.
fn whole_numbers(schema: &Value) -> Vec<Value> {
    let edges = [0, 1, -1, i64::from(i32::MIN), i64::from(i32::MAX), i64::MIN, i64::MAX];
    let bounds = ["minimum", "maximum"].iter().filter_map(|key| schema[*key].as_i64());
    edges.into_iter().chain(bounds).map(Value::from).collect()
}
