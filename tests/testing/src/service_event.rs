//! `ServiceEvent`: an event of a simulated external service, such as a lost response or an exhausted quota, and the text form of the event.

use std::fmt;

use opgen_sandbox::fault::Fault;

/// What happens to an external service, or to one call to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceEvent {
    /// The call fails and is not executed.
    Refused,
    /// The call is executed, and its connection breaks before the response.
    Lost,
    /// The call is executed, and the client gives up before the response.
    TimedOut,
    /// The response comes after three quarters of a minute.
    Slow,
    /// The service rejects the call because of too many requests.
    Throttled,
    /// Another client deletes all things.
    Loss,
    /// Another client changes the managed part of all things.
    Drift,
    /// Another client changes the managed part of all things, and a part that the program does not manage.
    ForeignChange,
    /// The service admits no new thing from the creation of the samples on, until the program is at rest, for ten minutes at most.
    Quota,
}

/// The seconds after which a slow response comes.
const SLOW: u32 = 45;

/// The seconds after which a client gives up a call.
const TIMEOUT: u32 = 30;

/// The seconds in the `Retry-After` header of a response to too many requests.
const RETRY_AFTER: u32 = 5;

impl ServiceEvent {
    const ALL: [Self; 9] = [
        Self::Refused,
        Self::Lost,
        Self::TimedOut,
        Self::Slow,
        Self::Throttled,
        Self::Loss,
        Self::Drift,
        Self::ForeignChange,
        Self::Quota,
    ];

    /// The events of a single read.
    pub(crate) const OF_READS: &'static [Self] = &[Self::Refused, Self::Slow, Self::Throttled];

    /// The events of a single write.
    pub(crate) const OF_WRITES: &'static [Self] =
        &[Self::Refused, Self::Lost, Self::TimedOut, Self::Slow, Self::Throttled];

    /// Returns the name of the event in the text form of a schedule.
    fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Lost => "lost",
            Self::TimedOut => "timedOut",
            Self::Slow => "slow",
            Self::Throttled => "throttled",
            Self::Loss => "loss",
            Self::Drift => "drift",
            Self::ForeignChange => "foreignChange",
            Self::Quota => "quota",
        }
    }

    /// Returns the event with a name; `None` if no event has it.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Returns whether a schedule may have the event at the call with a number; 0 stands for the time in which the program is idle. The
    /// faults of single calls need a call, and an exhausted quota, which begins before the samples are created, is always written with 0.
    pub(crate) fn can_happen_at(self, call: u64) -> bool {
        match self {
            Self::Quota => call == 0,
            Self::Loss | Self::Drift | Self::ForeignChange => true,
            Self::Refused | Self::Lost | Self::TimedOut | Self::Slow | Self::Throttled => call > 0,
        }
    }

    /// Returns the fault to inject into a call for the event; `None` for an event that concerns all things and no single call.
    pub(crate) fn fault(self) -> Option<Fault> {
        Some(match self {
            Self::Refused => Fault::Refuse { code: 500, retry_after: None },
            Self::Lost => Fault::CutAfter,
            Self::TimedOut => Fault::TimeOut { seconds: TIMEOUT, done: true },
            Self::Slow => Fault::Wait { seconds: SLOW },
            Self::Throttled => Fault::Refuse { code: 429, retry_after: Some(RETRY_AFTER) },
            Self::Loss | Self::Drift | Self::ForeignChange | Self::Quota => return None,
        })
    }
}

impl fmt::Display for ServiceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
