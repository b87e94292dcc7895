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
const MAX_STOPS: u32 = 4;

/// The properties of a call on which the choice of a fault depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallTraits {
    pub(super) is_write: bool,
    pub(super) is_watch: bool,
    /// Whether it is a read that accepts any version.
    pub(super) takes_older: bool,
}

/// Chooses faults by a seed, until a duration has passed.
#[derive(Debug)]
pub(super) struct RandomFaults {
    rng: fastrand::Rng,
    classes: Vec<FaultClass>,
    /// The time since the start during which faults are injected.
    pub(super) duration: Duration,
    stops: u32,
}

impl RandomFaults {
    pub(super) fn new(seed: u64, classes: &[FaultClass], duration: Duration) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed), classes: classes.to_vec(), duration, stops: 0 }
    }

    /// Chooses the class of the fault of a call or event; `None` if it gets no fault.
    fn choose_class(&mut self) -> Option<FaultClass> {
        let has_fault = self.rng.u32(..ONE_IN) == 0;
        self.rng.choice(&self.classes).copied().filter(|_| has_fault)
    }

    /// Chooses the fault of a call; `None` if the call gets no fault, or if the chosen class does not apply to it.
    pub(super) fn fault_of_call(&mut self, traits: CallTraits) -> Option<Fault> {
        let class = self.choose_class()?;
        let (rng, is_write) = (&mut self.rng, traits.is_write);
        match class {
            FaultClass::Stop if self.stops < MAX_STOPS => {
                self.stops += 1;
                Some(if rng.bool() { Fault::StopBefore } else { Fault::StopAfter })
            }
            FaultClass::Conflict if is_write => Some(Fault::Refuse { code: 409, retry_after: None }),
            FaultClass::Throttle => Some(Fault::Refuse { code: 429, retry_after: Some(rng.u32(1..=5)) }),
            FaultClass::ServerError => {
                let code = rng.choice([500, 503, 504]).unwrap_or(500);
                Some(if is_write && rng.bool() {
                    Fault::Deny { code }
                } else {
                    Fault::Refuse { code, retry_after: None }
                })
            }
            FaultClass::TimeOut if rng.bool() => Some(Fault::Wait { seconds: rng.u32(1..=20) }),
            FaultClass::TimeOut => Some(Fault::TimeOut { seconds: rng.u32(10..=40), done: is_write && rng.bool() }),
            FaultClass::Cut => Some(if is_write && rng.bool() { Fault::CutAfter } else { Fault::CutBefore }),
            FaultClass::Silence => Some(Fault::Silence { done: is_write && rng.bool() }),
            FaultClass::OlderRead if traits.takes_older && !traits.is_watch => {
                Some(Fault::Older { changes: rng.u64(1..=8) })
            }
            FaultClass::ClockJump => Some(Fault::Jump { seconds: rng.i64(-3600..=3600) }),
            _ => None,
        }
    }

    /// Chooses the fault of a watch event; `None` if the event gets no fault, or if the chosen class does not apply to events.
    pub(super) fn fault_of_event(&mut self) -> Option<EventFault> {
        let class = self.choose_class()?;
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
