//! Metadata that the server sets and that no write changes.

use serde_json::Value;

use crate::{object, server::Server};

/// How many letters a generated name gets.
const SUFFIX: usize = 5;

/// Gives a name to an object that has only the beginning of one.
pub(crate) fn generate_name(server: &Server, object: &mut Value) {
    let begin = object::text(object, &["metadata", "generateName"]);
    if object::name(object).is_empty() && !begin.is_empty() {
        // A name is at most 63 letters long where it may be a label.
        let begin: String = begin.chars().take(63 - SUFFIX).collect();
        let name = format!("{begin}{}", server.environment.suffix(SUFFIX));
        object::metadata_mut(object).insert("name".into(), name.into());
    }
}

/// The metadata that a new object gets.
pub(crate) fn fill_metadata(server: &Server, object: &mut Value) {
    let (uid, time) = (server.environment.uid(), server.environment.time());
    let metadata = object::metadata_mut(object);
    for given in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"] {
        metadata.remove(given);
    }
    // Of a kind that counts no generations it stays as it was written; none is not kept.
    if metadata.get("generation").is_some_and(|generation| *generation == 0) {
        metadata.remove("generation");
    }
    metadata.insert("uid".into(), uid.into());
    metadata.insert("creationTimestamp".into(), time.into());
}

/// The metadata that no write changes. A deletion that a write invents stays for validation to refuse.
pub(crate) fn keep_metadata(new: &mut Value, old: &Value) {
    let metadata = object::metadata_mut(new);
    for kept in ["uid", "creationTimestamp", "generation", "selfLink", "resourceVersion"] {
        match object::at(old, &["metadata", kept]) {
            Some(value) => metadata.insert(kept.into(), value.clone()),
            None => metadata.remove(kept),
        };
    }
    for kept in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        if let Some(value) = object::at(old, &["metadata", kept]) {
            metadata.insert(kept.into(), value.clone());
        }
    }
}
