//! Removes duplicate owner references and warns about them.

use serde_json::Value;

use crate::object;

/// Removes duplicate owner references from an object. Returns a warning with their uids; `None` if there are no duplicates. The warning
/// mentions admission if `after_admission` is true.
pub(super) fn remove_duplicates(object: &mut Value, after_admission: bool) -> Option<String> {
    let owners = object::at(object, &["metadata", "ownerReferences"])?.as_array()?;
    if owners.len() < 2 {
        return None;
    }
    let mut unique: Vec<Value> = Vec::with_capacity(owners.len());
    let mut duplicate_uids = Vec::new();
    for owner in owners {
        if unique.contains(owner) {
            duplicate_uids.push(object::text(owner, &["uid"]).to_owned());
        } else {
            unique.push(owner.clone());
        }
    }
    if duplicate_uids.is_empty() {
        return None;
    }
    object::metadata_mut(object).insert("ownerReferences".into(), unique.into());
    let phase = if after_admission { " after mutating admission happens" } else { "" };
    let uids = duplicate_uids.join(", ");
    Some(format!(
        ".metadata.ownerReferences contains duplicate entries{phase}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
    ))
}
