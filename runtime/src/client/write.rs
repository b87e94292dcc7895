//! Writes beside apply, JSON patch and delete: strict creation, replacement, merge patch, deletion of a collection.

use super::{CallError, Client, Target, part::by, to_bytes};
use crate::provisioner::shape::Verb;
use http::Request;
use kube::api::{DeleteParams, ListParams, Patch};
use serde_json::Value;

impl Client {
    /// Creates an object. As for a server-side apply, a field that the server doesn't know is an error.
    pub(crate) async fn create_strictly(
        &self,
        target: Target<'_>,
        object: &Value,
        manager: &str,
    ) -> Result<Value, CallError> {
        let request = to_bytes(object)
            .and_then(|body| target.requests().create(&by(manager), body).map_err(kube::Error::BuildRequest))
            .and_then(strict);
        self.json(request).await.map_err(|source| target.failed(Verb::Create, "", source))
    }

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

/// The same request with strict field validation, for which `kube` has no parameter.
fn strict(mut request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, kube::Error> {
    let uri = request.uri().to_string();
    let separator = if uri.contains('?') { '&' } else { '?' };
    let strict = format!("{uri}{separator}fieldValidation=Strict").parse();
    *request.uri_mut() = strict.map_err(|error: http::uri::InvalidUri| kube::Error::HttpError(error.into()))?;
    Ok(request)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn strict_validation_is_added_to_whatever_a_request_asks_for() {
        for (uri, expected) in [
            ("/api/v1/secrets", "/api/v1/secrets?fieldValidation=Strict"),
            ("/api/v1/secrets?fieldManager=web", "/api/v1/secrets?fieldManager=web&fieldValidation=Strict"),
        ] {
            let request = strict(Request::post(uri).body(Vec::new()).unwrap()).unwrap();
            assert_eq!(request.uri(), expected);
        }
    }
}
