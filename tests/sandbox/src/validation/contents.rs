//! Validates ConfigMaps and Secrets.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::{
    at::{At, Causes},
    name::{self, NameRule},
};

/// The most that one may hold.
const SIZE: usize = 1024 * 1024;

/// The keys that a Secret of a type must have.
const KEYS: [(&str, &[&str]); 4] = [
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
];
const ACCOUNT: &str = "kubernetes.io/service-account.name";

pub(super) fn config_map(map: &At<'_>, causes: &mut Causes) {
    let (data, binary) = (map.child("data"), map.child("binaryData"));
    let mut size = 0;
    for (key, value) in data.entries() {
        self::key(&data, key, causes);
        if binary.map().is_some_and(|binary| binary.contains_key(key)) {
            data.key(key).invalid_part(causes, key, "duplicate of key present in binaryData");
        }
        size += value.as_str().unwrap_or_default().len();
    }
    for (key, value) in binary.entries() {
        self::key(&binary, key, causes);
        size += decoded_size(value);
    }
    if size > SIZE {
        // It is the object as a whole that is too long.
        At::top(map.value).too_long(causes, SIZE);
    }
}

pub(super) fn secret(secret: &At<'_>, causes: &mut Causes) {
    let data = secret.child("data");
    let mut size = 0;
    for (key, value) in data.entries() {
        self::key(&data, key, causes);
        size += decoded_size(value);
    }
    if size > SIZE {
        data.too_long(causes, SIZE);
    }
    typed(secret, &data, causes);
}

/// What a Secret of a known type must have.
fn typed(secret: &At<'_>, data: &At<'_>, causes: &mut Causes) {
    let type_ = secret.child("type").text();
    let has = |key: &str| data.map().is_some_and(|data| data.contains_key(key));
    match type_ {
        "kubernetes.io/service-account-token" => {
            let annotations = secret.at(&["metadata", "annotations"]);
            annotations.key(ACCOUNT).demand(causes, "");
        }
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            data.key("username").required(causes, "");
            data.key("password").required(causes, "");
        }
        _ => {
            let keys = KEYS.iter().find(|(known, _)| *known == type_).map_or(&[][..], |(_, keys)| keys);
            for key in keys {
                let at = data.key(key);
                if !has(key) {
                    at.required(causes, "");
                } else if key.starts_with(".docker") && !holds_json(at.value) {
                    at.invalid_part(causes, "<secret contents redacted>", "must be valid JSON");
                }
            }
        }
    }
}

fn holds_json(value: &Value) -> bool {
    let text = STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default();
    serde_json::from_slice::<serde_json::Map<String, Value>>(&text).is_ok()
}

fn key(data: &At<'_>, key: &str, causes: &mut Causes) {
    if let Some(why) = name::fault(NameRule::Key, key) {
        data.key(key).invalid_part(causes, key, &why);
    }
}

fn decoded_size(value: &Value) -> usize {
    let text = value.as_str().unwrap_or_default();
    text.len() / 4 * 3 - text.bytes().rev().take(2).filter(|byte| *byte == b'=').count()
}

/// What was declared immutable stays, and stays immutable.
pub(super) fn update(new: &At<'_>, old: &At<'_>, parts: &[&str], causes: &mut Causes) {
    if *old.child("immutable").value != true {
        return;
    }
    let immutable = new.child("immutable");
    if *immutable.value != true {
        immutable.forbidden(causes, "field is immutable when `immutable` is set");
    }
    for part in parts {
        let (is, was) = (new.child(part), old.child(part));
        if is.value != was.value && !(is.is_empty() && was.is_empty()) {
            is.forbidden(causes, "field is immutable when `immutable` is set");
        }
    }
}
