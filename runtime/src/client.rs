//! `Client`: sends API requests with JSON bodies, for kinds that are known only at run time.
//!
//! `kube` does the work: connection, TLS, credentials and URLs. This client adds errors with the verb, the kind and the name of
//! the object, from which the missing RBAC rule of a forbidden call follows.

mod finalizer;
pub(crate) mod inspected_body;
mod list;
pub(crate) mod rate_limit;
pub(crate) mod response_size;
mod segment;
pub(crate) mod selectors;
mod subresource;
mod target;
mod throttle;
pub(crate) mod timeouts;
mod write;

pub(crate) use crate::error::call_error::CallError;
pub(crate) use crate::error::condition_text;
pub(crate) use crate::error::missing_rule::MissingRule;
use crate::{
    bucket::kinds::KindsInBuckets, counters::Counters, environment::Environment, kind::Kind, shape::Verb,
    spans::call::CallSpan,
};
use http::Request;
use kube::{
    api::{DeleteParams, Patch, PatchParams, PostParams, ValidationDirective},
    client::Body,
};
pub(crate) use selectors::PAGE_SIZE;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{collections::BTreeSet, fmt};
use target::NO_SUBRESOURCE;
pub(crate) use target::Target;

/// The result of an apply: the object, and whether the apply created it.
#[derive(Debug)]
pub(crate) struct Applied<T> {
    pub(crate) object: T,
    pub(crate) created: bool,
}

/// The result of a request to delete an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deletion {
    /// The object did not exist.
    Absent,
    /// The object is removed from the API server.
    Deleted,
    /// The object has a deletion timestamp, and is removed after its finalizers, dependents and grace period.
    Started,
}

/// The error of a call in a test without an API server.
#[derive(Debug, thiserror::Error)]
#[error("there is no API server")]
struct NoCluster;

/// A client for the kinds that its requests name.
#[derive(Clone)]
pub(crate) struct Client {
    inner: kube::Client,
    /// The maximum number of objects on one page of a list.
    page_size: u32,
    /// The kinds whose objects are in buckets.
    bucket_kinds: KindsInBuckets,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

/// Turns off the validation of unknown fields in the operator's writes: the API server would answer with warnings that nobody
/// reads.
const NO_FIELD_VALIDATION: Option<ValidationDirective> = Some(ValidationDirective::Ignore);

impl Client {
    pub(crate) fn new(client: kube::Client) -> Self {
        Self { inner: client, page_size: PAGE_SIZE, bucket_kinds: KindsInBuckets::default() }
    }

    /// Wraps a client so that it sends no request while a `Retry-After` of the API server has not passed. Clones, and clients for watches
    /// that are made from it, share this delay.
    pub(crate) fn throttled(client: kube::Client, environment: Environment, counters: Counters) -> Self {
        Self::new(throttle::Throttle::new(environment, counters).wrap_client(client))
    }

    /// Returns a client whose calls all fail, for tests without a cluster.
    pub(crate) fn disconnected() -> Self {
        let refuse = |_: Request<Body>| std::future::ready(Err::<http::Response<Body>, _>(NoCluster));
        Self::new(kube::Client::new(tower::service_fn(refuse), "default"))
    }

    /// Returns the same client, which knows the kinds that it reads from buckets.
    pub(crate) fn with_bucket_kinds(&self, bucket_kinds: KindsInBuckets) -> Self {
        Self { bucket_kinds, ..self.clone() }
    }

    /// Returns whether the objects of a kind are in a bucket, and not in Kubernetes.
    pub(crate) fn is_in_bucket(&self, kind: &Kind) -> bool {
        self.bucket_kinds.contains(kind)
    }

    /// Returns the names of the buckets that don't exist, which a verb reads as empty ones.
    pub(crate) fn missing_buckets(&self) -> &BTreeSet<String> {
        self.bucket_kinds.missing()
    }

    /// Returns the maximum number of objects on one page of a list.
    pub(crate) fn page_size(&self) -> u32 {
        self.page_size
    }

