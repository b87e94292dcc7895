//! Other specs than the sample's, from the schema of its kind.

use serde_json::{Map, Value, json};

use crate::install::definition;

/// How many more are several: of Pods, say, a run is not to have hundreds.
const SEVERAL: i64 = 9;

/// The lower limit of a number is tried if it is no farther away.
const FAR: i64 = 64;

/// The samples with one field of one of them changed, a variant for each change that the schema allows. A server may still
/// refuse one.
pub(crate) fn variants(samples: &[Value], installed: &[Value]) -> Vec<Vec<Value>> {
    let mut variants = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        let Some(schema) = schema_of(sample, installed) else { continue };
        for spec in changed(&sample["spec"], &schema["properties"]["spec"]) {
            let mut all = samples.to_vec();
            all[index]["spec"] = spec;
            variants.push(all);
        }
    }
    variants
}

fn schema_of<'a>(sample: &Value, installed: &'a [Value]) -> Option<&'a Value> {
    let (group, version) = sample["apiVersion"].as_str()?.split_once('/')?;
    let definition = definition(group, sample["kind"].as_str()?, installed)?;
    let versions = definition["spec"]["versions"].as_array()?;
    let own = versions.iter().find(|own| own["name"] == version)?;
    Some(&own["schema"]["openAPIV3Schema"])
}

/// The value with one thing changed, in each way that is tried.
fn changed(value: &Value, schema: &Value) -> Vec<Value> {
    match value {
        Value::Object(map) => changed_object(map, schema),
        Value::Array(items) => changed_array(items, schema),
        _ => changed_scalar(value, schema),
    }
}

fn changed_object(map: &Map<String, Value>, schema: &Value) -> Vec<Value> {
    let mut variants = Vec::new();
    let with = |key: &str, value: Option<Value>| {
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
        variants.extend(changed(value, inner).into_iter().map(|value| with(key, Some(value))));
        if !required.contains(&key.as_str()) {
            variants.push(with(key, None));
        }
    }
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        if !map.contains_key(key) {
            variants.extend(made(inner).map(|value| with(key, Some(value))));
        }
    }
    if let Some(value) = made(&schema["additionalProperties"]) {
        variants.push(with("another", Some(value)));
    }
    variants
}

fn changed_array(items: &[Value], schema: &Value) -> Vec<Value> {
    let mut variants = Vec::new();
    for (index, item) in items.iter().enumerate() {
        for value in changed(item, &schema["items"]) {
            let mut items = items.to_vec();
            items[index] = value;
            variants.push(items.into());
        }
    }
    if let Some((_, rest)) = items.split_last() {
        variants.push(rest.to_vec().into());
    }
    if let Some(more) = made(&schema["items"]) {
        variants.push([items, &[more]].concat().into());
    }
    variants
}

fn changed_scalar(value: &Value, schema: &Value) -> Vec<Value> {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter(|word| *word != value && !word.is_null()).cloned().collect();
    }
    match value {
        Value::Bool(is) => vec![json!(!is)],
        Value::Number(number) => {
            let Some(number) = number.as_i64() else { return Vec::new() };
            let least = schema["minimum"].as_f64().map_or(i64::MIN, |least| least as i64);
            let most = schema["maximum"].as_f64().map_or(i64::MAX, |most| most as i64);
            // At limits, and with several, things are switched on or off.
            let several = number.saturating_add(SEVERAL).min(most);
            let mut numbers = vec![number.saturating_sub(1), number.saturating_add(1), several];
            numbers.extend((number.saturating_sub(least) <= FAR).then_some(least));
            numbers.retain(|other| *other != number && (least..=most).contains(other));
            numbers.sort_unstable();
            numbers.dedup();
            numbers.into_iter().map(Value::from).collect()
        }
        Value::String(text) => changed_text(text, schema),
        _ => Vec::new(),
    }
}

/// Texts near the one that is there: they match a pattern more often than invented ones.
fn changed_text(text: &str, schema: &Value) -> Vec<Value> {
    if !schema["format"].is_null() {
        return Vec::new();
    }
    let digit = |character: char| match character.to_digit(10) {
        Some(9) => '8',
        Some(digit) => char::from_digit(digit + 1, 10).unwrap_or('1'),
        None => character,
    };
    let moved: String = text.chars().map(digit).collect();
    let longer = format!("{text}x");
    [moved, longer].into_iter().filter(|near| near != text).map(Value::from).take(1).collect()
}

/// A small value of a schema; none if that takes guessing.
fn made(schema: &Value) -> Option<Value> {
    for said in ["default", "example"] {
        if let Some(value) = schema.get(said).filter(|value| !value.is_null()) {
            return Some(value.clone());
        }
    }
    if let Some(first) = schema["enum"].get(0) {
        return Some(first.clone());
    }
    match schema["type"].as_str()? {
        "boolean" => Some(json!(true)),
        "integer" | "number" => Some(json!(schema["minimum"].as_f64().map_or(1, |least| least as i64))),
        "string" if schema["pattern"].is_null() && schema["format"].is_null() => Some(json!("another")),
        "object" => {
            let mut map = Map::new();
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                map.insert(name.to_owned(), made(&schema["properties"][name])?);
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
        let variants = changed(&json!({"image": "web:1", "replicas": 2, "mode": "a"}), &schema);
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
    fn far_limits_are_not_tried() {
        let schema = json!({"type": "integer", "minimum": -5, "maximum": 9999});
        assert_eq!(changed(&json!(0), &schema), [json!(-5), json!(-1), json!(1), json!(9)]);
        assert_eq!(changed(&json!(100), &schema), [json!(99), json!(101), json!(109)]);
        assert_eq!(changed(&json!(i64::MAX), &json!({"type": "integer"})), [json!(i64::MAX - 1)]);
    }
}
