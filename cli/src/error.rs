//! What went wrong, why, and what to do about it.

use std::{fmt, process::ExitCode};

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// An error for the person at the terminal: the sentence, its cause, a hint, and the exit code it ends in.
#[derive(Debug)]
pub(crate) struct Error {
    what: String,
    cause: Option<Cause>,
    hint: Option<String>,
    code: u8,
}

impl Error {
    /// The command was understood and could not be carried out: exit code 1.
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self { what: what.into(), cause: None, hint: None, code: 1 }
    }

    /// What was asked for can't be meant: exit code 2.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self { code: 2, ..Self::failed(what) }
    }

    pub(crate) fn because(self, cause: impl Into<Cause>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn hinted(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

/// What `result?` says beside the cause.
pub(crate) trait Explain<T> {
    fn or_failed(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Cause>> Explain<T> for std::result::Result<T, E> {
    fn or_failed(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Error::failed(what()).because(cause))
    }
}
