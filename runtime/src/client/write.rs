//! Writes that resource nodes don't make.

use super::{CallError, Client, Target, part::by, to_bytes};
use crate::shape::Verb;
use kube::api::{DeleteParams, ListParams, Patch};
use serde_json::Value;

impl Client {
    /// Replaces an object; it carries the version that it was read at.
    pub(crate) async fn replace(&self, target: Target<'_>, object: &Value, manager: &str) -> Result<Value, CallError> {
        let params = by(manager);
        let request = to_bytes(object).and_then(|body| {
            target.requests().replace(&target.segment(), &params, body).map_err(kube::Error::BuildRequest)
        });
        self.json(request).await.map_err(|source| target.failed(Verb::Update, "", source))
    }

    /// Changes an object by a JSON merge patch.
    pub(crate) async fn merge(&self, target: Target<'_>, patch: &Value, manager: &str) -> Result<Value, CallError> {
        self.patch(target, &Patch::Merge(patch), manager).await
    }

    /// Asks for the deletion of all objects that match a label selector.
    pub(crate) async fn delete_collection(&self, target: Target<'_>, labels: Option<&str>) -> Result<(), CallError> {
        let params = ListParams { label_selector: labels.map(str::to_owned), ..ListParams::default() };
        let requests = target.requests();
        let request =
            requests.delete_collection(&DeleteParams::background(), &params).map_err(kube::Error::BuildRequest);
        let answer = self.json(request).await;
        answer.map(drop).map_err(|source| target.failed(Verb::DeleteCollection, "", source))
    }
}
