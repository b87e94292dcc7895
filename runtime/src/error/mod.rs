//! `Error`: the outcomes of a pass besides success, and when the operator retries after each.

pub(crate) mod call_error;
pub(crate) mod missing_rule;
pub(crate) mod not_leading;

pub use call_error::CallError;
pub use missing_rule::MissingRule;

use crate::bounds;
use not_leading::NotLeading;
use std::{borrow::Cow, error::Error as StdError, fmt};

/// The result of a provisioner, a build function, or any step of a pass.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A source of an unexpected error.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// The reason why a pass did not succeed.
///
/// The variants determine the next step, not the cause: the function that returns one decides when the object is reconciled
/// again. The operator `?` of Rust turns any `std` error into [`Error::Unexpected`], except a conflict of the API (409, or a JSON patch
/// that does not apply), which becomes [`Error::Conflict`].
///
/// # Example
///
/// ```
/// use opgen::{Error, Result};
///
/// fn replicas(text: &str) -> Result<i32> {
///     let replicas = text.parse::<i32>()?;
///     if replicas < 0 {
///         return Err(Error::user_action("NegativeReplicas", "set spec.replicas to 0 or more"));
///     }
///     Ok(replicas)
/// }
///
/// assert!(matches!(replicas("three"), Err(Error::Unexpected(_))));
/// assert!(matches!(replicas("-1"), Err(Error::UserAction { .. })));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The work is not finished, and nothing is wrong. The object is reconciled again after the requeue interval (10 s by
    /// default) or when something that it waits for changes.
    Yield {
        /// One PascalCase word for the condition.
        reason: Cow<'static, str>,
        /// A sentence for the condition. It must be the same for the same state, or each pass would write the status.
        message: String,
    },
    /// Another client changed the same object, or this replica lost the lead. The object is reconciled again after 100 ms, doubled
    /// with each further conflict in a row, and the status does not mention it. After six conflicts in a row (about 5 s) it counts
    /// as [`Error::Unexpected`].
    Conflict(BoxError),
    /// An unexpected failure. The status gets a text without internal details, the log the whole error, and the pass is retried.
    Unexpected(BoxError),
    /// Only a change of the spec can help. The object is not reconciled until its generation changes.
    UserAction {
        /// One PascalCase word for the condition.
        reason: Cow<'static, str>,
        /// The change that the user should make.
        message: String,
    },
    /// A retry can't help. The object is not reconciled until it changes or the operator restarts.
    Terminal {
        /// One PascalCase word for the condition.
        reason: Cow<'static, str>,
        /// A sentence for the condition.
        message: String,
    },
}

impl Error {
    /// Returns a yield; see [`yield_because`] for the form that ends a function.
    pub fn yielding(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::Yield { reason: reason.into(), message: message.into() }
    }

    /// Returns an error that only a change of the spec can solve.
    pub fn user_action(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::UserAction { reason: reason.into(), message: message.into() }
    }

    /// Returns an error that no retry can solve.
    pub fn terminal(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::Terminal { reason: reason.into(), message: message.into() }
    }

    /// Returns an unexpected error.
    pub fn unexpected(source: impl Into<BoxError>) -> Self {
        Self::Unexpected(source.into())
    }

    /// Returns an error for an obstacle that may disappear by itself or that somebody may remove. It is retried like an
    /// unexpected error, and the status contains the whole sentence.
    pub fn blocked(reason: &'static str, sentence: impl Into<String>) -> Self {
        Self::Unexpected(Box::new(BlockedError { reason, sentence: sentence.into() }))
    }

    /// Returns a conflict for an obstacle that is usually gone soon. If it persists, the status contains the whole sentence.
    pub(crate) fn conflict(reason: &'static str, sentence: impl Into<String>) -> Self {
        Self::Conflict(Box::new(BlockedError { reason, sentence: sentence.into() }))
    }

    /// Returns the rank of the error. If several nodes of a pass fail, the pass reports the error with the lowest rank.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Terminal { .. } => 0,
            Self::UserAction { .. } => 1,
            Self::Unexpected(_) => 2,
            Self::Conflict(_) => 3,
            Self::Yield { .. } => 4,
        }
    }
}

