//! Converts objects to the version that the rules of a webhook name, and back to that of the request.

use serde_json::Value;

use super::error::internal_error;
use crate::{failure::Failure, kind::Kind, server::Server, webhook::conversion};

/// Returns a custom resource in the version of `kind`. Calls the conversion webhook if the definition names one, and otherwise changes only
/// `apiVersion`. Returns other objects unchanged.
///
/// # Errors
/// A 500 error if the conversion fails, regardless of the failure policy.
pub(super) async fn in_version(server: &Server, kind: &Kind, object: &Value) -> Result<Value, Failure> {
    let (mut object, api_version) = (object.clone(), kind.api_version());
    let is_other = object.is_object() && object["apiVersion"] != api_version;
    let Some(custom) = kind.custom().filter(|_| is_other) else { return Ok(object) };
    if !kind.is_converted_by_webhook() {
        object["apiVersion"] = api_version.into();
        return Ok(object);
    }
    let converted = conversion::convert(server, &custom.conversion, vec![object], &api_version).await;
    let mut converted = converted.map_err(|failure| internal_error(&failure.message))?;
    Ok(converted.pop().unwrap_or_default())
}