    /// Returns the client of the kube crate, which shares its connections.
    pub(crate) fn kube(&self) -> kube::Client {
        self.inner.clone()
    }

    /// Returns a copy of this client that sends its requests with another client of the kube crate.
    pub(crate) fn with_kube(&self, inner: kube::Client) -> Self {
        Self { inner, ..self.clone() }
    }

    /// Returns a client for lists and watches, of whole objects or of metadata only.
    pub(crate) fn watch_client(&self, metadata_only: bool) -> kube::Client {
        if metadata_only { self.metadata_kube_client() } else { self.kube() }
    }

    /// Returns a client for lists and watches of metadata only: it sets the header `Accept` to `PartialObjectMetadata`, so that the API
    /// server sends no other part of an object.
    pub(crate) fn metadata_kube_client(&self) -> kube::Client {
        const OBJECT: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        const LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        let inner = self.inner.clone();
        let service = tower::service_fn(move |mut request: Request<Body>| {
            let client = inner.clone();
            // The events of a watch contain single objects.
            let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
            let accept = http::HeaderValue::from_static(if is_watch { OBJECT } else { LIST });
            request.headers_mut().insert(http::header::ACCEPT, accept);
            async move { client.send(request).await }
        });
        kube::Client::new(service, self.inner.default_namespace())
    }

    /// Returns a copy of this client whose lists return only the metadata of objects.
    pub(crate) fn metadata_client(&self) -> Self {
        self.with_kube(self.metadata_kube_client())
    }

    /// Reads an object; `None` if it does not exist.
    pub(crate) async fn get<T: DeserializeOwned>(&self, target: Target<'_>) -> Result<Option<T>, CallError> {
        let request = target.requests().get(&target.segment(), &Default::default()).map_err(kube::Error::BuildRequest);
        self.get_or_none(target, request).await
    }

    /// Reads the metadata of an object; `None` if it does not exist.
    pub(crate) async fn get_metadata<T: DeserializeOwned>(&self, target: Target<'_>) -> Result<Option<T>, CallError> {
        let request =
            target.requests().get_metadata(&target.segment(), &Default::default()).map_err(kube::Error::BuildRequest);
        self.get_or_none(target, request).await
    }

    /// Sends a read request and turns the response 404 into `None`.
    async fn get_or_none<T: DeserializeOwned>(
        &self,
        target: Target<'_>,
        request: Result<Request<Vec<u8>>, kube::Error>,
    ) -> Result<Option<T>, CallError> {
        match self.json(request).await {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(source) => Err(target.call_error(Verb::Get, NO_SUBRESOURCE, source)),
        }
    }

    /// Creates an object with a POST, and returns it as the API server stored it; `manager` becomes the field manager of its fields.
    pub(crate) async fn create<T: DeserializeOwned>(
        &self,
        target: Target<'_>,
        object: &Value,
        manager: &str,
    ) -> Result<T, CallError> {
        let params = PostParams { field_manager: Some(manager.to_owned()), ..Default::default() };
        let request = to_bytes(object)
            .and_then(|body| target.requests().create(&params, body).map_err(kube::Error::BuildRequest));
        self.json(request).await.map_err(|source| target.call_error(Verb::Create, NO_SUBRESOURCE, source))
    }

    /// Applies an object by server-side apply, and takes conflicting fields over from other managers.
    pub(crate) async fn apply<T: DeserializeOwned>(
        &self,
        target: Target<'_>,
        object: &Value,
        manager: &str,
    ) -> Result<Applied<T>, CallError> {
        let params = PatchParams { field_validation: NO_FIELD_VALIDATION, ..PatchParams::apply(manager).force() };
        let request = target
            .requests()
            .patch(&target.segment(), &params, &Patch::Apply(object))
            .map_err(kube::Error::BuildRequest);
        let response = async { self.send(request?).await };
        let (status, object) =
            response.await.map_err(|source| target.call_error(Verb::Patch, NO_SUBRESOURCE, source))?;
        Ok(Applied { object, created: status == http::StatusCode::CREATED })
    }

