//! The API by kind: requests whose kind is a value, with JSON in and out.
//!
//! `kube` does the work (connection, TLS, credentials, URLs); what is added is an error that knows who wanted to do what, so
//! that a missing permission can be said in the role's own words.

mod finalizer;
mod list;
mod part;
mod segment;
pub(crate) mod selectors;
mod target;
mod throttle;
pub(crate) mod timeouts;
mod write;

pub use crate::error::call_error::CallError;
pub use crate::error::missing_rule::MissingRule;
pub(crate) use crate::error::safe_sentence;
use crate::{counters::Counters, environment::Environment, shape::Verb};
use http::Request;
use kube::{
    api::{DeleteParams, Patch, PatchParams, PostParams, ValidationDirective},
    client::Body,
};
pub(crate) use selectors::PAGE_SIZE;
use serde_json::Value;
use std::fmt;
pub(crate) use target::Target;

/// What an applied object was before: there, or not.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) object: Value,
    pub(crate) created: bool,
}

/// What a request to delete an object came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deletion {
    /// There was none.
    Absent,
    /// It is removed.
    Done,
    /// It goes when nothing holds it any more: finalizers, dependents, a grace period.
    Begun,
}

/// A call in a test that has no API server.
#[derive(Debug, thiserror::Error)]
#[error("there is no API server")]
struct NoCluster;

/// A client whose requests are told their kind.
#[derive(Clone)]
pub(crate) struct Client {
    inner: kube::Client,
    /// How many objects one page of a list holds at most.
    page_size: u32,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

/// The API server is not to look for unknown fields in what the operator writes: it would answer with warnings that nobody reads.
const UNCHECKED: Option<ValidationDirective> = Some(ValidationDirective::Ignore);

impl Client {
    pub(crate) fn new(client: kube::Client) -> Self {
        Self { inner: client, page_size: PAGE_SIZE }
    }

    /// A client that sends nothing while the API server asks for that by `Retry-After`. Clones, and clients for watches, wait
    /// together.
    pub(crate) fn throttled(client: kube::Client, environment: Environment, counters: Counters) -> Self {
        Self::new(throttle::Throttle::new(environment, counters).around(client))
    }

    /// A client that reaches nothing.
    pub(crate) fn none() -> Self {
        let refuse = |_: Request<Body>| std::future::ready(Err::<http::Response<Body>, _>(NoCluster));
        Self::new(kube::Client::new(tower::service_fn(refuse), "default"))
    }

    /// How many objects one page of a list holds at most.
    pub(crate) fn page_size(&self) -> u32 {
        self.page_size
    }

    pub(crate) fn kube(&self) -> kube::Client {
        self.inner.clone()
    }

    /// A client for lists and watches, of whole objects or of metadata only.
    pub(crate) fn to_watch(&self, metadata_only: bool) -> kube::Client {
        if metadata_only { self.metadata_only() } else { self.kube() }
    }

    /// A client whose lists and watches carry metadata only: nothing else of an object comes over the wire or into memory.
    pub(crate) fn metadata_only(&self) -> kube::Client {
        const ONE: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        const LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        let inner = self.inner.clone();
        let service = tower::service_fn(move |mut request: Request<Body>| {
            let client = inner.clone();
            let watches = request.uri().query().is_some_and(|query| query.contains("watch=true"));
            let accept = http::HeaderValue::from_static(if watches { ONE } else { LIST });
            request.headers_mut().insert(http::header::ACCEPT, accept);
            async move { client.send(request).await }
        });
        kube::Client::new(service, self.inner.default_namespace())
    }

    /// The same client with metadata in place of objects.
    pub(crate) fn of_metadata(&self) -> Self {
        Self { inner: self.metadata_only(), page_size: self.page_size }
    }

    pub(crate) async fn get(&self, target: Target<'_>) -> Result<Option<Value>, CallError> {
        let request = target.requests().get(&target.segment(), &Default::default()).map_err(kube::Error::BuildRequest);
        self.found(target, request).await
    }

    /// Name, uid, labels, … of an object, without its content.
    pub(crate) async fn get_metadata(&self, target: Target<'_>) -> Result<Option<Value>, CallError> {
        let request =
            target.requests().get_metadata(&target.segment(), &Default::default()).map_err(kube::Error::BuildRequest);
        self.found(target, request).await
    }

