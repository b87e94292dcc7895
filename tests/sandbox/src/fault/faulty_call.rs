//! `FaultyCall`: one call of a client, which gets a number, is recorded, and has the faults that the client's fault plan injects.

use std::{collections::VecDeque, future::pending, time::Duration};

use tokio::time::sleep;

use super::{ConnectionFault, Fault, Faults, faults::OpenCall};

/// What a client receives instead of the response to its work.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallFault {
    /// An error of the server.
    Refused { code: u16, retry_after: Option<u32> },
    /// A broken connection.
    Broken(ConnectionFault),
}

/// A fault before the work of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum FaultBefore {
    /// The work is not done.
    Fails(CallFault),
    /// A read returns the state before this number of changes.
    Older { changes: u64 },
    /// A read returns the state at this version.
    AsOf { version: u64 },
}

/// A call that has begun. Dropped, it has no response.
pub(super) struct FaultyCall {
    pub(super) faults: Faults,
    pub(super) life: u32,
    open_call: OpenCall,
    /// The faults that are not applied yet.
    plan: VecDeque<Fault>,
    /// The first of the faults after the work: each ends the call.
    fault_after: Option<Fault>,
    /// The time after which the client gives up a silent server; `None` if it waits forever.
    patience: Option<Duration>,
}

impl FaultyCall {
    /// Begins a call: numbers and records it, and runs the [action](Faults::before_call) before it. Never returns after the end of `life`,
    /// the process of the client that makes the call.
    pub(super) async fn begin(
        (faults, life): (&Faults, u32),
        (method, target): (&str, String),
        patience: Option<Duration>,
    ) -> Self {
        faults.wait_if_ended(life).await;
        let mut open_call = faults.begin_call(method, target);
        if let Some(action) = open_call.action.take() {
            action().await;
        }
        let plan = std::mem::take(&mut open_call.faults).into();
        Self { faults: faults.clone(), life, open_call, plan, fault_after: None, patience }
    }

    /// Returns the number of the call.
    pub(super) fn number(&self) -> u64 {
        self.open_call.number
    }

    /// Applies the planned faults up to the next one that determines the response, and returns it. Stores the first fault that takes effect
    /// after the execution for [`Self::fault_after`]. Returns `None` when the call is to be executed. Never returns after a fault has
    /// stopped the process of the client.
    pub(super) async fn fault_before(&mut self) -> Option<FaultBefore> {
        while let Some(fault) = self.plan.pop_front() {
            let call_fault = match fault {
                Fault::StopBefore => stop(&self.faults, self.life).await,
                Fault::Refuse { code, retry_after } => CallFault::Refused { code, retry_after },
                Fault::CutBefore => CallFault::Broken(ConnectionFault::Reset),
                Fault::TimeOut { seconds, done: false } => time_out(Some(in_seconds(seconds))).await,
                Fault::Silence { done: false } => time_out(self.patience).await,
                Fault::Older { changes } => return Some(FaultBefore::Older { changes }),
                Fault::AsOf { version } => return Some(FaultBefore::AsOf { version }),
                Fault::Wait { seconds } => {
                    sleep(in_seconds(seconds)).await;
                    continue;
                }
                Fault::Jump { seconds } => {
                    self.faults.jump(seconds);
                    continue;
                }
                Fault::StopAfter
                | Fault::Deny { .. }
                | Fault::CutAfter
                | Fault::TimeOut { done: true, .. }
                | Fault::Silence { done: true } => {
                    self.fault_after = self.fault_after.or(Some(fault));
                    continue;
                }
            };
            return Some(FaultBefore::Fails(call_fault));
        }
        None
    }

    /// Returns the fault that replaces the response of an executed call; `None` if there is none. Never returns after a fault has stopped
    /// the process of the client.
    pub(super) async fn fault_after(&mut self) -> Option<CallFault> {
        Some(match self.fault_after? {
            Fault::StopAfter => stop(&self.faults, self.life).await,
            Fault::Deny { code } => CallFault::Refused { code, retry_after: None },
            Fault::TimeOut { seconds, .. } => time_out(Some(in_seconds(seconds))).await,
            Fault::Silence { .. } => time_out(self.patience).await,
            // `CutAfter`: `fault_before` stores no further faults.
            _ => CallFault::Broken(ConnectionFault::Reset),
        })
    }

    /// Ends the call, and records the status code that the client receives; `None` if it receives no response. Never returns after the life
    /// of the client has ended.
    pub(super) async fn end(self, code: Option<u16>) {
        self.faults.wait_if_ended(self.life).await;
        self.faults.end_call(&self.open_call, code);
    }
}

/// Ends a life of the client, one run of its process, and never returns: its calls get no response.
async fn stop<T>(faults: &Faults, life: u32) -> T {
    faults.stop(life);
    pending().await
}

/// Waits for `patience`, or forever if it is `None`, as for a response that never arrives, and returns the timeout.
async fn time_out(patience: Option<Duration>) -> CallFault {
    match patience {
        Some(time) => sleep(time).await,
        None => pending().await,
    }
    CallFault::Broken(ConnectionFault::TimedOut)
}

fn in_seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}