    /// Patches an object with a patch of any type, as the field manager `manager`, and returns the response as JSON.
    pub(crate) async fn patch<P>(&self, target: Target<'_>, patch: &Patch<P>, manager: &str) -> Result<Value, CallError>
    where
        P: serde::Serialize + fmt::Debug + Sync,
    {
        self.patch_as(target, patch, manager).await
    }

    /// Patches an object as the field manager `manager`, and returns the response decoded as the type `T`.
    pub(crate) async fn patch_as<P, T: DeserializeOwned>(
        &self,
        target: Target<'_>,
        patch: &Patch<P>,
        manager: &str,
    ) -> Result<T, CallError>
    where
        P: serde::Serialize + fmt::Debug + Sync,
    {
        let params = PatchParams {
            field_manager: Some(manager.to_owned()),
            field_validation: NO_FIELD_VALIDATION,
            ..Default::default()
        };
        let request = target.requests().patch(&target.segment(), &params, patch).map_err(kube::Error::BuildRequest);
        self.json(request).await.map_err(|source| target.call_error(Verb::Patch, NO_SUBRESOURCE, source))
    }

    /// Deletes an object, and returns whether it was removed, its deletion has started, or it did not exist.
    pub(crate) async fn delete(&self, target: Target<'_>, params: &DeleteParams) -> Result<Deletion, CallError> {
        let request = target.requests().delete(&target.segment(), params).map_err(kube::Error::BuildRequest);
        match self.json::<Value>(request).await {
            // The server responds with the object while something delays its removal, and with a status once it is removed.
            Ok(response) if response["kind"] == "Status" => Ok(Deletion::Deleted),
            Ok(_) => Ok(Deletion::Started),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Deletion::Absent),
            Err(source) => Err(target.call_error(Verb::Delete, NO_SUBRESOURCE, source)),
        }
    }

    /// Sends a request and returns the body of the response, parsed as JSON. A caller that needs the bytes chooses `RawValue`.
    async fn json<T: DeserializeOwned>(
        &self,
        request: Result<Request<Vec<u8>>, kube::Error>,
    ) -> Result<T, kube::Error> {
        Ok(self.send(request?).await?.1)
    }

    /// Sends a request. Returns the HTTP status and the body, parsed as JSON.
    async fn send<T: DeserializeOwned>(&self, request: Request<Vec<u8>>) -> Result<(http::StatusCode, T), kube::Error> {
        let (status, body) = self.bytes(request).await?;
        Ok((status, serde_json::from_slice(&body).map_err(kube::Error::SerdeError)?))
    }

    /// Sends a request, and returns the HTTP status and the body of a successful response. Records the resourceVersion in the body in the
    /// span of the call, if there is one.
    ///
    /// # Errors
    /// Fails with the `Status` object of the API server for any other response. A body that is no `Status` becomes its message.
    async fn bytes(&self, request: Request<Vec<u8>>) -> Result<(http::StatusCode, Vec<u8>), kube::Error> {
        let response = self.inner.send(request.map(Body::from)).await?;
        let (status, span) = (response.status(), CallSpan::of(&response));
        let body = response.into_body().collect_bytes().await?;
        if let Some(span) = span {
            span.record_version(&body);
        }
        if status.is_success() {
            return Ok((status, body.into()));
        }
        let status_body = serde_json::from_slice::<kube::core::Status>(&body).unwrap_or_else(|_| kube::core::Status {
            message: String::from_utf8_lossy(&body).into_owned(),
            reason: status.canonical_reason().unwrap_or_default().to_owned(),
            code: status.as_u16(),
            ..Default::default()
        });
        Err(kube::Error::Api(Box::new(status_body)))
    }
}

/// Removes all fields whose value is null from a JSON value, at any depth: some types serialize an absent field as null, and an apply would
/// set the field.
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
