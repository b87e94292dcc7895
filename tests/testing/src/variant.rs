//! Generates variants of the sample objects of a test, with other specs: each variant changes one field as its schema allows.

use serde_json::{Map, Value, json};

use crate::path::find_definition;

/// How much a number is raised at most: larger numbers of Pods slow a run down.
const LARGE_STEP: i64 = 9;

/// How far the lower limit of a number may be away to be a variant.
const MAX_DISTANCE: i64 = 64;

/// Returns variants of the samples: copies of the list in which one field in the spec of one sample has another value that its OpenAPI
/// schema allows. The server may still reject a variant.
pub(crate) fn variants(samples: &[Value], installed: &[Value]) -> Vec<Vec<Value>> {
    let mut variants = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        let Some(schema) = sample_schema(sample, installed) else { continue };
        for spec in mutations(&sample["spec"], &schema["properties"]["spec"]) {
            let mut all = samples.to_vec();
            all[index]["spec"] = spec;
            variants.push(all);
        }
    }
    variants
}

/// Returns the OpenAPI schema for the version of a sample; `None` if no installed CustomResourceDefinition defines its kind and version.
fn sample_schema<'a>(sample: &Value, installed: &'a [Value]) -> Option<&'a Value> {
    let (group, version) = sample["apiVersion"].as_str()?.split_once('/')?;
    let definition = find_definition(group, sample["kind"].as_str()?, installed)?;
    let versions = definition["spec"]["versions"].as_array()?;
    let served = versions.iter().find(|other| other["name"] == version)?;
    Some(&served["schema"]["openAPIV3Schema"])
}

/// Returns the mutations of a value, each with one change.
fn mutations(value: &Value, schema: &Value) -> Vec<Value> {
    match value {
        Value::Object(map) => mutations_of_object(map, schema),
        Value::Array(items) => mutations_of_array(items, schema),
        _ => mutations_of_scalar(value, schema),
    }
}

/// Returns the mutations of an object: each with one field mutated, one optional field removed, or one field or map entry added.
fn mutations_of_object(map: &Map<String, Value>, schema: &Value) -> Vec<Value> {
    let mut variants = Vec::new();
    // Returns the object with another value of a field, or without the field.
    let with_field = |key: &str, value: Option<Value>| {
        let mut map = map.clone();
        match value {
            Some(value) => drop(map.insert(key.to_owned(), value)),
            None => drop(map.remove(key)),
        }
        Value::Object(map)
    };
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, value) in map {
        let inner = if schema["properties"][key].is_null() {
            &schema["additionalProperties"]
        } else {
            &schema["properties"][key]
        };
        variants.extend(mutations(value, inner).into_iter().map(|value| with_field(key, Some(value))));
        if !required.contains(&key.as_str()) {
            variants.push(with_field(key, None));
        }
    }
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        if !map.contains_key(key) {
            variants.extend(example(inner).map(|value| with_field(key, Some(value))));
        }
    }
    if let Some(value) = example(&schema["additionalProperties"]) {
        variants.push(with_field("another", Some(value)));
    }
    variants
}

/// Returns the mutations of a list: one for each mutation of an item, one without the last item, and one with a further item.
fn mutations_of_array(items: &[Value], schema: &Value) -> Vec<Value> {
    let mut variants = Vec::new();
    for (index, item) in items.iter().enumerate() {
        for value in mutations(item, &schema["items"]) {
            let mut items = items.to_vec();
            items[index] = value;
            variants.push(items.into());
        }
    }
    if let Some((_, rest)) = items.split_last() {
        variants.push(rest.to_vec().into());
    }
    if let Some(more) = example(&schema["items"]) {
        variants.push([items, &[more]].concat().into());
    }
    variants
}

