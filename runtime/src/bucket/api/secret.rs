//! Moves the field `stringData` of a Secret to its `data`, as kube-apiserver does.

use super::{failure::ApiFailure, kind::BucketKind, object::map_mut};
use k8s_openapi::ByteString;
use serde_json::Value;

/// Encodes the texts in `stringData` of a Secret into its `data`. Objects of other kinds stay as they are.
///
/// # Errors
/// 400 if `stringData` is no object, or has a value that is no text.
pub(super) fn encode_string_data(kind: &BucketKind, object: &mut Value) -> Result<(), ApiFailure> {
    if !kind.kind.group.is_empty() || kind.kind.kind != "Secret" {
        return Ok(());
    }
    let texts = match map_mut(object).remove("stringData") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(texts)) => texts,
        Some(_) => return Err(ApiFailure::bad_request("stringData of the Secret must be an object")),
    };
    let data = map_mut(map_mut(object).entry("data").or_insert(Value::Null));
    for (name, text) in texts {
        let bytes = match text {
            Value::String(text) => text.into_bytes(),
            Value::Null => Vec::new(),
            _ => return Err(ApiFailure::bad_request(format!("stringData.{name} of the Secret must be a string"))),
        };
        if let Ok(encoded) = serde_json::to_value(ByteString(bytes)) {
            data.insert(name, encoded);
        }
    }
    Ok(())
}
