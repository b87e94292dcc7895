//! `Denied`: the refusal of a write by a webhook, with the fields that cause it.

use crate::error::BoxError;
use serde_json::{Value, json};
use std::{borrow::Cow, fmt};

/// The refusal of a write by a webhook.
///
/// The client of the API server gets the message, the code, the reason and the causes. The API server puts the name of the webhook
/// in front of the message.
///
/// # Example
///
/// ```
/// use opgen::webhook::Denied;
///
/// let denied = Denied::invalid("spec.replicas", "must be at most 5").and(Denied::required("spec.image", "set an image"));
/// assert_eq!(denied.to_string(), "spec.replicas: must be at most 5; spec.image: set an image");
/// assert_eq!((denied.code(), denied.reason(), denied.causes().len()), (422, "Invalid", 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    messages: Vec<String>,
    code: u16,
    reason: Cow<'static, str>,
    causes: Vec<DeniedCause>,
    /// Whether the webhook failed, so that the failure policy decides and not the webhook.
    pub(super) is_failure: bool,
}

/// One field that causes a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeniedCause {
    /// The path of the field, for example `spec.replicas` or `spec.ports[0].name`.
    pub field: String,
    /// The reason in the words of Kubernetes, for example `FieldValueInvalid`.
    pub reason: Cow<'static, str>,
    /// What is wrong with the value.
    pub message: String,
}

impl Denied {
    /// Refuses the write for a reason that is not a value of a field: code 403, reason `Forbidden`.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            messages: vec![message.into()],
            code: 403,
            reason: Cow::Borrowed("Forbidden"),
            causes: Vec::new(),
            is_failure: false,
        }
    }

    /// Refuses the value of a field: code 422, reason `Invalid`, cause `FieldValueInvalid`.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::of_field(field.into(), "FieldValueInvalid", message.into())
    }

    /// Refuses the absence of a field: code 422, reason `Invalid`, cause `FieldValueRequired`.
    pub fn required(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::of_field(field.into(), "FieldValueRequired", message.into())
    }

    /// Refuses a change of a field, or a value that this user may not set: code 422, reason `Invalid`, cause
    /// `FieldValueForbidden`.
    pub fn forbidden(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::of_field(field.into(), "FieldValueForbidden", message.into())
    }

    /// Reports that the function failed, for example since a request to another service failed. The failure policy of the webhook
    /// decides about the write, and the text of the error is in the log of the operator only.
    pub fn unexpected(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        let text = crate::error::ErrorChain(error.as_ref()).to_string();
        Self { code: 500, reason: Cow::Borrowed("InternalError"), is_failure: true, ..Self::new(text) }
    }

    /// Creates a refusal with the code 422 and the reason `Invalid`, for one field. `reason` is the reason of its cause, for example
    /// `FieldValueInvalid`.
    fn of_field(field: String, reason: &'static str, message: String) -> Self {
        Self {
            messages: vec![format!("{field}: {message}")],
            code: 422,
            reason: Cow::Borrowed("Invalid"),
            causes: vec![DeniedCause { field, reason: Cow::Borrowed(reason), message }],
            is_failure: false,
        }
    }

    /// Sets the HTTP code, 400 to 599, and the reason of the response, for example `409` and `Conflict`. Any other code becomes 400.
    #[must_use]
    pub fn status(mut self, code: u16, reason: impl Into<Cow<'static, str>>) -> Self {
        self.code = if (400..600).contains(&code) { code } else { 400 };
        self.reason = reason.into();
        self
    }

    /// Adds the messages and causes of another refusal. The code and the reason stay, unless the other one is a failure.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        if other.is_failure && !self.is_failure {
            return other;
        }
        self.messages.extend(other.messages);
        self.causes.extend(other.causes);
        self
    }

    /// Joins refusals, so that a client sees all of them at once.
    ///
    /// # Errors
    /// All refusals as one; none is `Ok`.
    ///
    /// ```
    /// use opgen::webhook::Denied;
    ///
    /// fn check(replicas: i32, image: &str) -> Result<(), Denied> {
    ///     let size = (replicas > 5).then(|| Denied::invalid("spec.replicas", "must be at most 5"));
    ///     let image = image.is_empty().then(|| Denied::required("spec.image", "set an image"));
    ///     Denied::all(size.into_iter().chain(image))
    /// }
    /// assert!(check(5, "shop:1").is_ok());
    /// assert_eq!(check(6, "").unwrap_err().causes().len(), 2);
    /// ```
    pub fn all(refusals: impl IntoIterator<Item = Self>) -> Result<(), Self> {
        refusals.into_iter().reduce(Self::and).map_or(Ok(()), Err)
    }

    /// Returns the HTTP code of the response.
    pub fn code(&self) -> u16 {
        self.code
    }

    /// Returns the reason of the response.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the fields that cause the refusal.
    pub fn causes(&self) -> &[DeniedCause] {
        &self.causes
    }

    /// Returns the refusal as the `status` of an admission response (a `Status` of `meta/v1`), with the fields as `details.causes`.
    pub(super) fn to_status(&self) -> Value {
        let mut status =
            json!({"status": "Failure", "message": self.to_string(), "reason": self.reason, "code": self.code});
        if !self.causes.is_empty() {
            let cause =
                |cause: &DeniedCause| json!({"field": cause.field, "reason": cause.reason, "message": cause.message});
            status["details"] = json!({"causes": self.causes.iter().map(cause).collect::<Vec<_>>()});
        }
        status
    }

    /// Creates a refusal from the `status` of an admission response, the reverse of [`Denied::to_status`]. Missing texts are empty, and a
    /// missing code is 400.
    pub(super) fn from_status(status: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let cause = |cause: &Value| DeniedCause {
            field: text(&cause["field"]),
            reason: text(&cause["reason"]).into(),
            message: text(&cause["message"]),
        };
        let causes = status["details"]["causes"].as_array().into_iter().flatten().map(cause).collect();
        let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(400);
        Self { causes, ..Self::new(text(&status["message"])).status(code, text(&status["reason"])) }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.messages.join("; "))
    }
}

impl std::error::Error for Denied {}
