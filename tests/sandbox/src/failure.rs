//! `Failure`: the error of a request, which becomes a `Status` object.

use http::StatusCode;
pub(crate) use opgen_schema::Cause;
use serde_json::{Map, Value, json};

use crate::kind::Kind;

/// The error of a refused request. It becomes a `Status` (API conventions, *Response Status Kind*).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}: {message}")]
pub(crate) struct Failure {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable `reason`; empty if Kubernetes sets none.
    pub reason: &'static str,
    /// The human-readable `message`.
    pub message: String,
    /// The `details`, and the continue token of an expired list, which `status` moves to the metadata.
    pub details: Map<String, Value>,
}

/// Joins the distinct causes in one message, like Go's `utilerrors.Aggregate`.
fn join_causes(causes: &[Cause]) -> String {
    let mut messages: Vec<String> = Vec::new();
    for cause in causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)) {
        if !messages.contains(&cause) {
            messages.push(cause);
        }
    }
    if messages.len() == 1 { messages.concat() } else { format!("[{}]", messages.join(", ")) }
}

/// Returns a cause as a `StatusCause`.
fn to_json(cause: &Cause) -> Value {
    json!({"reason": cause.reason, "message": cause.message, "field": cause.field})
}

/// The detail that becomes a field of the metadata: the token with which a client can continue an expired list.
const CONTINUE: &str = "continue";

