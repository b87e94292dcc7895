//! Sets metadata that the server owns and that no write changes.

use serde_json::Value;

use crate::{object, server::Server};

/// The number of random characters in a generated name.
const SUFFIX: usize = 5;

/// Generates a name if the object has only `generateName`.
pub(crate) fn generate_name(server: &Server, object: &mut Value) {
    let begin = object::text(object, &["metadata", "generateName"]);
    if object::name(object).is_empty() && !begin.is_empty() {
        // A name that may become a label has at most 63 characters.
        let begin: String = begin.chars().take(63 - SUFFIX).collect();
        let name = format!("{begin}{}", server.environment.suffix(SUFFIX));
        object::metadata_mut(object).insert("name".into(), name.into());
    }
}

/// Sets the metadata of a new object.
pub(crate) fn fill_metadata(server: &Server, object: &mut Value) {
    let (uid, time) = (server.environment.uid(), server.environment.time());
    let metadata = object::metadata_mut(object);
    for given in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"] {
        metadata.remove(given);
    }
    // A kind without generations keeps the written value; 0 is removed.
    if metadata.get("generation").is_some_and(|generation| *generation == 0) {
        metadata.remove("generation");
    }
    metadata.insert("uid".into(), uid.into());
    metadata.insert("creationTimestamp".into(), time.into());
}

/// Restores the metadata that no write changes. A deletion timestamp that a write adds stays for validation to refuse.
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
