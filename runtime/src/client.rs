//! The API by kind: requests whose kind is a value, with JSON in and out.
//!
//! `kube` does the work (connection, TLS, credentials, URLs); what is added is an error that knows who wanted to do what, so
//! that a missing permission can be said in the role's own words.

mod finalizer;
mod list;
mod missing_rule;
mod part;
mod segment;
mod throttle;
pub(crate) mod timeouts;
mod write;

use crate::{
    bounds, counters::Counters, environment::Environment, error::Blocked, kind::Kind, provisioner::shape::Verb,
};
use http::Request;
use kube::{
    api::{DeleteParams, Patch, PatchParams, PostParams, ValidationDirective},
    client::Body,
    core::Request as Requests,
};
pub(crate) use list::{PAGE_SIZE, Selectors};
pub use missing_rule::MissingRule;
use serde_json::Value;
use std::fmt;

/// A request that failed: what was tried on which object, and the cause.
#[derive(Debug, thiserror::Error)]
#[error("failed to {} {}", verb.as_str(), self.object())]
#[non_exhaustive]
pub struct CallError {
    /// What was tried.
    pub verb: Verb,
    /// On which kind.
    pub kind: Kind,
    /// On which subresource; empty for the object itself.
    pub subresource: &'static str,
    /// In which namespace, if any.
    pub namespace: Option<String>,
    /// On which object; empty where all were meant.
    pub name: String,
    /// What the client or the server said.
    #[source]
    pub source: Box<kube::Error>,
}

impl CallError {
    fn status(&self) -> Option<&kube::core::Status> {
        match self.source.as_ref() {
            kube::Error::Api(status) => Some(status),
            _ => None,
        }
    }

    fn code(&self) -> u16 {
        self.status().map_or(0, |status| status.code)
    }

    /// The object was changed, or made anew, since it was read; or a JSON patch does not fit it, which is no 409.
    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(|status| status.code == 409 && status.reason == "Conflict") || self.is_unmet_patch()
    }

    /// A JSON patch did not find what it tests for, or the place that it changes. The server carries a patch out before it looks
    /// at the version that the patch names, so that a finalizer whose place has moved is this, and no 409. It names neither an
    /// object nor a field, as it does where a value is refused.
    fn is_unmet_patch(&self) -> bool {
        let Some(status) = self.status().filter(|status| status.code == 422) else { return false };
        let nothing =
            |details: &kube::core::response::StatusDetails| details.name.is_empty() && details.causes.is_empty();
        self.verb == Verb::Patch && status.details.as_ref().is_none_or(nothing)
    }

    /// There is no such object, or no such kind.
    pub fn is_not_found(&self) -> bool {
        self.code() == 404
    }

    /// The role doesn't allow it. Admission (a quota, a policy, a webhook) refuses with the same code, and no role helps there;
    /// only an authorizer's words name a verb and a resource.
    pub fn is_forbidden(&self) -> bool {
        let said = self.status().map_or("", |status| status.message.as_str());
        self.code() == 403 && said.contains(" cannot ") && said.contains(" resource \"")
    }

    /// The API server could not be reached, or had no time or no answer: the next call may work.
    pub(crate) fn is_outage(&self) -> bool {
        match self.source.as_ref() {
            kube::Error::Api(status) => status.code == 429 || status.code >= 500,
            kube::Error::Service(_) | kube::Error::HyperError(_) => true,
            _ => false,
        }
    }

    /// The fields of which the server says that two items of a list may not have one value, or not both be without.
    pub(crate) fn fields_in_the_way(&self) -> Vec<&str> {
        let status = self.status().filter(|status| status.code == 422);
        let causes = status.and_then(|status| status.details.as_ref()).map(|details| details.causes.as_slice());
        let is_meant = |reason: &str| matches!(reason, "FieldValueDuplicate" | "FieldValueRequired");
        let meant = causes.unwrap_or_default().iter().filter(|cause| is_meant(&cause.reason));
        meant.map(|cause| cause.field.as_str()).collect()
    }

    /// Nothing can be made in a namespace that is being deleted; the server says so with the code of a missing permission.
    pub fn is_in_ending_namespace(&self) -> bool {
        let causes = self.status().and_then(|status| status.details.as_ref()).map(|details| details.causes.as_slice());
        causes.unwrap_or_default().iter().any(|cause| cause.reason == "NamespaceTerminating")
    }

    /// Nothing can be made in a namespace that does not exist.
    fn is_in_missing_namespace(&self) -> bool {
        let details = self.status().filter(|status| status.code == 404).and_then(|status| status.details.as_ref());
        self.namespace.is_some() && details.is_some_and(|details| details.kind == "namespaces")
    }

    /// The kind is going, or has just gone: its definition lets nothing new in, or there is nobody who would.
    pub(crate) fn is_api_going(&self) -> bool {
        let Some(status) = self.status() else { return false };
        let of_namespace = status.details.as_ref().is_some_and(|details| details.kind == "namespaces");
        let ends = status.message.contains("custom resource definition is terminating");
        status.code == 404 && !of_namespace || status.code == 403 && ends
    }

    fn object(&self) -> String {
        let what = if self.subresource.is_empty() {
            self.kind.kind.to_string()
        } else {
            format!("{}/{}", self.kind.kind, self.subresource)
        };
        match &self.namespace {
            Some(namespace) => format!("{what} {namespace}/{}", self.name),
            None => format!("{what} {}", self.name),
        }
    }

    /// The rule that a role lacks, in the role's words: kind, verb and scope.
    pub fn missing_rule(&self) -> MissingRule {
        let resource = match self.subresource {
            "" => self.kind.plural.to_string(),
            sub => format!("{}/{sub}", self.kind.plural),
        };
        let (group, verb) = (self.kind.group.to_string(), self.lacking());
        MissingRule { group, resource, verb, namespace: self.namespace.clone() }
    }

    /// An apply that would make the object asks for `create`, too; only the server's words say which of the two is lacking.
    fn lacking(&self) -> Verb {
        let said = self.status().map_or("", |status| status.message.as_str());
        if self.verb == Verb::Patch && said.contains("cannot create resource") { Verb::Create } else { self.verb }
    }
}

