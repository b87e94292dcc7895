//! Defines the error of the command: a message, its cause, a hint and an exit code.

use std::{fmt, process::ExitCode};

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// An error for the user at the terminal.
#[derive(Debug)]
pub(crate) struct Error {
    message: String,
    cause: Option<Cause>,
    hint: Option<String>,
    code: u8,
}

impl Error {
    /// Creates the error of a command that failed, with exit code 1.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None, hint: None, code: 1 }
    }

    /// Creates the error for invalid arguments, with exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, ..Self::failed(message) }
    }

    pub(crate) fn because(self, cause: impl Into<Cause>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

/// Adds a message to the error of a result.
pub(crate) trait ResultExt<T> {
    /// Fails with the message, and the error as its cause.
    fn or_failed(self, message: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Cause>> ResultExt<T> for std::result::Result<T, E> {
    fn or_failed(self, message: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Error::failed(message()).because(cause))
    }
}
