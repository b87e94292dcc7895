//! Removes duplicate owner references and warns about them.

use serde_json::Value;

use crate::object;

/// Removes duplicate owner references, and returns a warning if there were any.
pub(super) fn drop_repeated(object: &mut Value, after_admission: bool) -> Option<String> {
    let listed = object::at(object, &["metadata", "ownerReferences"])?.as_array()?;
    if listed.len() < 2 {
        return None;
    }
    let mut kept: Vec<Value> = Vec::with_capacity(listed.len());
    let mut repeated = Vec::new();
    for owner in listed {
        if kept.contains(owner) {
            repeated.push(object::text(owner, &["uid"]).to_owned());
        } else {
            kept.push(owner.clone());
        }
    }
    if repeated.is_empty() {
        return None;
    }
    object::metadata_mut(object).insert("ownerReferences".into(), kept.into());
    let when = if after_admission { " after mutating admission happens" } else { "" };
    let uids = repeated.join(", ");
    Some(format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
    ))
}
