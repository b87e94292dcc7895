//! What may go wrong with a call, and with an event of a watch.

use std::fmt;

use serde::Serialize;

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "fault")]
#[non_exhaustive]
pub enum Fault {
    /// The client's process ends just before: the call is not done.
    StopBefore,
    /// The client's process ends just after: the call is done, its answer arrives nowhere.
    StopAfter,
    /// The call is refused and not done.
    Refuse {
        /// 409, 429, 500, 503 or another code of HTTP.
        code: u16,
        /// The `Retry-After` header, in seconds.
        retry_after: Option<u32>,
    },
    /// The call is done, and its answer says that it failed.
    Deny {
        /// 500, 504 or another code of HTTP.
        code: u16,
    },
    /// The connection breaks before the call reaches the server.
    CutBefore,
    /// The call is done, the connection breaks before the answer arrives.
    CutAfter,
    /// The answer takes long.
    Wait {
        /// On tokio's clock.
        seconds: u32,
    },
    /// Nothing comes for so long that the connection is given up.
    TimeOut {
        /// On tokio's clock.
        seconds: u32,
        /// Whether the call was done.
        done: bool,
    },
    /// Nothing ever comes, and the connection stays open.
    Silence {
        /// Whether the call was done.
        done: bool,
    },
    /// A read gives the state as it was some changes ago, of whatever kind; no fault for other calls.
    Older {
        /// How many changes.
        changes: u64,
    },
    /// A read gives the state of a version; no fault for other calls.
    AsOf {
        /// As in `resourceVersion`.
        version: u64,
    },
    /// The client's wall clock jumps before the call.
    Jump {
        /// Ahead, or back.
        seconds: i64,
    },
}

/// What goes wrong with an event of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "fault")]
#[non_exhaustive]
pub enum EventFault {
    /// It is not told. Some seconds later, or when the watch ends earlier, the watch says 410: the client lists anew.
    Lose,
    /// It is told later, and what follows in this watch behind it; other watches go on, so kinds overtake each other.
    Delay {
        /// On tokio's clock.
        seconds: u32,
    },
    /// It is told twice.
    Duplicate,
    /// The connection breaks instead.
    Cut,
    /// The connection breaks in the middle of it.
    CutWithin,
    /// The watch ends instead, in order.
    End,
    /// The watch says 410 instead.
    Expire,
    /// Neither it nor anything behind it is told, and the connection of the watch stays open.
    Silence,
}

impl fmt::Display for Fault {
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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lose => f.write_str("lost"),
            Self::Delay { seconds } => write!(f, "told {seconds} s late"),
            Self::Duplicate => f.write_str("told twice"),
            Self::Cut => f.write_str("cut before it"),
            Self::CutWithin => f.write_str("cut within it"),
            Self::End => f.write_str("the watch ended before it"),
            Self::Expire => f.write_str("the watch expired before it"),
            Self::Silence => f.write_str("the watch was silent from it on"),
        }
    }
}
