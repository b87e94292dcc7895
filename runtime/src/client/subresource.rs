//! Reads and writes subresources, and reads non-resource URLs.

use super::{CallError, Client, Target, to_bytes};
use crate::{error::BlockedError, shape::Verb};
use http::Request;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::Value;

impl Client {
    /// Reads a subresource.
    pub(crate) async fn get_subresource(
        &self,
        target: Target<'_>,
        subresource: &'static str,
    ) -> Result<Value, CallError> {
        let request =
            target.requests().get_subresource(subresource, &target.segment()).map_err(kube::Error::BuildRequest);
        self.json(request).await.map_err(|source| target.call_error(Verb::Get, subresource, source))
    }

    /// Reads a subresource that is text, such as a log.
    pub(crate) async fn get_subresource_text(
        &self,
        target: Target<'_>,
        subresource: &'static str,
    ) -> Result<String, CallError> {
        let request =
            target.requests().get_subresource(subresource, &target.segment()).map_err(kube::Error::BuildRequest);
        self.text(request).await.map_err(|source| target.call_error(Verb::Get, subresource, source))
    }

    /// Creates a subresource, for example an eviction, and returns the response of the API server.
    pub(crate) async fn create_subresource(
        &self,
        target: Target<'_>,
        subresource: &'static str,
        body: &Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let params = post_params(manager);
        let request = to_bytes(body).and_then(|body| {
            let requests = target.requests();
            requests
                .create_subresource(subresource, &target.segment(), &params, body)
                .map_err(kube::Error::BuildRequest)
        });
        self.json(request).await.map_err(|source| target.call_error(Verb::Create, subresource, source))
    }

    /// Replaces a subresource. `body` contains the resourceVersion that was read, so a change since then is a conflict.
    pub(crate) async fn replace_subresource(
        &self,
        target: Target<'_>,
        subresource: &'static str,
        body: &Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let params = post_params(manager);
        let request = to_bytes(body).and_then(|body| {
            let requests = target.requests();
            requests
                .replace_subresource(subresource, &target.segment(), &params, body)
                .map_err(kube::Error::BuildRequest)
        });
        let request = request.map(without_field_validation);
        self.json(request).await.map_err(|source| target.call_error(Verb::Update, subresource, source))
    }

    /// Changes a subresource by a JSON merge patch, and returns the response of the API server.
    pub(crate) async fn patch_subresource(
        &self,
        target: Target<'_>,
        subresource: &'static str,
        patch: &Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let params = PatchParams { field_manager: Some(manager.to_owned()), ..Default::default() };
        let (requests, patch) = (target.requests(), Patch::Merge(patch));
        let request = requests
            .patch_subresource(subresource, &target.segment(), &params, &patch)
            .map_err(kube::Error::BuildRequest);
        self.json(request).await.map_err(|source| target.call_error(Verb::Patch, subresource, source))
    }

    /// Reads a non-resource URL of the API server, such as `/version`, as text. An error 403 names the rule that the role lacks.
    pub(crate) async fn get_path(&self, path: &str) -> Result<String, crate::error::Error> {
        let request = Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError);
        match self.text(request).await {
            Ok(text) => Ok(text),
            Err(kube::Error::Api(status)) if status.code == 403 => {
                let sentence = format!("the operator may not get the path {path}; its role lacks `\"{path}\": get`");
                Err(crate::error::Error::Unexpected(Box::new(BlockedError { reason: "Forbidden", sentence })))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Sends a request and returns the body as text.
    async fn text(&self, request: Result<Request<Vec<u8>>, kube::Error>) -> Result<String, kube::Error> {
        let (_, body) = self.bytes(request?).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

/// Adds the query parameter `fieldValidation=Ignore` to a request, since the parameters of `kube` for this request don't have it. The query
/// already has the field manager.
fn without_field_validation(mut request: Request<Vec<u8>>) -> Request<Vec<u8>> {
    let uri = format!("{}&fieldValidation=Ignore", request.uri());
    if let Ok(uri) = uri.parse() {
        *request.uri_mut() = uri;
    }
    request
}

/// Returns the parameters of a create or replace request with this field manager.
pub(super) fn post_params(manager: &str) -> PostParams {
    PostParams { field_manager: Some(manager.to_owned()), ..Default::default() }
}
