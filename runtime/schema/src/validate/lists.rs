//! Checks that lists of type set or map have no duplicates.

use serde_json::{Map, Value};

use super::correlation::key;
use crate::{
    cause::Cause,
    keywords::{Keywords, ListType},
};

/// What is in a list of an object more than once.
pub(super) fn check(keywords: &Keywords, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(keywords, object, "", &mut causes);
    causes
}

fn walk(keywords: &Keywords, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                if let Some(schema) = keywords.properties.get(name) {
                    let dot = if path.is_empty() { "" } else { "." };
                    walk(schema, value, &format!("{path}{dot}{name}"), causes);
                } else if let Some(schema) = &keywords.additional {
                    walk(schema, value, &format!("{path}[{name}]"), causes);
                }
            }
        }
        Value::Array(items) => {
            match &keywords.list {
                ListType::Atomic => {}
                ListType::Set => report_duplicates(items, path, causes, |item| item.clone()),
                ListType::Map(keys) => report_duplicates(items, path, causes, |item| {
                    let values = keys.iter().zip(key(keys, item));
                    let values = values.filter_map(|(key, value)| Some((key.clone(), value?.clone())));
                    Value::Object(values.collect::<Map<_, _>>())
                }),
            }
            if let Some(schema) = &keywords.items {
                for (index, item) in items.iter().enumerate() {
                    walk(schema, item, &format!("{path}[{index}]"), causes);
                }
            }
        }
        _ => {}
    }
}

/// Blames the second of each that is there more than once.
fn report_duplicates(items: &[Value], path: &str, causes: &mut Vec<Cause>, key: impl Fn(&Value) -> Value) {
    let keys: Vec<Value> = items.iter().map(key).collect();
    for (index, key) in keys.iter().enumerate() {
        if keys.iter().take(index).filter(|earlier| *earlier == key).count() == 1 {
            let message = format!("Duplicate value: {}", super::outcome::format_value(key));
            causes.push(Cause { reason: "FieldValueDuplicate", message, field: format!("{path}[{index}]") });
        }
    }
}
