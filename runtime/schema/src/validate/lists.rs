//! Checks that lists of type set or map have no duplicates.

use serde_json::{Map, Value};

use super::correlation::key_values;
use crate::{
    cause::Cause,
    keywords::{Keywords, ListType},
};

/// Returns an error for each duplicate in a list of type set or map.
pub(super) fn check(keywords: &Keywords, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    check_value(keywords, object, "", &mut causes);
    causes
}

/// Reports duplicate items of sets and list maps, in a value at `path` and below it.
fn check_value(keywords: &Keywords, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                if let Some(schema) = keywords.properties.get(name) {
                    let dot = if path.is_empty() { "" } else { "." };
                    check_value(schema, value, &format!("{path}{dot}{name}"), causes);
                } else if let Some(schema) = &keywords.additional {
                    check_value(schema, value, &format!("{path}[{name}]"), causes);
                }
            }
        }
        Value::Array(items) => {
            match &keywords.list {
                ListType::Atomic => {}
                ListType::Set => report_duplicates(items, path, causes, |item| item.clone()),
                ListType::Map(keys) => report_duplicates(items, path, causes, |item| {
                    let values = keys.iter().zip(key_values(keys, item));
                    let values = values.filter_map(|(key, value)| Some((key.clone(), value?.clone())));
                    Value::Object(values.collect::<Map<_, _>>())
                }),
            }
            if let Some(schema) = &keywords.items {
                for (index, item) in items.iter().enumerate() {
                    check_value(schema, item, &format!("{path}[{index}]"), causes);
                }
            }
        }
        _ => {}
    }
}

/// Reports the second of several items with the same key, but not the third and further ones. `key` returns what must be unique in an item.
fn report_duplicates(items: &[Value], path: &str, causes: &mut Vec<Cause>, key: impl Fn(&Value) -> Value) {
    let keys: Vec<Value> = items.iter().map(key).collect();
    for (index, key) in keys.iter().enumerate() {
        if keys.iter().take(index).filter(|earlier| *earlier == key).count() == 1 {
            let message = format!("Duplicate value: {}", super::outcome::format_value(key));
            causes.push(Cause { reason: "FieldValueDuplicate", message, field: format!("{path}[{index}]") });
        }
    }
}