/// Returns the mutations of a scalar: the other values of its enum, the other boolean, numbers near it and a near minimum, or a similar
/// text.
fn mutations_of_scalar(value: &Value, schema: &Value) -> Vec<Value> {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter(|word| *word != value && !word.is_null()).cloned().collect();
    }
    match value {
        Value::Bool(value) => vec![json!(!value)],
        Value::Number(number) => {
            let Some(number) = number.as_i64() else { return Vec::new() };
            let minimum = schema["minimum"].as_f64().map_or(i64::MIN, |minimum| minimum as i64);
            let maximum = schema["maximum"].as_f64().map_or(i64::MAX, |maximum| maximum as i64);
            // A limit, such as 0, and a larger number often switch a feature off or on.
            let large = number.saturating_add(LARGE_STEP).min(maximum);
            let mut numbers = vec![number.saturating_sub(1), number.saturating_add(1), large];
            numbers.extend((number.saturating_sub(minimum) <= MAX_DISTANCE).then_some(minimum));
            numbers.retain(|other| *other != number && (minimum..=maximum).contains(other));
            numbers.sort_unstable();
            numbers.dedup();
            numbers.into_iter().map(Value::from).collect()
        }
        Value::String(text) => mutations_of_text(text, schema),
        _ => Vec::new(),
    }
}

/// Returns one text similar to the current one, with its digits raised or else with a character more, since it matches a pattern of the
/// schema more often than an arbitrary text. Returns none if the schema has a format.
fn mutations_of_text(text: &str, schema: &Value) -> Vec<Value> {
    if !schema["format"].is_null() {
        return Vec::new();
    }
    let next_digit = |character: char| match character.to_digit(10) {
        Some(9) => '8',
        Some(digit) => char::from_digit(digit + 1, 10).unwrap_or('1'),
        None => character,
    };
    let shifted: String = text.chars().map(next_digit).collect();
    let longer = format!("{text}x");
    [shifted, longer].into_iter().filter(|similar| similar != text).map(Value::from).take(1).collect()
}

/// Returns a value that an OpenAPI schema is likely to allow: its default, its example, the first value of its enum, or a simple value of
/// its type with the required fields. `None` if the schema has no type, or a pattern or format for a text.
pub(crate) fn example(schema: &Value) -> Option<Value> {
    for key in ["default", "example"] {
        if let Some(value) = schema.get(key).filter(|value| !value.is_null()) {
            return Some(value.clone());
        }
    }
    if let Some(first) = schema["enum"].get(0) {
        return Some(first.clone());
    }
    match schema["type"].as_str()? {
        "boolean" => Some(json!(true)),
        "integer" | "number" => Some(json!(schema["minimum"].as_f64().map_or(1, |minimum| minimum as i64))),
        "string" if schema["pattern"].is_null() && schema["format"].is_null() => Some(json!("another")),
        "object" => {
            let mut map = Map::new();
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                map.insert(name.to_owned(), example(&schema["properties"][name])?);
            }
            Some(Value::Object(map))
        }
        "array" => Some(json!([])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_is_changed_removed_and_added() {
        let schema = json!({
            "type": "object", "required": ["image"],
            "properties": {
                "image": {"type": "string"},
                "replicas": {"type": "integer", "minimum": 0, "maximum": 4},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "debug": {"type": "boolean"},
            },
        });
        let variants = mutations(&json!({"image": "web:1", "replicas": 2, "mode": "a"}), &schema);
        let expected = [
            json!({"image": "web:2", "replicas": 2, "mode": "a"}),
            json!({"image": "web:1", "replicas": 2, "mode": "b"}),
            json!({"image": "web:1", "replicas": 2}),
            json!({"image": "web:1", "replicas": 0, "mode": "a"}),
            json!({"image": "web:1", "replicas": 1, "mode": "a"}),
            json!({"image": "web:1", "replicas": 3, "mode": "a"}),
            json!({"image": "web:1", "replicas": 4, "mode": "a"}),
            json!({"image": "web:1", "mode": "a"}),
            json!({"image": "web:1", "replicas": 2, "mode": "a", "debug": true}),
        ];
        assert_eq!(variants, expected);
    }

    #[test]
    fn far_limits_are_no_variants() {
        let schema = json!({"type": "integer", "minimum": -5, "maximum": 9999});
        assert_eq!(mutations(&json!(0), &schema), [json!(-5), json!(-1), json!(1), json!(9)]);
        assert_eq!(mutations(&json!(100), &schema), [json!(99), json!(101), json!(109)]);
        assert_eq!(mutations(&json!(i64::MAX), &json!({"type": "integer"})), [json!(i64::MAX - 1)]);
    }
}