/// An unexpected error whose text everybody who can read the object may see.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub(crate) struct BlockedError {
    pub(crate) reason: &'static str,
    pub(crate) sentence: String,
}

/// Returns the reason and the message of a condition for an unexpected error. They contain only details that everybody who can read the
/// object may see: no text of an unknown error, and no message of the API server about a Secret.
pub(crate) fn condition_text(source: &(dyn std::error::Error + 'static)) -> (&'static str, String) {
    if let Some(blocked) = source.downcast_ref::<BlockedError>() {
        return (blocked.reason, blocked.sentence.clone());
    }
    let Some(call) = source.downcast_ref::<CallError>() else {
        return ("Errored", "an unexpected error occurred; see the operator's log".to_owned());
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
    // A message of the API server quotes values of the object, so the condition must not show one about a Secret.
    match call.status().filter(|_| call.kind.kind != "Secret") {
        Some(status) if matches!(status.code, 400 | 403 | 422) => {
            ("Refused", format!("{call}: {}", bounds::foreign(&status.message)))
        }
        _ => ("Errored", format!("{call}; see the operator's log")),
    }
}

/// Returns a yield as an error, with which a function ends: its work is not done, and a later pass continues it.
///
/// # Errors
/// Always [`Error::Yield`].
pub fn yield_because<T>(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Result<T> {
    Err(Error::yielding(reason, message))
}

// `Error` doesn't implement `std::error::Error`; this allows the conversion from every other error by `?`.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    /// Converts an error to [`Error::Conflict`] if the API server reported a conflict, or if a write was not sent because this replica is
    /// not the leader; any other error to [`Error::Unexpected`].
    fn from(source: E) -> Self {
        let error: &(dyn StdError + 'static) = &source;
        let is_conflict = match error.downcast_ref::<kube::Error>() {
            Some(kube::Error::Api(status)) => status.code == 409 && status.reason == "Conflict",
            // The replica that leads now reconciles the object.
            Some(client_error) => NotLeading::is_cause_of(client_error),
            None => error.downcast_ref::<CallError>().is_some_and(CallError::is_conflict),
        };
        if is_conflict { Self::Conflict(Box::new(source)) } else { Self::Unexpected(Box::new(source)) }
    }
}

impl fmt::Display for Error {
    /// Writes the reason and the message of the error, or the chain of causes of a conflict or an unexpected error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yield { reason, message }
            | Self::UserAction { reason, message }
            | Self::Terminal { reason, message } => write!(f, "{reason}: {message}"),
            Self::Conflict(source) | Self::Unexpected(source) => write!(f, "{}", ErrorChain(source.as_ref())),
        }
    }
}

/// An error, displayed with its causes on one line, each once, and without the wrappers of `kube`.
pub(crate) struct ErrorChain<'a>(pub(crate) &'a (dyn StdError + 'static));

impl fmt::Display for ErrorChain<'_> {
    /// Writes the texts of the error and of its causes, from the outermost to the innermost, separated by `: `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut previous, mut next) = (String::new(), Some(self.0));
        while let Some(error) = next {
            let (text, source) = text_and_cause(error);
            // Many crates repeat the text of the cause in their own text, so that a text within the previous one is skipped.
            if let Some(text) = text.filter(|text| previous.is_empty() || !previous.contains(text)) {
                write!(f, "{}{text}", if previous.is_empty() { "" } else { ": " })?;
                previous = text;
            }
            next = source;
        }
        Ok(())
    }
}

/// Returns the text of an error, or `None` if it only wraps another error, and the cause of the error. The text of an error of the API
/// server is its message with the status code.
fn text_and_cause<'a>(error: &'a (dyn StdError + 'static)) -> (Option<String>, Option<&'a (dyn StdError + 'static)>) {
    if let Some(wrapped) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref)
        && wrapped.is::<kube::Error>()
    {
        return (None, Some(wrapped));
    }
    // The cause of a `CallError` is in a box.
    let boxed = || error.downcast_ref::<Box<kube::Error>>().map(Box::as_ref);
    match error.downcast_ref::<kube::Error>().or_else(boxed) {
        Some(kube::Error::Api(status)) => (Some(status_text(status)), None),
        Some(kube::Error::Service(_) | kube::Error::HyperError(_) | kube::Error::ReadEvents(_)) => {
            (None, error.source())
        }
        _ => (Some(error.to_string()), error.source()),
    }
}

