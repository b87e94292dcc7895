//! Sets the metadata that only the server sets, such as uid, creation time and generated names.

use serde_json::Value;

use crate::{object, server::Server};

/// The number of random characters in a generated name.
const SUFFIX_LENGTH: usize = 5;

/// Generates a name if the object has only `generateName`.
pub(crate) fn generate_name(server: &Server, object: &mut Value) {
    let prefix = object::text(object, &["metadata", "generateName"]);
    if object::name(object).is_empty() && !prefix.is_empty() {
        // A name that may become a label has at most 63 characters.
        let prefix: String = prefix.chars().take(63 - SUFFIX_LENGTH).collect();
        let name = format!("{prefix}{}", server.environment.suffix(SUFFIX_LENGTH));
        object::metadata_mut(object).insert("name".into(), name.into());
    }
}

/// Sets uid and creation time of a new object, and removes metadata that a client can't set.
pub(crate) fn fill_metadata(server: &Server, object: &mut Value) {
    let (uid, time) = (server.environment.uid(), server.environment.time());
    let metadata = object::metadata_mut(object);
    for key in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"] {
        metadata.remove(key);
    }
    // A kind without generations keeps the written value; 0 is removed.
    if metadata.get("generation").is_some_and(|generation| *generation == 0) {
        metadata.remove("generation");
    }
    metadata.insert("uid".into(), uid.into());
    metadata.insert("creationTimestamp".into(), time.into());
}

/// Restores the metadata that a client can't change from the old state. Does not remove a deletion timestamp that a client
/// adds, because validation rejects it with an error.
pub(crate) fn keep_metadata(new: &mut Value, old: &Value) {
    let metadata = object::metadata_mut(new);
    for key in ["uid", "creationTimestamp", "generation", "selfLink", "resourceVersion"] {
        match object::at(old, &["metadata", key]) {
            Some(value) => metadata.insert(key.into(), value.clone()),
            None => metadata.remove(key),
        };
    }
    for key in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        if let Some(value) = object::at(old, &["metadata", key]) {
            metadata.insert(key.into(), value.clone());
        }
    }
}