/// Reason and sentence for a condition: what may be said of an error to everybody who may read the object.
pub(crate) fn safe_sentence(source: &(dyn std::error::Error + 'static)) -> (&'static str, String) {
    if let Some(blocked) = source.downcast_ref::<Blocked>() {
        return (blocked.reason, blocked.sentence.clone());
    }
    let Some(call) = source.downcast_ref::<CallError>() else {
        return ("Errored", "an unexpected error occurred; the operator's log has it".to_owned());
    };
    if call.is_in_ending_namespace() {
        return ("NamespaceTerminating", "its namespace is being deleted".to_owned());
    }
    if call.is_in_missing_namespace() {
        let namespace = call.namespace.as_deref().unwrap_or_default();
        return ("NamespaceNotFound", format!("{call}: namespace {namespace} does not exist"));
    }
    if call.is_forbidden() {
        return ("Forbidden", call.missing_rule().to_string());
    }
    // The server's words about an object quote its values; those of a Secret are nobody's business.
    match call.status().filter(|_| call.kind.kind != "Secret") {
        Some(status) if matches!(status.code, 400 | 403 | 422) => {
            ("Refused", format!("{call}: {}", bounds::foreign(&status.message)))
        }
        _ => ("Errored", format!("{call}; the operator's log says why")),
    }
}

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

/// One object, or all of a scope, as a request needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) name: &'a str,
}

impl Target<'_> {
    fn requests(&self) -> Requests {
        let (kind, namespace) = (self.kind, self.namespace.filter(|_| self.kind.namespaced));
        let prefix = if kind.group.is_empty() { "/api" } else { "/apis" };
        let namespace = namespace.map_or(String::new(), |name| format!("/namespaces/{}", segment::segment(name)));
        Requests::new(format!("{prefix}/{}{namespace}/{}", kind.api_version(), kind.plural))
    }

    fn failed(&self, verb: Verb, subresource: &'static str, source: kube::Error) -> CallError {
        CallError {
            verb,
            kind: self.kind.clone(),
            subresource,
            namespace: self.namespace.filter(|_| self.kind.namespaced).map(str::to_owned),
            name: self.name.to_owned(),
            source: Box::new(source),
        }
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