    async fn found(
        &self,
        target: Target<'_>,
        request: Result<Request<Vec<u8>>, kube::Error>,
    ) -> Result<Option<Value>, CallError> {
        match self.json(request).await {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(source) => Err(target.failed(Verb::Get, "", source)),
        }
    }

    pub(crate) async fn create(&self, target: Target<'_>, object: &Value, manager: &str) -> Result<Value, CallError> {
        let params = PostParams { field_manager: Some(manager.to_owned()), ..Default::default() };
        let request = to_bytes(object)
            .and_then(|body| target.requests().create(&params, body).map_err(kube::Error::BuildRequest));
        self.json(request).await.map_err(|source| target.failed(Verb::Create, "", source))
    }

    /// Server-side apply, taking fields over from other managers.
    pub(crate) async fn apply(&self, target: Target<'_>, object: &Value, manager: &str) -> Result<Applied, CallError> {
        let params = PatchParams { field_validation: UNCHECKED, ..PatchParams::apply(manager).force() };
        let request = target
            .requests()
            .patch(&target.segment(), &params, &Patch::Apply(object))
            .map_err(kube::Error::BuildRequest);
        let sent = async { self.send(request?).await };
        let (status, object) = sent.await.map_err(|source| target.failed(Verb::Patch, "", source))?;
        Ok(Applied { object, created: status == http::StatusCode::CREATED })
    }

    pub(crate) async fn patch<P>(&self, target: Target<'_>, patch: &Patch<P>, manager: &str) -> Result<Value, CallError>
    where
        P: serde::Serialize + fmt::Debug + Sync,
    {
        let params =
            PatchParams { field_manager: Some(manager.to_owned()), field_validation: UNCHECKED, ..Default::default() };
        let request = target.requests().patch(&target.segment(), &params, patch).map_err(kube::Error::BuildRequest);
        self.json(request).await.map_err(|source| target.failed(Verb::Patch, "", source))
    }

    /// Asks for an object's deletion.
    pub(crate) async fn delete(&self, target: Target<'_>, params: &DeleteParams) -> Result<Deletion, CallError> {
        let request = target.requests().delete(&target.segment(), params).map_err(kube::Error::BuildRequest);
        match self.json(request).await {
            // The server answers with the object as long as something holds it, and with a status once it is removed.
            Ok(answer) if answer["kind"] == "Status" => Ok(Deletion::Done),
            Ok(_) => Ok(Deletion::Begun),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Deletion::Absent),
            Err(source) => Err(target.failed(Verb::Delete, "", source)),
        }
    }

    async fn json(&self, request: Result<Request<Vec<u8>>, kube::Error>) -> Result<Value, kube::Error> {
        Ok(self.send(request?).await?.1)
    }

    async fn send(&self, request: Request<Vec<u8>>) -> Result<(http::StatusCode, Value), kube::Error> {
        let (status, body) = self.bytes(request).await?;
        Ok((status, serde_json::from_slice(&body).map_err(kube::Error::SerdeError)?))
    }

    async fn bytes(&self, request: Request<Vec<u8>>) -> Result<(http::StatusCode, Vec<u8>), kube::Error> {
        let response = self.inner.send(request.map(Body::from)).await?;
        let status = response.status();
        let body = response.into_body().collect_bytes().await?;
        if status.is_success() {
            return Ok((status, body.into()));
        }
        let said = serde_json::from_slice::<kube::core::Status>(&body).unwrap_or_else(|_| kube::core::Status {
            message: String::from_utf8_lossy(&body).into_owned(),
            reason: status.canonical_reason().unwrap_or_default().to_owned(),
            code: status.as_u16(),
            ..Default::default()
        });
        Err(kube::Error::Api(Box::new(said)))
    }
}

/// A null is how some types write "not given"; in an apply it would be a wish of its own.
pub(crate) fn strip_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name, strip_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(strip_nulls).collect()),
        other => other,
    }
}

fn to_bytes(object: &Value) -> Result<Vec<u8>, kube::Error> {
    serde_json::to_vec(object).map_err(kube::Error::SerdeError)
}

#[cfg(test)]
mod tests;
