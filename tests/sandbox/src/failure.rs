//! Builds API errors and their `Status` objects.

use http::StatusCode;
pub(crate) use opgen_schema::Cause;
use serde_json::{Map, Value, json};

use crate::kind::Kind;

/// Why a request was refused. It becomes a `Status` (API conventions, *Response Status Kind*).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}: {message}")]
pub(crate) struct Failure {
    /// The HTTP code.
    pub code: u16,
    /// A word for programs; empty where Kubernetes gives none.
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
    /// What it is about.
    pub details: Map<String, Value>,
}

/// All causes in one sentence.
fn joined(causes: &[Cause]) -> String {
    // What is found twice is said once.
    let mut messages: Vec<String> = Vec::new();
    for cause in causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)) {
        if !messages.contains(&cause) {
            messages.push(cause);
        }
    }
    if messages.len() == 1 { messages.concat() } else { format!("[{}]", messages.join(", ")) }
}

fn to_json(cause: &Cause) -> Value {
    json!({"reason": cause.reason, "message": cause.message, "field": cause.field})
}

/// What of the details stands in the metadata: the token with which a list may go on regardless.
const CONTINUE: &str = "continue";

impl Failure {
    fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code: code.as_u16(), reason, message: message.into(), details: Map::new() }
    }

    fn with_details(mut self, kind: &Kind, name: &str) -> Self {
        self.detail("name", name);
        self.detail("group", &kind.group);
        self.detail("kind", &kind.plural);
        self
    }

    fn detail(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.details.insert(key.to_owned(), value.into());
        }
    }

    /// 404 of an object.
    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {name:?} not found", kind.resource());
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).with_details(kind, name)
    }

    /// 404 of a path that nothing serves.
    pub(crate) fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        let mut failure = Self::new(StatusCode::NOT_FOUND, "NotFound", message);
        failure.details = Map::new();
        failure
    }

    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", kind.resource());
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).with_details(kind, name)
    }

    /// 409 of a write to an older state.
    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", kind.resource());
        Self::new(StatusCode::CONFLICT, "Conflict", message).with_details(kind, name)
    }

    /// 409 about an object that a request names by its kind alone.
    pub(crate) fn conflict_of(kind: &str, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {kind} {name:?}: {why}");
        let mut failure = Self::new(StatusCode::CONFLICT, "Conflict", message);
        failure.detail("name", name);
        failure.detail("kind", kind);
        failure
    }

    /// The object was changed since it was read.
    pub(crate) fn stale(kind: &Kind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    /// 422 with a cause for each field.
    pub(crate) fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        Self::invalid_as(&kind.kind, kind.error_group(), name, causes)
    }

    /// The same of an object that is of no kind, or of another than was asked for.
    pub(crate) fn invalid_as(kind: &str, group: &str, name: &str, causes: &[Cause]) -> Self {
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!("{kind}{dot}{group} {name:?} is invalid: {}", joined(causes));
        let mut failure = Self::unprocessable(message);
        failure.detail("name", name);
        failure.detail("group", group);
        failure.detail("kind", kind);
        failure.with_causes(causes.iter().map(to_json).collect())
    }

    /// 422 about the options of a list or a watch.
    pub(crate) fn invalid_list_options(causes: &[Cause]) -> Self {
        Self::invalid_as("ListOptions", "meta.k8s.io", "", causes)
    }

    /// 500 of an error that Kubernetes gives no reason for.
    pub(crate) fn unexplained(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }

    /// 406 where none of the wished forms is served.
    pub(crate) fn no_such_representation() -> Self {
        let served = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
        Self::not_acceptable(format!("406: Not Acceptable\n\nAvailable representations: {served}"))
    }

    /// 406 where the media type is served, but not in the shape.
    pub(crate) fn no_such_shape() -> Self {
        let served = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
        Self::not_acceptable(format!("only the following media types are accepted: {served}"))
    }

    /// With when it may be tried again.
    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.details.insert("retryAfterSeconds".into(), seconds.into());
        self
    }

    /// With how a list may go on regardless.
    pub(crate) fn with_continue(mut self, token: String) -> Self {
        self.details.insert(CONTINUE.into(), token.into());
        self
    }

    /// 422 of a write that was refused before anybody looked at the object: it names the resource.
    pub(crate) fn invalid_resource(kind: &Kind, name: &str, cause: &Cause) -> Self {
        let message = format!("{} {name:?} is invalid: {}: {}", kind.resource(), cause.field, cause.message);
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
            .with_details(kind, name)
            .with_causes(vec![to_json(cause)])
    }

    /// 422 about the options of a request, which have no name.
    pub(crate) fn invalid_options(kind: &str, cause: &Cause) -> Self {
        let message = format!("{kind}.meta.k8s.io \"\" is invalid: {}: {}", cause.field, cause.message);
        let mut failure = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message);
        failure.detail("group", "meta.k8s.io");
        failure.detail("kind", kind);
        failure.with_causes(vec![to_json(cause)])
    }

    /// 422 without a field, as an unusable patch has it.
    pub(crate) fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
    }

    /// 403 about an object, by authorization or by a rule.
    pub(crate) fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let named = if name.is_empty() { String::new() } else { format!(" {name:?}") };
        let message = format!("{}{named} is forbidden: {why}", kind.resource());
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).with_details(kind, name)
    }

    /// 403 about a resource, whether or not a kind stands for it.
    pub(crate) fn forbidden_resource(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let named = if name.is_empty() { String::new() } else { format!(" {name:?}") };
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!("{plural}{dot}{group}{named} is forbidden: {why}");
        let mut failure = Self::new(StatusCode::FORBIDDEN, "Forbidden", message);
        failure.detail("name", name);
        failure.detail("group", group);
        failure.detail("kind", plural);
        failure
    }

    /// 403 about a path.
    pub(crate) fn forbidden_path(why: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Forbidden", format!("forbidden: {why}"))
    }

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

    /// 410: the version is too old to go on from.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// 504, as for a resourceVersion that is not there yet.
    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
    }

    /// 429 of an eviction or a busy server.
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

    /// Adds causes without a field of their own, as a conflict of an apply has.
    pub(crate) fn with_causes(mut self, causes: Vec<Value>) -> Self {
        self.details.insert("causes".into(), causes.into());
        self
    }

    /// The `Status` object.
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

    /// Whether there are details even if they say nothing: so it is where Kubernetes refuses before it looks at a kind.
    fn always_has_details(&self) -> bool {
        let by_reason = matches!(self.reason, "NotFound" | "MethodNotAllowed" | "Invalid" | "Forbidden");
        by_reason || self.message.starts_with("406: ") || self.message.starts_with("415: ")
    }
}
