//! `ApiFailure`: the error of a request, which becomes a `Status`.

use super::kind::BucketKind;
use crate::bucket::error::BucketError;
use opgen_schema::Cause;
use serde_json::{Map, Value, json};

/// The error of a request, with the words of kube-apiserver.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ApiFailure {
    /// The HTTP status code.
    pub(super) code: u16,
    reason: &'static str,
    pub(super) message: String,
    details: Map<String, Value>,
}

/// The error of a write or read of an object: that of a bucket, or that of the request itself.
#[derive(Debug)]
pub(super) enum RequestError {
    Bucket(BucketError),
    Failure(ApiFailure),
}

impl From<BucketError> for RequestError {
    fn from(error: BucketError) -> Self {
        Self::Bucket(error)
    }
}

impl From<ApiFailure> for RequestError {
    fn from(failure: ApiFailure) -> Self {
        Self::Failure(failure)
    }
}

impl RequestError {
    /// Returns whether another client has written in between.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Bucket(BucketError::Conflict { .. }))
    }

    /// Converts the error to the failure of a request for an object of this name.
    pub(super) fn into_failure(self, kind: &BucketKind, name: &str) -> ApiFailure {
        match self {
            Self::Failure(failure) => failure,
            Self::Bucket(error) => ApiFailure::of_bucket(error, kind, name),
        }
    }
}

impl ApiFailure {
    /// Returns whether the object could not be created because another one has its name.
    pub(super) fn is_name_taken(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: Map::new() }
    }

    /// Maps the error of a bucket to an HTTP status and a reason of Kubernetes.
    pub(super) fn of_bucket(error: BucketError, kind: &BucketKind, name: &str) -> Self {
        let message = error.to_string();
        match error {
            BucketError::Conflict { .. } => Self::stale(kind, name),
            BucketError::InvalidKey { .. } => Self::new(422, "Invalid", message).about(kind, name),
            BucketError::Invalid { .. } => Self::new(400, "BadRequest", message).about(kind, name),
            BucketError::TooLarge { .. } => Self::new(413, "RequestEntityTooLarge", message).about(kind, name),
            BucketError::Forbidden { .. } => {
                let message = format!("{} {name:?} is forbidden: {message}", kind.resource());
                Self::new(403, "Forbidden", message).about(kind, name)
            }
            BucketError::NoBucket { .. } | BucketError::Unavailable { .. } => Self::unavailable(message),
        }
    }

    /// Adds the object and its resource to the details.
    fn about(mut self, kind: &BucketKind, name: &str) -> Self {
        for (detail, value) in [("name", name), ("group", &*kind.kind.group), ("kind", &*kind.kind.plural)] {
            if !value.is_empty() {
                self.details.insert(detail.to_owned(), value.into());
            }
        }
        self
    }

    fn with_causes(mut self, causes: impl Iterator<Item = Value>) -> Self {
        self.details.insert("causes".to_owned(), causes.collect());
        self
    }

    pub(super) fn not_found(kind: &BucketKind, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} {name:?} not found", kind.resource())).about(kind, name)
    }

    /// Returns the failure for a path that is not served.
    pub(super) fn no_such_path() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }

    pub(super) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message)
    }

    pub(super) fn already_exists(kind: &BucketKind, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{} {name:?} already exists", kind.resource())).about(kind, name)
    }

    pub(super) fn conflict(kind: &BucketKind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", kind.resource());
        Self::new(409, "Conflict", message).about(kind, name)
    }

    /// Returns the failure of a write to an object that has changed since it was read.
    pub(super) fn stale(kind: &BucketKind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    /// Returns the failure 409 of an apply that changes fields of other managers. Each conflict is a manager and the path of a field.
    pub(super) fn apply_conflict(conflicts: &[(String, String)]) -> Self {
        let count = conflicts.len();
        let noun = if count == 1 { "conflict" } else { "conflicts" };
        let list = conflicts.iter().map(|(manager, field)| format!("conflict with {manager}: {field}"));
        let message = format!("Apply failed with {count} {noun}: {}", list.collect::<Vec<_>>().join(", "));
        let cause = |(manager, field): &(String, String)| {
            let message = format!("conflict with {manager}");
            json!({"reason": "FieldManagerConflict", "message": message, "field": field})
        };
        Self::new(409, "Conflict", message).with_causes(conflicts.iter().map(cause))
    }

    /// Returns the failure 422 for an object with invalid fields. The message lists all causes, as that of kube-apiserver does.
    pub(super) fn invalid(kind: &BucketKind, name: &str, causes: &[Cause]) -> Self {
        let texts: Vec<_> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let texts = if texts.len() == 1 { texts.concat() } else { format!("[{}]", texts.join(", ")) };
        let dot = if kind.kind.group.is_empty() { "" } else { "." };
        let message = format!("{}{dot}{} {name:?} is invalid: {texts}", kind.kind.kind, kind.kind.group);
        let cause = |cause: &Cause| json!({"reason": cause.reason, "message": cause.message, "field": cause.field});
        let mut failure = Self::new(422, "Invalid", message).about(kind, name).with_causes(causes.iter().map(cause));
        failure.details.insert("kind".to_owned(), kind.kind.kind.as_ref().into());
        failure
    }

    /// Returns the failure 422 for an invalid option of a request. `options` is the kind of the options, such as `PatchOptions`.
    pub(super) fn invalid_options(options: &str, cause: &Cause) -> Self {
        let message = format!("{options}.meta.k8s.io \"\" is invalid: {}: {}", cause.field, cause.message);
        let cause = json!({"reason": cause.reason, "message": cause.message, "field": cause.field});
        Self::new(422, "Invalid", message).with_causes(std::iter::once(cause))
    }

    /// Returns the failure of a patch that does not apply. As that of kube-apiserver, it names neither an object nor a field.
    pub(super) fn unprocessable_patch() -> Self {
        Self::new(422, "Invalid", "the server rejected our request due to an error in our request")
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(super) fn unsupported_media(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// Returns the failure of a list or watch from a version that is not kept any more.
    pub(super) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// Returns a failure without a reason, as kube-apiserver answers a create with a resourceVersion.
    pub(super) fn internal_without_reason(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// Returns a failure without `Retry-After`: the client would send nothing to the API server either until then.
    pub(super) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// Returns the failure as a Kubernetes `Status` object, the body of the response.
    pub(super) fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        let fields = super::object::map_mut(&mut status);
        if !self.reason.is_empty() {
            fields.insert("reason".to_owned(), self.reason.into());
        }
        if !self.details.is_empty() {
            fields.insert("details".to_owned(), self.details.clone().into());
        }
        status
    }
}
