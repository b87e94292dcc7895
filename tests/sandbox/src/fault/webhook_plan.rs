//! Plans the faults of webhook calls: at single calls, for a while, or at random by a seed.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use super::{Faults, ObservedWebhookCall, TimelineEvent, WebhookFault};

/// One of this many calls has no random fault, on average.
const RANDOM_INTERVAL: u32 = 2;

/// The faults of webhook calls, and the number of calls.
#[derive(Default)]
pub(super) struct WebhookPlan {
    calls: u64,
    /// The number of calls with a fault.
    disturbed: u64,
    at_call: BTreeMap<u64, WebhookFault>,
    outage: Option<Outage>,
    random: Option<RandomWebhookFaults>,
}

/// A fault of all calls for a while.
struct Outage {
    /// The number of the first call with the fault.
    from: u64,
    fault: WebhookFault,
    duration: Duration,
    /// The time of the end; `None` before the first call with the fault.
    until: Option<Instant>,
}

/// Random faults until a time.
struct RandomWebhookFaults {
    random: fastrand::Rng,
    until: Instant,
}

impl WebhookPlan {
    /// Numbers a call and returns its fault: planned, of an outage, or random; `None` if it has none.
    fn fault_of_call(&mut self, call: &mut ObservedWebhookCall) -> Option<WebhookFault> {
        self.calls += 1;
        call.number = self.calls;
        let now = Instant::now();
        let planned = self.at_call.remove(&call.number);
        let planned = planned.or_else(|| self.outage.as_mut()?.fault_of_call(call.number, now));
        let fault = planned.or_else(|| self.random.as_mut()?.fault_of_call(call.is_conversion, now));
        self.disturbed += u64::from(fault.is_some());
        fault
    }
}

impl Outage {
    /// Returns the fault, if the call is one of the outage; the first one begins it.
    fn fault_of_call(&mut self, number: u64, now: Instant) -> Option<WebhookFault> {
        if number < self.from {
            return None;
        }
        let until = *self.until.get_or_insert(now + self.duration);
        (now < until).then_some(self.fault)
    }
}

impl RandomWebhookFaults {
    /// Returns a random fault; `None` for some calls, and after the end.
    fn fault_of_call(&mut self, is_conversion: bool, now: Instant) -> Option<WebhookFault> {
        if now >= self.until || self.random.u32(..RANDOM_INTERVAL) == 0 {
            return None;
        }
        let faults = WebhookFault::ALL.into_iter().filter(|fault| is_conversion || !fault.needs_conversion());
        let faults: Vec<WebhookFault> = faults.collect();
        self.random.choice(faults)
    }
}

/// Faults of the calls of webhooks, which the API server makes. They need
/// [`Builder::webhook_faults`](crate::Builder::webhook_faults) with [`Faults::record_webhook_call`].
impl Faults {
    /// Adds a fault to the n-th webhook call.
    #[must_use]
    pub fn at_webhook_call(self, number: u64, fault: WebhookFault) -> Self {
        self.state().webhooks.at_call.insert(number, fault);
        self
    }

    /// Adds a fault to the n-th webhook call, and to all others in the time after it.
    #[must_use]
    pub fn from_webhook_call(self, number: u64, fault: WebhookFault, duration: Duration) -> Self {
        self.state().webhooks.outage = Some(Outage { from: number, fault, duration, until: None });
        self
    }

    /// Chooses faults of webhook calls at random by a seed, from now on for some time.
    #[must_use]
    pub fn webhooks_by_chance(self, seed: u64, duration: Duration) -> Self {
        let random = RandomWebhookFaults { random: fastrand::Rng::with_seed(seed), until: Instant::now() + duration };
        self.state().webhooks.random = Some(random);
        self
    }

    /// Numbers and records a webhook call, and returns its fault.
    #[must_use]
    pub fn record_webhook_call(&self, mut call: ObservedWebhookCall) -> Option<WebhookFault> {
        let mut state = self.state();
        let fault = state.webhooks.fault_of_call(&mut call);
        call.fault = fault;
        state.record(TimelineEvent::Webhook(call));
        fault
    }

    /// Returns the number of webhook calls.
    #[must_use]
    pub fn webhook_calls(&self) -> u64 {
        self.state().webhooks.calls
    }

    /// Returns the number of webhook calls with a fault.
    #[must_use]
    pub fn disturbed_webhook_calls(&self) -> u64 {
        self.state().webhooks.disturbed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(faults: &Faults, is_conversion: bool) -> Option<WebhookFault> {
        faults.record_webhook_call(ObservedWebhookCall::new("https://a.io/b?timeout=2s", is_conversion))
    }

    #[tokio::test(start_paused = true)]
    async fn a_fault_has_a_call_or_a_while() {
        let faults = Faults::none().at_webhook_call(2, WebhookFault::NotJson);
        let faults = faults.from_webhook_call(4, WebhookFault::Refused, Duration::from_secs(60));
        let first: Vec<_> = (0..5).map(|_| call(&faults, false)).collect();
        let refused = Some(WebhookFault::Refused);
        assert_eq!(first, [None, Some(WebhookFault::NotJson), None, refused, refused]);
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(call(&faults, false), refused);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(call(&faults, false), None);
        assert_eq!((faults.webhook_calls(), faults.disturbed_webhook_calls()), (7, 4));
        let numbers: Vec<u64> = faults.timeline().webhook_calls().map(|call| call.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
        let text = faults.timeline().to_string();
        assert!(text.contains("webhook call 2: /b [response is not JSON]\n"), "{text}");
    }

    #[tokio::test(start_paused = true)]
    async fn random_faults_follow_from_the_seed_and_end() {
        let of = |seed: u64, is_conversion: bool| {
            let faults = Faults::none().webhooks_by_chance(seed, Duration::from_secs(60));
            (0..200).map(|_| call(&faults, is_conversion)).collect::<Vec<_>>()
        };
        assert_eq!(of(1, true), of(1, true));
        assert_ne!(of(1, true), of(2, true));
        assert!(WebhookFault::ALL.into_iter().all(|fault| of(1, true).contains(&Some(fault))));
        assert!(!of(1, false).iter().flatten().any(|fault| fault.needs_conversion()));
        let faults = Faults::none().webhooks_by_chance(1, Duration::from_secs(60));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!((0..50).all(|_| call(&faults, true).is_none()));
    }
}
