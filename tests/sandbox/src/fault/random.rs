//! Chooses faults at random, by a seed.

use std::time::Duration;

use serde::Serialize;

use super::{EventFault, Fault};

/// A class of faults to choose from at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum FaultClass {
    /// The process ends before or after a call.
    Stop,
    /// 409 to a write.
    Conflict,
    /// 429 with `Retry-After`.
    Throttle,
    /// 500, 503 and 504; a write may be executed nevertheless.
    ServerError,
    /// Responses are late or missing; a write may be executed nevertheless.
    TimeOut,
    /// Connections of calls and watches break.
    Cut,
    /// Connections of calls and watches stay open without data; a write may be executed nevertheless.
    Silence,
    /// Reads that accept any version get an older one.
    OlderRead,
    /// Events are lost; the watch returns 410 later.
    LostEvent,
    /// Events are late, and those of different kinds change their order.
    LateEvent,
    /// Events are delivered twice.
    DuplicateEvent,
    /// The wall clock jumps ahead and back.
    ClockJump,
}

impl FaultClass {
    /// All classes.
    pub const ALL: [Self; 12] = [
        Self::Stop,
        Self::Conflict,
        Self::Throttle,
        Self::ServerError,
        Self::TimeOut,
        Self::Cut,
        Self::Silence,
        Self::OlderRead,
        Self::LostEvent,
        Self::LateEvent,
        Self::DuplicateEvent,
        Self::ClockJump,
    ];
}

/// The inverse rate of faults: one call in this number has a fault, and one event.
const ONE_IN: u32 = 6;

/// The maximum number of stops, so that the client makes progress.
const STOPS: u32 = 4;

/// The properties of a call on which the choice of a fault depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallTraits {
    pub(super) is_write: bool,
    pub(super) is_watch: bool,
    /// Whether it is a read that accepts any version.
    pub(super) takes_older: bool,
}

#[derive(Debug)]
pub(super) struct RandomFaults {
    rng: fastrand::Rng,
    classes: Vec<FaultClass>,
    /// How long faults are injected.
    pub(super) lasts: Duration,
    stops: u32,
}

impl RandomFaults {
    pub(super) fn new(seed: u64, classes: &[FaultClass], lasts: Duration) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed), classes: classes.to_vec(), lasts, stops: 0 }
    }

    fn class(&mut self) -> Option<FaultClass> {
        let hit = self.rng.u32(..ONE_IN) == 0;
        self.rng.choice(&self.classes).copied().filter(|_| hit)
    }

    pub(super) fn of_call(&mut self, traits: CallTraits) -> Option<Fault> {
        let class = self.class()?;
        let (rng, write) = (&mut self.rng, traits.is_write);
        match class {
            FaultClass::Stop if self.stops < STOPS => {
                self.stops += 1;
                Some(if rng.bool() { Fault::StopBefore } else { Fault::StopAfter })
            }
            FaultClass::Conflict if write => Some(Fault::Refuse { code: 409, retry_after: None }),
            FaultClass::Throttle => Some(Fault::Refuse { code: 429, retry_after: Some(rng.u32(1..=5)) }),
            FaultClass::ServerError => {
                let code = rng.choice([500, 503, 504]).unwrap_or(500);
                Some(if write && rng.bool() { Fault::Deny { code } } else { Fault::Refuse { code, retry_after: None } })
            }
            FaultClass::TimeOut if rng.bool() => Some(Fault::Wait { seconds: rng.u32(1..=20) }),
            FaultClass::TimeOut => Some(Fault::TimeOut { seconds: rng.u32(10..=40), done: write && rng.bool() }),
            FaultClass::Cut => Some(if write && rng.bool() { Fault::CutAfter } else { Fault::CutBefore }),
            FaultClass::Silence => Some(Fault::Silence { done: write && rng.bool() }),
            FaultClass::OlderRead if traits.takes_older && !traits.is_watch => {
                Some(Fault::Older { changes: rng.u64(1..=8) })
            }
            FaultClass::ClockJump => Some(Fault::Jump { seconds: rng.i64(-3600..=3600) }),
            _ => None,
        }
    }

    pub(super) fn of_event(&mut self) -> Option<EventFault> {
        let class = self.class()?;
        let rng = &mut self.rng;
        match class {
            FaultClass::LostEvent => Some(EventFault::Lose),
            FaultClass::LateEvent => Some(EventFault::Delay { seconds: rng.u32(1..=15) }),
            FaultClass::Silence => Some(EventFault::Silence),
            FaultClass::DuplicateEvent => Some(EventFault::Duplicate),
            FaultClass::Cut => {
                rng.choice([EventFault::Cut, EventFault::CutWithin, EventFault::End, EventFault::Expire])
            }
            _ => None,
        }
    }
}
