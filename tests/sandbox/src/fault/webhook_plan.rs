//! Plans the faults of webhook calls: at single calls, for a while, or at random by a seed.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use super::{ObservedWebhookCall, WebhookFault};

/// On average, one in this many calls has no random fault.
const RANDOM_INTERVAL: u32 = 2;

/// The faults of webhook calls, and the number of calls.
#[derive(Default)]
pub(super) struct WebhookPlan {
    pub(super) calls: u64,
    /// The number of calls with a fault.
    pub(super) disturbed: u64,
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
    /// Adds a fault to a call.
    pub(super) fn add(&mut self, number: u64, fault: WebhookFault) {
        self.at_call.insert(number, fault);
    }

    /// Adds a fault to a call, and to all others in the time after it.
    pub(super) fn set_outage(&mut self, from: u64, fault: WebhookFault, duration: Duration) {
        self.outage = Some(Outage { from, fault, duration, until: None });
    }

    /// Chooses faults at random by a seed, from now on for some time.
    pub(super) fn set_random(&mut self, seed: u64, duration: Duration) {
        let random = fastrand::Rng::with_seed(seed);
        self.random = Some(RandomWebhookFaults { random, until: Instant::now() + duration });
    }

    /// Numbers a call and returns its fault: the planned one, else that of an outage, else a random one; `None` if it has no fault.
    pub(super) fn fault_of_call(&mut self, call: &mut ObservedWebhookCall) -> Option<WebhookFault> {
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
    /// Returns the fault of a call during the outage; `None` before and after it. The outage begins with the first call whose number is at
    /// least `from`.
    fn fault_of_call(&mut self, number: u64, now: Instant) -> Option<WebhookFault> {
        if number < self.from {
            return None;
        }
        let until = *self.until.get_or_insert(now + self.duration);
        (now < until).then_some(self.fault)
    }
}

impl RandomWebhookFaults {
    /// Returns a random fault that fits an admission or conversion; `None` for one in
    /// [`RANDOM_INTERVAL`] calls on average, and after the end.
    fn fault_of_call(&mut self, is_conversion: bool, now: Instant) -> Option<WebhookFault> {
        if now >= self.until || self.random.u32(..RANDOM_INTERVAL) == 0 {
            return None;
        }
        let faults = WebhookFault::ALL.into_iter().filter(|fault| is_conversion || !fault.needs_conversion());
        let faults: Vec<WebhookFault> = faults.collect();
        self.random.choice(faults)
    }
}
