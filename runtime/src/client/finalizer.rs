//! Finalizers: one more, one less, and never a list replaced.

use super::{CallError, Client, Target};
use crate::{cache::Header, shape::Verb};
use kube::api::Patch;
use serde_json::{Value, json};

impl Client {
    /// Adds a finalizer to exactly the state that was read; a newer one is a conflict.
    pub(crate) async fn add_finalizer(
        &self,
        target: Target<'_>,
        object: &Header,
        finalizer: &str,
        manager: &str,
    ) -> Result<Value, CallError> {
        let change = if object.finalizers.is_empty() {
            json!({"op": "add", "path": "/metadata/finalizers", "value": [finalizer]})
        } else {
            json!({"op": "add", "path": "/metadata/finalizers/-", "value": finalizer})
        };
        self.change_finalizers(target, object, change, manager).await
    }

    /// Removes a finalizer from exactly the state that was read; `None` if it isn't there.
    pub(crate) async fn remove_finalizer(
        &self,
        target: Target<'_>,
        object: &Header,
        finalizer: &str,
        manager: &str,
    ) -> Result<Option<Value>, CallError> {
        let Some(at) = object.finalizers.iter().position(|held| held == finalizer) else { return Ok(None) };
        let change = json!({"op": "remove", "path": format!("/metadata/finalizers/{at}")});
        self.change_finalizers(target, object, change, manager).await.map(Some)
    }

    /// Replacing the resourceVersion by itself makes a stale patch a 409. One that does not find its place in the list any
    /// more is a 422 before that; both are conflicts.
    async fn change_finalizers(
        &self,
        target: Target<'_>,
        object: &Header,
        change: Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let version = object.resource_version.to_string();
        let guard = json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version});
        let operations = serde_json::from_value(json!([guard, change]));
        let operations = operations.map_err(|error| target.failed(Verb::Patch, "", kube::Error::SerdeError(error)))?;
        self.patch(target, &Patch::<()>::Json(operations), manager).await
    }
}
