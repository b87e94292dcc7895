//! `StoreCalls`: the calls of a client to a key-value store. The faults that are set for the client are injected into them.

use std::time::Duration;

use tokio::time::sleep;

use super::{
    EventFault, Faults, ObservedEvent,
    faulty_call::{CallFault, FaultBefore, FaultyCall},
};

/// The time after which a client of a store gives up waiting for an answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The status code of the refusals that stand for a write of another client between a read and a write of this one.
const CONFLICT: u16 = 409;

/// The calls that one life of a client makes to a store of keys and values, besides those to the API server. Both share the numbers, the
/// faults and the timeline. A fault means here:
///
/// | fault | meaning |
/// |---|---|
/// | a stop | as for a request |
/// | refused with 409 | another client writes the key just before; see [`OpenStoreCall::has_conflict`] |
/// | refused, cut, timed out or silent | [`NoAnswer`], before or after the work |
/// | late | as for a request |
/// | an older state | none: the reads of a store are never old |
#[derive(Clone, Debug)]
pub struct StoreCalls {
    faults: Faults,
    life: u32,
}

/// The store did not answer, or not in time. A write may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer")]
#[non_exhaustive]
pub struct NoAnswer;

/// A call of a store that has begun. Dropped, it has no answer.
pub struct OpenStoreCall {
    call: FaultyCall,
    has_conflict: bool,
}

impl Faults {
    /// Returns the calls to a store in the current life of the client, which
    /// [`Sandbox::client_through`](crate::Sandbox::client_through) has begun.
    #[must_use]
    pub fn store_calls(&self) -> StoreCalls {
        StoreCalls { faults: self.clone(), life: self.life() }
    }
}

impl StoreCalls {
    /// Begins a call: numbers and records it, runs the [action](Faults::before_call) before it, and injects the faults before the work.
    /// The method is `get`, `list`, `put`, `remove` or `watch`, and the target is the name of the store, with the key behind a slash.
    /// Never returns after the life of the client has ended.
    ///
    /// # Errors
    /// If a fault keeps the call from reaching the store.
    pub async fn begin(&self, method: &str, target: String) -> Result<OpenStoreCall, NoAnswer> {
        let client = (&self.faults, self.life);
        let mut call = FaultyCall::begin(client, (method, target), Some(REQUEST_TIMEOUT)).await;
        let mut has_conflict = false;
        while let Some(fault) = call.fault_before().await {
            match fault {
                FaultBefore::Fails(CallFault::Refused { code: CONFLICT, .. }) => has_conflict = true,
                FaultBefore::Fails(_) => return Err(NoAnswer),
                FaultBefore::Older { .. } | FaultBefore::AsOf { .. } => {}
            }
        }
        self.wait_if_ended().await;
        Ok(OpenStoreCall { call, has_conflict })
    }

    /// Numbers and records a change that a watch delivers, and returns its fault. `watch` is the number of the call that began the watch,
    /// and `type_` is `PUT` or `REMOVED`.
    #[must_use]
    pub fn record_event(
        &self,
        watch: u64,
        type_: &str,
        (store, key): (&str, &str),
        revision: u64,
    ) -> Option<EventFault> {
        self.faults.record_event(ObservedEvent {
            number: 0,
            watch,
            type_: type_.to_owned(),
            kind: store.to_owned(),
            namespace: String::new(),
            name: key.to_owned(),
            version: revision.to_string(),
            deleting: false,
            conditions: Vec::new(),
            fault: None,
        })
    }

    /// Waits while the client counts as busy, as a delayed event does.
    pub async fn delay(&self, time: Duration) {
        let _guard = self.faults.open_guard(self.life);
        sleep(time).await;
    }

    /// Never returns if the life of the client has ended.
    pub async fn wait_if_ended(&self) {
        self.faults.wait_if_ended(self.life).await;
    }
}

impl OpenStoreCall {
    /// Returns the number of the call.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.call.number()
    }

    /// Returns whether another client is to write the key now, before the work.
    #[must_use]
    pub fn has_conflict(&self) -> bool {
        self.has_conflict
    }

    /// Ends a call whose work is done, and records the HTTP status code for its outcome. Never returns after the life of the client has
    /// ended.
    ///
    /// # Errors
    /// If a fault keeps the answer from reaching the client.
    pub async fn end(self, code: u16) -> Result<(), NoAnswer> {
        let Self { mut call, .. } = self;
        if call.fault_after().await.is_some() {
            return Err(NoAnswer);
        }
        call.end(Some(code)).await;
        Ok(())
    }
}

impl std::fmt::Debug for OpenStoreCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenStoreCall").field("number", &self.number()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::fault::Fault;

    /// Makes a call that increments `done` when it is executed, and returns an error if it is not answered.
    async fn call(calls: &StoreCalls, done: &mut u32) -> Result<(), NoAnswer> {
        let call = calls.begin("put", "units/shop.web".to_owned()).await?;
        *done += 1;
        call.end(200).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_fault_before_the_work_prevents_it_and_one_after_it_hides_the_answer() {
        let faults = Faults::none().at_call(1, Fault::CutBefore).at_call(2, Fault::Deny { code: 503 });
        faults.begin();
        let (calls, mut done) = (faults.store_calls(), 0);
        assert_eq!((call(&calls, &mut done).await, done), (Err(NoAnswer), 0));
        assert_eq!((call(&calls, &mut done).await, done), (Err(NoAnswer), 1));
        assert_eq!((call(&calls, &mut done).await, done), (Ok(()), 2));
        let text = faults.timeline().to_string();
        assert!(text.contains("call 1: put units/shop.web -> no answer [cut before it was done]"), "{text}");
        assert!(text.contains("call 3: put units/shop.web -> 200"), "{text}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stopped_client_has_no_further_call() {
        let faults = Faults::none().at_call(1, Fault::StopAfter);
        faults.begin();
        let (calls, mut done) = (faults.store_calls(), 0);
        assert_eq!(call(&calls, &mut done).now_or_never(), None);
        assert!(faults.is_stopped());
        faults.begin();
        assert_eq!(call(&calls, &mut done).now_or_never(), None);
        assert_eq!((done, faults.calls()), (1, 1));
        assert_eq!((call(&faults.store_calls(), &mut done).await, done), (Ok(()), 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_with_409_is_reported_as_a_conflict() {
        let faults = Faults::none().at_call(1, Fault::Refuse { code: CONFLICT, retry_after: None });
        faults.begin();
        let call = faults.store_calls().begin("put", "units/shop.web".to_owned()).await;
        assert!(call.is_ok_and(|call| call.has_conflict()));
    }
}
