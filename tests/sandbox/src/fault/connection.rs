//! Defines the errors of a broken connection.

/// The error of a broken connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionFault {
    /// The connection was reset.
    #[error("connection reset by peer")]
    Reset,
    /// The connection timed out.
    #[error("operation timed out")]
    TimedOut,
}
