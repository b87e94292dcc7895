//! Errors of a broken connection.

/// The error of a broken connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionFault {
    /// It was reset.
    #[error("connection reset by peer")]
    Reset,
    /// It timed out.
    #[error("operation timed out")]
    TimedOut,
}
