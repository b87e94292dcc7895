//! Applies the JSON patch that a policy returns (`JSONPatch{op: ..., path: ...}`).

use json_patch::{PatchErrorKind, PatchOperation};
use serde_json::Value;

/// Returns the object with a JSON patch applied. A failed `test` operation discards the whole patch without an error.
pub(super) fn apply(object: &Value, operations: &Value) -> Result<Value, String> {
    let operations: Vec<PatchOperation> =
        serde_json::from_value(operations.clone()).map_err(|error| format!("JSONPatch: {error}"))?;
    let mut new = object.clone();
    for operation in operations {
        let path = operation.path().to_string();
        match json_patch::patch_unsafe(&mut new, std::slice::from_ref(&operation)) {
            Ok(()) => {}
            Err(error) if matches!(error.kind, PatchErrorKind::TestFailed) => return Ok(object.clone()),
            Err(_) => return Err(error_text(&operation, &path)),
        }
    }
    Ok(new)
}

/// Returns the message of kube-apiserver's patch library for an operation that failed.
fn error_text(operation: &PatchOperation, path: &str) -> String {
    let name = match operation {
        PatchOperation::Add(_) => "add",
        PatchOperation::Remove(_) => "remove",
        PatchOperation::Replace(_) => "replace",
        PatchOperation::Move(_) => "move",
        PatchOperation::Copy(_) => "copy",
        PatchOperation::Test(_) => "test",
    };
    let key = path.rsplit('/').next().unwrap_or_default();
    match operation {
        PatchOperation::Remove(_) => format!(
            "JSON Patch: error in remove for path: '{path}': Unable to remove nonexistent key: {key}: missing value"
        ),
        PatchOperation::Replace(_) => {
            format!("JSON Patch: replace operation does not apply: doc is missing key: {path}: missing value")
        }
        _ => format!("JSONPatch: {name} operation does not apply: doc is missing path: {path:?}: missing value"),
    }
}
