//! Sends the writes of hand-written tree nodes: replaces objects, sends merge patches, and deletes all objects that a label selector
//! matches.

use super::{CallError, Client, Target, subresource::post_params, to_bytes};
use crate::shape::Verb;
use kube::api::{DeleteParams, ListParams, Patch};
use serde::de::IgnoredAny;
use serde_json::Value;

impl Client {
    /// Replaces an object. `object` contains the resourceVersion that was read, so a change since then is a conflict.
    pub(crate) async fn replace(&self, target: Target<'_>, object: &Value, manager: &str) -> Result<Value, CallError> {
        let params = post_params(manager);
        let request = to_bytes(object).and_then(|body| {
            target.requests().replace(&target.segment(), &params, body).map_err(kube::Error::BuildRequest)
        });
        self.json(request).await.map_err(|source| target.call_error(Verb::Update, "", source))
    }

    /// Changes an object by a JSON merge patch.
    pub(crate) async fn merge(&self, target: Target<'_>, patch: &Value, manager: &str) -> Result<Value, CallError> {
        self.patch(target, &Patch::Merge(patch), manager).await
    }

    /// Deletes all objects of the target that match the label selector `labels`, or all without a selector, with background propagation.
    pub(crate) async fn delete_collection(&self, target: Target<'_>, labels: Option<&str>) -> Result<(), CallError> {
        let params = ListParams { label_selector: labels.map(str::to_owned), ..ListParams::default() };
        let requests = target.requests();
        let request =
            requests.delete_collection(&DeleteParams::background(), &params).map_err(kube::Error::BuildRequest);
        let response = self.json::<IgnoredAny>(request).await;
        response.map(drop).map_err(|source| target.call_error(Verb::DeleteCollection, "", source))
    }
}