/// Returns the text of a `Status` object of the API server: its message, or else its reason, with the status code.
fn status_text(status: &kube::core::Status) -> String {
    match (status.message.as_str(), status.reason.as_str()) {
        ("", "") => format!("the API server answered with {}", status.code),
        ("", reason) => format!("{reason} ({})", status.code),
        (message, _) => format!("{message} ({})", status.code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kind::kind_of, shape::Verb};
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    fn api(code: u16, reason: &str) -> kube::Error {
        let status = serde_json::from_value(serde_json::json!({"code": code, "reason": reason, "message": "m"}));
        kube::Error::Api(Box::new(status.unwrap_or_default()))
    }

    #[test]
    fn a_conflict_of_the_api_server_becomes_the_variant_conflict() {
        assert!(matches!(Error::from(api(409, "Conflict")), Error::Conflict(_)));
    }

    #[test]
    fn already_exists_is_not_a_conflict() {
        assert!(matches!(Error::from(api(409, "AlreadyExists")), Error::Unexpected(_)));
    }

    #[test]
    fn an_error_chain_has_the_message_of_the_api_server_and_no_debug_form() {
        assert_eq!(ErrorChain(&api(500, "InternalError")).to_string(), "m (500)");
        let (kind, name, source) = (kind_of::<ConfigMap>(), "web".to_owned(), Box::new(api(422, "Invalid")));
        let call = CallError { verb: Verb::Patch, kind, subresource: "", namespace: None, name, source };
        assert_eq!(ErrorChain(&call).to_string(), "failed to patch ConfigMap web: m (422)");
        let silent = || kube::Error::Service("the API server did not answer".into());
        assert_eq!(ErrorChain(&silent()).to_string(), "the API server did not answer");
        let events = kube::Error::ReadEvents(std::io::Error::other(silent()));
        assert_eq!(ErrorChain(&events).to_string(), "the API server did not answer");
    }

    /// For the statuses 400, 403 and 422, the condition quotes the shortened message of the API server; for others and for Secrets, none.
    #[test]
    fn a_refusal_is_quoted_in_a_condition_on_one_line_except_one_about_a_secret() {
        let refused = |kind, code, message: &str| {
            let status = serde_json::from_value(serde_json::json!({"code": code, "message": message}));
            let source = Box::new(kube::Error::Api(Box::new(status.unwrap_or_default())));
            let (namespace, name) = (Some("shop".to_owned()), "web".to_owned());
            condition_text(&CallError { verb: Verb::Patch, kind, subresource: "", namespace, name, source })
        };
        let message = format!("spec: Invalid value:\n\t\"hunter2\"\r\n{}", "x".repeat(100_000));
        for code in [400, 403, 422] {
            let (reason, text) = refused(kind_of::<ConfigMap>(), code, &message);
            assert_eq!(reason, "Refused", "{code}");
            let start = "failed to patch ConfigMap shop/web: spec: Invalid value: \"hunter2\" xxx";
            assert!(text.starts_with(start) && text.ends_with("x…"), "{code}: {text}");
            assert!(text.chars().count() < 1_100 && !text.contains(char::is_control), "{code}: {text}");
            let of_secret = refused(kind_of::<Secret>(), code, &message);
            assert_eq!(of_secret, ("Errored", "failed to patch Secret shop/web; see the operator's log".to_owned()));
        }
        let (reason, text) = refused(kind_of::<ConfigMap>(), 500, &message);
        assert_eq!((reason, &*text), ("Errored", "failed to patch ConfigMap shop/web; see the operator's log"));
    }

    #[test]
    fn a_chain_says_each_cause_once() {
        let inner = std::io::Error::other("disk full");
        #[derive(Debug, thiserror::Error)]
        #[error("failed to write")]
        struct Outer(#[source] std::io::Error);
        let error = Error::from(Outer(inner));
        assert_eq!(error.to_string(), "failed to write: disk full");
    }
}
