//! Sets the requester of CertificateSigningRequests, and restores their immutable spec.

use serde_json::{Map, Value};

use crate::{object, user::User};

/// Sets username, uid, groups and extra attributes in the spec to those of the authenticated user, and removes the fields
/// that this user does not have.
pub(super) fn set_requester(request: &mut Value, user: &User) {
    let spec = object::map_at(request, &["spec"]);
    let extra: Map<String, Value> =
        user.extra.iter().map(|(key, values)| (key.clone(), values.clone().into())).collect();
    let requester = [
        ("username", Value::from(user.name.as_str()), user.name.is_empty()),
        ("uid", Value::from(user.uid.as_str()), user.uid.is_empty()),
        ("groups", Value::from(user.groups.clone()), user.groups.is_empty()),
        ("extra", Value::Object(extra), user.extra.is_empty()),
    ];
    for (key, value, is_empty) in requester {
        object::set(spec, key, (!is_empty).then_some(value));
    }
}

/// Restores the old spec, because the spec of a CertificateSigningRequest is immutable.
pub(super) fn keep_spec(new: &mut Value, old: &Value) {
    let old_spec = object::at(old, &["spec"]).cloned();
    object::set(object::map_at(new, &[]), "spec", old_spec);
}
