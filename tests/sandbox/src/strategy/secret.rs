//! Sets the defaults of Secrets: merges `stringData` into `data`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

/// Moves the values of the write-only field `stringData` into `data`, encoded as Base64.
pub(super) fn default_secret(secret: &mut Map<String, Value>) {
    let Some(Value::Object(plain)) = secret.remove("stringData") else { return };
    let Value::Object(data) = secret.entry("data").or_insert_with(|| json!({})) else { return };
    for (key, value) in plain {
        data.insert(key, STANDARD.encode(value.as_str().unwrap_or_default()).into());
    }
}