impl Failure {
    /// Returns a failure without details.
    fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code: code.as_u16(), reason, message: message.into(), details: Map::new() }
    }

    /// Adds the name, group and resource of an object to the details; the detail `kind` contains the plural, as in
    /// Kubernetes.
    fn with_details(mut self, kind: &Kind, name: &str) -> Self {
        self.detail("name", name);
        self.detail("group", &kind.group);
        self.detail("kind", &kind.plural);
        self
    }

    /// Adds a detail unless its value is empty.
    fn detail(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.details.insert(key.to_owned(), value.into());
        }
    }

    /// Returns a 404 for an object that does not exist.
    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {name:?} not found", kind.resource());
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).with_details(kind, name)
    }

    /// Returns a 404 for a path that the server does not serve.
    pub(crate) fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }

    /// Returns a 409 for a create of an object that exists.
    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", kind.resource());
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).with_details(kind, name)
    }

    /// Returns a 409 for a write that conflicts with the state of an object.
    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", kind.resource());
        Self::new(StatusCode::CONFLICT, "Conflict", message).with_details(kind, name)
    }

    /// Returns a 409 for an object that a request names by its kind only, without a group.
    pub(crate) fn conflict_of(kind: &str, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {kind} {name:?}: {why}");
        let mut failure = Self::new(StatusCode::CONFLICT, "Conflict", message);
        failure.detail("name", name);
        failure.detail("kind", kind);
        failure
    }

    /// Returns a 409 for a write to an object that was modified since it was read.
    pub(crate) fn stale(kind: &Kind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    /// Returns a 422 for an object, with a cause for each invalid field.
    pub(crate) fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        Self::invalid_of_kind(&kind.kind, kind.error_group(), name, causes)
    }

    /// Returns a 422 for an invalid object of a kind that is given by name, since the server does not serve it or its path is that of
    /// another kind.
    pub(crate) fn invalid_of_kind(kind: &str, group: &str, name: &str, causes: &[Cause]) -> Self {
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!("{kind}{dot}{group} {name:?} is invalid: {}", join_causes(causes));
        let mut failure = Self::unprocessable(message);
        failure.detail("name", name);
        failure.detail("group", group);
        failure.detail("kind", kind);
        failure.with_causes(causes.iter().map(to_json).collect())
    }

    /// Returns a 422 for the options of a list or a watch.
    pub(crate) fn invalid_list_options(causes: &[Cause]) -> Self {
        Self::invalid_of_kind("ListOptions", "meta.k8s.io", "", causes)
    }

    /// Returns a 500 without a reason, for errors to which Kubernetes gives none.
    pub(crate) fn internal_without_reason(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }

    /// Returns a 406 for an `Accept` header without a served media type.
    pub(crate) fn no_such_representation() -> Self {
        let media_types = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
        Self::not_acceptable(format!("406: Not Acceptable\n\nAvailable representations: {media_types}"))
    }

    /// Returns a 406 for an `Accept` header with a served media type, but an unknown `as=`.
    pub(crate) fn no_such_shape() -> Self {
        let media_types = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
        Self::not_acceptable(format!("only the following media types are accepted: {media_types}"))
    }

    /// Adds the number of seconds after which the client may retry.
    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.details.insert("retryAfterSeconds".into(), seconds.into());
        self
    }

    /// Adds the token with which a client can continue an expired list.
    pub(crate) fn with_continue(mut self, token: String) -> Self {
        self.details.insert(CONTINUE.into(), token.into());
        self
    }

    /// Returns a 422 for a write that is refused before the object is validated; its message names the resource instead
    /// of the kind.
    pub(crate) fn invalid_resource(kind: &Kind, name: &str, cause: &Cause) -> Self {
        let message = format!("{} {name:?} is invalid: {}: {}", kind.resource(), cause.field, cause.message);
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
            .with_details(kind, name)
            .with_causes(vec![to_json(cause)])
    }

    /// Returns a 422 for the options of a request, which have no name.
    pub(crate) fn invalid_options(kind: &str, cause: &Cause) -> Self {
        let message = format!("{kind}.meta.k8s.io \"\" is invalid: {}: {}", cause.field, cause.message);
        let mut failure = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message);
        failure.detail("group", "meta.k8s.io");
        failure.detail("kind", kind);
        failure.with_causes(vec![to_json(cause)])
    }

    /// Returns a 422 without causes, such as for a patch that can't be applied.
    pub(crate) fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
    }

    /// Returns a 403 for an object: authorization or admission denies the request.
    pub(crate) fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let quoted_name = if name.is_empty() { String::new() } else { format!(" {name:?}") };
        let message = format!("{}{quoted_name} is forbidden: {why}", kind.resource());
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).with_details(kind, name)
    }

    /// Returns a 403 for a resource, which need not be served.
    pub(crate) fn forbidden_resource(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let quoted_name = if name.is_empty() { String::new() } else { format!(" {name:?}") };
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!("{plural}{dot}{group}{quoted_name} is forbidden: {why}");
        let mut failure = Self::new(StatusCode::FORBIDDEN, "Forbidden", message);
        failure.detail("name", name);
        failure.detail("group", group);
        failure.detail("kind", plural);
        failure
    }

    /// Returns a 403 for a non-resource path.
    pub(crate) fn forbidden_path(why: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Forbidden", format!("forbidden: {why}"))
    }

    /// Returns a 401 for invalid credentials.
    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
    }

    pub(crate) fn unsupported_media(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    pub(crate) fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
    }

    /// Returns a 410 for a `resourceVersion` that is older than the history.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// Returns a 504, such as for a `resourceVersion` that the server has not reached yet.
    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
    }

    /// Returns a 429, such as for an eviction that a PodDisruptionBudget refuses. `retry_after_seconds` is 0 if the
    /// response names no time to retry.
    pub(crate) fn too_many(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        let mut failure = Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message);
        if retry_after_seconds > 0 {
            failure.details.insert("retryAfterSeconds".into(), retry_after_seconds.into());
        }
        failure
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    /// Sets the causes in the details.
    pub(crate) fn with_causes(mut self, causes: Vec<Value>) -> Self {
        self.details.insert("causes".into(), causes.into());
        self
    }

    /// Returns the `Status` object.
    pub(crate) fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        let mut details = self.details.clone();
        if let Some(token) = details.remove(CONTINUE) {
            status["metadata"][CONTINUE] = token;
        }
        if !details.is_empty() || self.always_has_details() {
            status["details"] = Value::Object(details);
        }
        status
    }

    /// Returns whether the `Status` contains `details` even if they are empty, as for the failures that Kubernetes
    /// builds with details.
    fn always_has_details(&self) -> bool {
        let by_reason = matches!(self.reason, "NotFound" | "MethodNotAllowed" | "Invalid" | "Forbidden");
        by_reason || self.message.starts_with("406: ") || self.message.starts_with("415: ")
    }
}
