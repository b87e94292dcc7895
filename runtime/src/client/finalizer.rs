//! Adds or removes one finalizer by a JSON patch that keeps the other finalizers.

use super::{CallError, Client, Target, target::NO_SUBRESOURCE};
use crate::{cache::Header, shape::Verb};
use kube::api::Patch;
use serde_json::{Value, json};

impl Client {
    /// Adds a finalizer to an object. The call fails with a conflict if the object has changed since `object` was read.
    pub(crate) async fn add_finalizer(
        &self,
        target: Target<'_>,
        object: &Header,
        finalizer: &str,
        manager: &str,
    ) -> Result<Value, CallError> {
        // The index `-` appends to an existing list. Without a list, the patch has to create it.
        let operation = if object.finalizers.is_empty() {
            json!({"op": "add", "path": "/metadata/finalizers", "value": [finalizer]})
        } else {
            json!({"op": "add", "path": "/metadata/finalizers/-", "value": finalizer})
        };
        self.patch_finalizers(target, object, operation, manager).await
    }

    /// Removes a finalizer from an object, and returns the object. The call fails with a conflict if the object has changed since `object`
    /// was read. `None` if the object doesn't have the finalizer; then there is no call.
    pub(crate) async fn remove_finalizer(
        &self,
        target: Target<'_>,
        object: &Header,
        finalizer: &str,
        manager: &str,
    ) -> Result<Option<Value>, CallError> {
        let Some(index) = object.finalizers.iter().position(|present| present == finalizer) else { return Ok(None) };
        let operation = json!({"op": "remove", "path": format!("/metadata/finalizers/{index}")});
        self.patch_finalizers(target, object, operation, manager).await.map(Some)
    }

    /// Sends a JSON patch that fails if the object has changed since `object` was read. Besides `operation`, the patch sets the
    /// resourceVersion of `object`, so the API server responds to a stale patch with 409. It responds with 422 if the index in
    /// `metadata.finalizers` no longer exists. [`CallError::is_conflict`] is true for both codes.
    async fn patch_finalizers(
        &self,
        target: Target<'_>,
        object: &Header,
        operation: Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let version = object.resource_version.to_string();
        let version_guard = json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version});
        let operations = serde_json::from_value(json!([version_guard, operation]));
        let operations = operations
            .map_err(|error| target.call_error(Verb::Patch, NO_SUBRESOURCE, kube::Error::SerdeError(error)))?;
        self.patch(target, &Patch::<()>::Json(operations), manager).await
    }
}
