//! Subresources, and paths of the server that are no resources.

use super::{CallError, Client, Target, to_bytes};
use crate::{error::Blocked, shape::Verb};
use http::Request;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::Value;

impl Client {
    /// Reads a subresource.
    pub(crate) async fn get_part(&self, target: Target<'_>, part: &'static str) -> Result<Value, CallError> {
        let request = target.requests().get_subresource(part, &target.segment()).map_err(kube::Error::BuildRequest);
        self.json(request).await.map_err(|source| target.failed(Verb::Get, part, source))
    }

    /// Reads a subresource that is no JSON.
    pub(crate) async fn get_part_text(&self, target: Target<'_>, part: &'static str) -> Result<String, CallError> {
        let request = target.requests().get_subresource(part, &target.segment()).map_err(kube::Error::BuildRequest);
        self.text(request).await.map_err(|source| target.failed(Verb::Get, part, source))
    }

    /// Makes a subresource.
    pub(crate) async fn create_part(
        &self,
        target: Target<'_>,
        part: &'static str,
        body: &Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let params = by(manager);
        let request = to_bytes(body).and_then(|body| {
            let requests = target.requests();
            requests.create_subresource(part, &target.segment(), &params, body).map_err(kube::Error::BuildRequest)
        });
        self.json(request).await.map_err(|source| target.failed(Verb::Create, part, source))
    }

    /// Replaces a subresource; the object carries the version that it was read at.
    pub(crate) async fn replace_part(
        &self,
        target: Target<'_>,
        part: &'static str,
        body: &Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let params = by(manager);
        let request = to_bytes(body).and_then(|body| {
            let requests = target.requests();
            requests.replace_subresource(part, &target.segment(), &params, body).map_err(kube::Error::BuildRequest)
        });
        let request = request.map(unchecked);
        self.json(request).await.map_err(|source| target.failed(Verb::Update, part, source))
    }

    /// Changes a subresource by a JSON merge patch.
    pub(crate) async fn patch_part(
        &self,
        target: Target<'_>,
        part: &'static str,
        patch: &Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let params = PatchParams { field_manager: Some(manager.to_owned()), ..Default::default() };
        let (requests, patch) = (target.requests(), Patch::Merge(patch));
        let request =
            requests.patch_subresource(part, &target.segment(), &params, &patch).map_err(kube::Error::BuildRequest);
        self.json(request).await.map_err(|source| target.failed(Verb::Patch, part, source))
    }

    /// Reads a path of the server that is no resource.
    pub(crate) async fn get_path(&self, path: &str) -> Result<String, crate::error::Error> {
        let request = Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError);
        match self.text(request).await {
            Ok(text) => Ok(text),
            Err(kube::Error::Api(status)) if status.code == 403 => {
                let sentence = format!("the operator may not get the path {path}; its role lacks `\"{path}\": get`");
                Err(crate::error::Error::Unexpected(Box::new(Blocked { reason: "Forbidden", sentence })))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn text(&self, request: Result<Request<Vec<u8>>, kube::Error>) -> Result<String, kube::Error> {
        let (_, body) = self.bytes(request?).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

/// As `UNCHECKED`, for a request that `kube` has no parameter for.
fn unchecked(mut request: Request<Vec<u8>>) -> Request<Vec<u8>> {
    let unchecked = format!("{}&fieldValidation=Ignore", request.uri());
    if let Ok(uri) = unchecked.parse() {
        *request.uri_mut() = uri;
    }
    request
}

pub(super) fn by(manager: &str) -> PostParams {
    PostParams { field_manager: Some(manager.to_owned()), ..Default::default() }
}
