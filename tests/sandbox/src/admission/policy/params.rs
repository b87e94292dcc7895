//! Finds the parameters of a policy: the objects that a binding names or selects.

use serde_json::Value;

use super::definition::{PolicyBinding, PolicyCommon};
use crate::{admission::review::Review, call::selector::LabelSelector, object};

/// The error if no parameter exists and `parameterNotFoundAction` is not `Allow`.
const NOT_FOUND: &str =
    "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";

/// Returns the parameters of a binding, one for each evaluation of the policy: a single null if the policy takes no parameters, and an
/// empty list if no parameter exists and `parameterNotFoundAction` is `Allow`.
///
/// # Errors
/// If the kind of the parameters is unknown, `paramRef.namespace` does not fit its scope, or no parameter exists.
pub(super) fn find(common: &PolicyCommon, binding: &PolicyBinding, review: &Review<'_>) -> Result<Vec<Value>, String> {
    let (Some((api_version, kind)), Value::Object(reference)) = (&common.param_kind, &binding.param) else {
        return Ok(vec![Value::Null]);
    };
    let server = review.request.server;
    let kind = server.kinds.of_kind(api_version, kind).ok_or_else(|| {
        format!(
            "failed to configure policy: failed to find resource referenced by paramKind: '{api_version}, Kind={kind}'"
        )
    })?;
    let string = |key: &str| reference.get(key).and_then(Value::as_str).unwrap_or_default();
    let namespace = match (kind.namespaced, string("namespace")) {
        (true, "") if review.namespace().is_empty() => {
            let message = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
            return Err(format!("failed to configure binding: {message}"));
        }
        (true, "") => review.namespace(),
        (true, namespace) => namespace,
        (false, "") => "",
        (false, _) => {
            let message = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`";
            return Err(format!("failed to configure binding: {message}"));
        }
    };
    let items = match reference.get("selector").filter(|selector| selector.is_object()) {
        Some(selector) => {
            let selector = LabelSelector::of_object(selector);
            let (_, mut items) = server.store.list(&kind.group_resource, Some(namespace));
            items.retain(|item| selector.matches(|key| item.label(key)));
            items
        }
        None => server.store.get(&kind.group_resource, namespace, string("name")).into_iter().collect(),
    };
    if items.is_empty() && string("parameterNotFoundAction") != "Allow" {
        return Err(NOT_FOUND.to_owned());
    }
    let params = items.iter().map(|item| {
        let mut object = item.object(&kind);
        object::metadata_mut(&mut object).remove("managedFields");
        object
    });
    Ok(params.collect())
}
