//! Computes digests of JSON values, which tell whether a value has changed.

use fnv::FnvHasher;
use serde_json::{Number, Value};
use std::{collections::BTreeMap, hash::Hasher as _};

/// Returns a digest of a value that does not depend on the order of fields (FNV-1a of 64 bits). It tells whether a value has changed.
pub(super) fn digest(value: &Value) -> String {
    let mut hasher = FnvHasher::default();
    hash_value(value, &mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Returns a number in the form in which API servers write it: an integral float such as 1.0 as `1`, other numbers unchanged.
fn normal_form(number: &Number) -> String {
    /// Integers up to here are exact in a float.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if !number.is_i64() && !number.is_u64() && float.fract() == 0.0 && float.abs() <= MAX_EXACT => {
            format!("{float:.0}")
        }
        _ => number.to_string(),
    }
}

/// Adds a JSON value to a hash: a letter for its type, its length and its content, with the fields of objects sorted by name.
fn hash_value(value: &Value, hasher: &mut FnvHasher) {
    let mut write = |kind: u8, length: usize, bytes: &[u8]| {
        hasher.write_u8(kind);
        hasher.write(&length.to_le_bytes());
        hasher.write(bytes);
    };
    match value {
        Value::Null => write(b'n', 0, &[]),
        Value::Bool(flag) => write(b'b', 1, &[u8::from(*flag)]),
        Value::Number(number) => {
            let number = normal_form(number);
            write(b'd', number.len(), number.as_bytes());
        }
        Value::String(text) => write(b's', text.len(), text.as_bytes()),
        Value::Array(items) => {
            write(b'a', items.len(), &[]);
            items.iter().for_each(|item| hash_value(item, hasher));
        }
        Value::Object(object) => {
            write(b'o', object.len(), &[]);
            let sorted: BTreeMap<_, _> = object.iter().collect();
            for (name, value) in sorted {
                hash_value(&Value::String(name.clone()), hasher);
                hash_value(value, hasher);
            }
        }
    }
}
