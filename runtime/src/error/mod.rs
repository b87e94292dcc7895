//! What a pass can end with besides success.

pub(crate) mod call_error;
pub(crate) mod missing_rule;

use crate::{bounds, client::CallError};
use std::{borrow::Cow, error::Error as StdError, fmt};

/// The result of a provisioner, a build function, or any step of a pass.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A source of an unexpected error.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a pass did not end in success.
///
/// The variants say what happens next, not what went wrong: who returns one decides when the object is looked at again.
/// Any `std` error becomes [`Error::Unexpected`] by `?`, except a conflict of the API (409, or a JSON patch that does not
/// fit), which becomes [`Error::Conflict`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Not ready yet, and nothing is wrong: the object is looked at again after the requeue interval (10 s by default)
    /// or when something it waits for changes.
    Yield {
        /// One PascalCase word for the condition.
        reason: Cow<'static, str>,
        /// A sentence for the condition; equal state must give equal text.
        message: String,
    },
    /// Somebody else wrote the same object in the meantime: looked at again after a tenth of a second, doubled
    /// with each conflict in a row; nothing is said in the status. After six in a row, some five seconds, it is taken for
    /// [`Error::Unexpected`].
    Conflict(BoxError),
    /// Something failed that should not have: said in the status by a safe sentence, in full in the log, and tried again.
    Unexpected(BoxError),
    /// Only a change of the spec can help: parked until the generation changes.
    UserAction {
        /// One PascalCase word for the condition.
        reason: Cow<'static, str>,
        /// What the user should change.
        message: String,
    },
    /// Nothing can help: parked until the operator restarts or the object changes.
    Terminal {
        /// One PascalCase word for the condition.
        reason: Cow<'static, str>,
        /// A sentence for the condition.
        message: String,
    },
}

impl Error {
    /// A yield; see [`yield_because`] for the form that ends a function.
    pub fn yielding(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::Yield { reason: reason.into(), message: message.into() }
    }

    /// An error that only a change of the spec can mend.
    pub fn user_action(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::UserAction { reason: reason.into(), message: message.into() }
    }

    /// An error that nothing can mend.
    pub fn terminal(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::Terminal { reason: reason.into(), message: message.into() }
    }

    /// An error that should not have happened.
    pub fn unexpected(source: impl Into<BoxError>) -> Self {
        Self::Unexpected(source.into())
    }

    /// Something is in the way that may go by itself or by somebody's hand: tried again like an unexpected error, but the
    /// status says the sentence as it is.
    pub fn blocked(reason: &'static str, sentence: impl Into<String>) -> Self {
        Self::Unexpected(Box::new(Blocked { reason, sentence: sentence.into() }))
    }

    /// Which of several outcomes speaks for all: the lowest. Terminal, user action, unexpected, conflict, yield.
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

/// An unexpected error whose text may be said to everybody who may read the object.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub(crate) struct Blocked {
    pub(crate) reason: &'static str,
    pub(crate) sentence: String,
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

/// Ends a function with a yield: the work is not done and is taken up again later.
///
/// # Errors
/// Always [`Error::Yield`].
pub fn yield_because<T>(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Result<T> {
    Err(Error::yielding(reason, message))
}

// No `std::error::Error` for `Error` itself: that is what lets every other error become one by `?`.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(source: E) -> Self {
        let any: &(dyn StdError + 'static) = &source;
        let conflict = match any.downcast_ref::<kube::Error>() {
            Some(kube::Error::Api(status)) => status.code == 409 && status.reason == "Conflict",
            _ => any.downcast_ref::<CallError>().is_some_and(CallError::is_conflict),
        };
        if conflict { Self::Conflict(Box::new(source)) } else { Self::Unexpected(Box::new(source)) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yield { reason, message }
            | Self::UserAction { reason, message }
            | Self::Terminal { reason, message } => write!(f, "{reason}: {message}"),
            Self::Conflict(source) | Self::Unexpected(source) => write!(f, "{}", Chain(source.as_ref())),
        }
    }
}

/// An error with its causes on one line, each once, and without the debug forms and the words of `kube` around them.
pub(crate) struct Chain<'a>(pub(crate) &'a (dyn StdError + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut said, mut next) = (String::new(), Some(self.0));
        while let Some(error) = next {
            let (text, source) = plain(error);
            // Many crates repeat the cause in their own text; saying it twice helps nobody.
            if let Some(text) = text.filter(|text| said.is_empty() || !said.contains(text)) {
                write!(f, "{}{text}", if said.is_empty() { "" } else { ": " })?;
                said = text;
            }
            next = source;
        }
        Ok(())
    }
}

/// What an error says itself, unless it only wraps another one, and its cause.
fn plain<'a>(error: &'a (dyn StdError + 'static)) -> (Option<String>, Option<&'a (dyn StdError + 'static)>) {
    if let Some(wrapped) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref)
        && wrapped.is::<kube::Error>()
    {
        return (None, Some(wrapped));
    }
    match error.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) => (Some(refusal(status)), None),
        Some(kube::Error::Service(_) | kube::Error::HyperError(_) | kube::Error::ReadEvents(_)) => {
            (None, error.source())
        }
        _ => (Some(error.to_string()), error.source()),
    }
}

/// What the API server said, and its code.
fn refusal(status: &kube::core::Status) -> String {
    match (status.message.as_str(), status.reason.as_str()) {
        ("", "") => format!("the API server answered with {}", status.code),
        ("", said) => format!("{said} ({})", status.code),
        (said, _) => format!("{said} ({})", status.code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(code: u16, reason: &str) -> kube::Error {
        let status = serde_json::from_value(serde_json::json!({"code": code, "reason": reason, "message": "m"}));
        kube::Error::Api(Box::new(status.unwrap_or_default()))
    }

    #[test]
    fn a_conflict_of_the_api_is_an_outcome_of_its_own() {
        assert!(matches!(Error::from(api(409, "Conflict")), Error::Conflict(_)));
    }

    #[test]
    fn already_exists_is_not_a_conflict() {
        assert!(matches!(Error::from(api(409, "AlreadyExists")), Error::Unexpected(_)));
    }

    #[test]
    fn a_chain_has_the_words_of_the_server_and_no_debug_form() {
        assert_eq!(Chain(&api(500, "InternalError")).to_string(), "m (500)");
        let silent = || kube::Error::Service("the API server did not answer".into());
        assert_eq!(Chain(&silent()).to_string(), "the API server did not answer");
        let events = kube::Error::ReadEvents(std::io::Error::other(silent()));
        assert_eq!(Chain(&events).to_string(), "the API server did not answer");
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
