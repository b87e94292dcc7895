//! Defines the faults that can be injected into a call or into an event of a watch.

use std::fmt;

use serde::Serialize;

/// A fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "fault")]
#[non_exhaustive]
pub enum Fault {
    /// The client's process ends before the call, which is not executed.
    StopBefore,
    /// The client's process ends after the call, which is executed; its response is lost.
    StopAfter,
    /// The call fails and is not executed.
    Refuse {
        /// The HTTP status code: 409, 429, 500, 503 or another one.
        code: u16,
        /// The `Retry-After` header, in seconds.
        retry_after: Option<u32>,
    },
    /// The call is executed, but the response says that it failed.
    Deny {
        /// The HTTP status code: 500, 504 or another one.
        code: u16,
    },
    /// The connection breaks before the call reaches the server.
    CutBefore,
    /// The call is executed; the connection breaks before the response arrives.
    CutAfter,
    /// The response is delayed.
    Wait {
        /// The delay in seconds on tokio's clock.
        seconds: u32,
    },
    /// The call times out.
    TimeOut {
        /// The time until the timeout, in seconds on tokio's clock.
        seconds: u32,
        /// Whether the call is executed.
        done: bool,
    },
    /// The connection stays open without any response.
    Silence {
        /// Whether the call is executed.
        done: bool,
    },
    /// A read returns an older state, counted in changes of any kind; no fault for other calls.
    Older {
        /// The number of changes.
        changes: u64,
    },
    /// A read returns the state at a version; no fault for other calls.
    AsOf {
        /// The `resourceVersion`.
        version: u64,
    },
    /// The client's wall clock jumps before the call.
    Jump {
        /// The jump in seconds; negative if the clock jumps back.
        seconds: i64,
    },
}

/// A fault of a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "fault")]
#[non_exhaustive]
pub enum EventFault {
    /// The event is lost. Some seconds later, or when the watch ends, the watch returns 410, so that the client lists again.
    Lose,
    /// The event and all later ones of this watch are delayed. Other watches are not, so kinds overtake each other.
    Delay {
        /// The delay in seconds on tokio's clock.
        seconds: u32,
    },
    /// The event is delivered twice.
    Duplicate,
    /// The connection breaks before the event.
    Cut,
    /// The connection breaks within the event.
    CutWithin,
    /// The watch ends regularly before the event.
    End,
    /// The watch returns 410 instead of the event.
    Expire,
    /// The event and all later ones are lost, while the connection of the watch stays open.
    Silence,
}

impl fmt::Display for Fault {
    /// Formats the fault of a call as the timeline shows it behind the call, which is the "it" of these texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StopBefore => f.write_str("stopped before it"),
            Self::StopAfter => f.write_str("stopped after it"),
            Self::Refuse { code, retry_after: None } => write!(f, "refused with {code}"),
            Self::Refuse { code, retry_after: Some(seconds) } => {
                write!(f, "refused with {code}, retry after {seconds} s")
            }
            Self::Deny { code } => write!(f, "done, but answered with {code}"),
            Self::CutBefore => f.write_str("cut before it was done"),
            Self::CutAfter => f.write_str("cut after it was done"),
            Self::Wait { seconds } => write!(f, "answered after {seconds} s"),
            Self::TimeOut { seconds, done: true } => write!(f, "done, but timed out after {seconds} s"),
            Self::TimeOut { seconds, done: false } => write!(f, "timed out after {seconds} s"),
            Self::Silence { done: true } => f.write_str("done, but never answered"),
            Self::Silence { done: false } => f.write_str("never answered"),
            Self::Older { changes } => write!(f, "answered as {changes} changes ago"),
            Self::AsOf { version } => write!(f, "answered as of version {version}"),
            Self::Jump { seconds } => write!(f, "the clock jumped by {seconds} s before it"),
        }
    }
}

impl fmt::Display for EventFault {
    /// Formats the fault of a watch event as the timeline shows it behind the event, which is the "it" of these texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lose => f.write_str("lost"),
            Self::Delay { seconds } => write!(f, "delivered {seconds} s late"),
            Self::Duplicate => f.write_str("delivered twice"),
            Self::Cut => f.write_str("cut before it"),
            Self::CutWithin => f.write_str("cut within it"),
            Self::End => f.write_str("the watch ended before it"),
            Self::Expire => f.write_str("the watch expired before it"),
            Self::Silence => f.write_str("the watch was silent from it on"),
        }
    }
}
