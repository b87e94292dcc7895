//! Validates the data and the types of ConfigMaps and Secrets.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::{
    field::{Causes, Field},
    name::{self, NameRule},
};

/// The maximum size of the data of an object, in bytes.
const MAX_SIZE: usize = 1024 * 1024;

/// The keys that a Secret of a type must have.
const REQUIRED_KEYS: [(&str, &[&str]); 4] = [
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
];
/// The annotation with the ServiceAccount of a token Secret.
const SERVICE_ACCOUNT: &str = "kubernetes.io/service-account.name";

/// Validates a ConfigMap: keys, no key in both `data` and `binaryData`, and the total size (upstream:
/// `ValidateConfigMap`).
pub(super) fn validate_config_map(map: &Field<'_>, causes: &mut Causes) {
    let (data, binary) = (map.child("data"), map.child("binaryData"));
    let mut size = 0;
    for (key, value) in data.entries() {
        validate_key(&data, key, causes);
        if binary.map().is_some_and(|binary| binary.contains_key(key)) {
            data.key(key).invalid_part(causes, key, "duplicate of key present in binaryData");
        }
        size += value.as_str().unwrap_or_default().len();
    }
    for (key, value) in binary.entries() {
        validate_key(&binary, key, causes);
        size += decoded_size(value);
    }
    if size > MAX_SIZE {
        // The server reports the whole object as too long.
        Field::top(map.value).too_long(causes, MAX_SIZE);
    }
}

/// Validates a Secret: keys, total size, and the fields that its type requires (upstream: `ValidateSecret`).
pub(super) fn validate_secret(secret: &Field<'_>, causes: &mut Causes) {
    let data = secret.child("data");
    let mut size = 0;
    for (key, value) in data.entries() {
        validate_key(&data, key, causes);
        size += decoded_size(value);
    }
    if size > MAX_SIZE {
        data.too_long(causes, MAX_SIZE);
    }
    validate_secret_type(secret, &data, causes);
}

/// Validates that a Secret of a built-in type has the keys or the annotation that its type requires. `data` is the field `data` of the
/// Secret.
fn validate_secret_type(secret: &Field<'_>, data: &Field<'_>, causes: &mut Causes) {
    let type_ = secret.child("type").text();
    let has = |key: &str| data.map().is_some_and(|data| data.contains_key(key));
    match type_ {
        "kubernetes.io/service-account-token" => {
            let annotations = secret.nested(&["metadata", "annotations"]);
            annotations.key(SERVICE_ACCOUNT).require(causes, "");
        }
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            data.key("username").required(causes, "");
            data.key("password").required(causes, "");
        }
        _ => {
            let keys = REQUIRED_KEYS.iter().find(|(known, _)| *known == type_).map_or(&[][..], |(_, keys)| keys);
            for key in keys {
                let value = data.key(key);
                if !has(key) {
                    value.required(causes, "");
                } else if key.starts_with(".docker") && !holds_json_object(value.value) {
                    value.invalid_part(causes, "<secret contents redacted>", "must be valid JSON");
                }
            }
        }
    }
}

/// Returns whether the base64 text of a value is a JSON object.
fn holds_json_object(value: &Value) -> bool {
    let text = STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default();
    serde_json::from_slice::<serde_json::Map<String, Value>>(&text).is_ok()
}

/// Validates a key of a ConfigMap or a Secret.
fn validate_key(data: &Field<'_>, key: &str, causes: &mut Causes) {
    if let Some(detail) = name::violation(NameRule::Key, key) {
        data.key(key).invalid_part(causes, key, &detail);
    }
}

/// Returns the size of a base64 text after decoding, in bytes. Computes it from the length of the text, without decoding: four characters
/// are three bytes. So invalid base64, which a webhook may have set, has a size, too.
fn decoded_size(value: &Value) -> usize {
    let text = value.as_str().unwrap_or_default();
    let padding = text.bytes().rev().take(2).filter(|byte| *byte == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

/// Validates that an update of a ConfigMap or Secret with `immutable: true` changes neither `immutable` nor the fields with the names
/// `data_fields`.
pub(super) fn validate_immutable_data(new: &Field<'_>, old: &Field<'_>, data_fields: &[&str], causes: &mut Causes) {
    if *old.child("immutable").value != true {
        return;
    }
    let immutable = new.child("immutable");
    if *immutable.value != true {
        immutable.forbidden(causes, "field is immutable when `immutable` is set");
    }
    for key in data_fields {
        let (new_data, old_data) = (new.child(key), old.child(key));
        // An absent and an empty map are equal.
        if new_data.value != old_data.value && !(new_data.is_empty() && old_data.is_empty()) {
            new_data.forbidden(causes, "field is immutable when `immutable` is set");
        }
    }
}
