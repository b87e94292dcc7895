//! Methods of `Faults` for the calls of the API server to webhooks: they plan faults of these calls, and number and record the calls.

use std::time::Duration;

use super::{Faults, ObservedWebhookCall, TimelineEvent, WebhookFault};

/// Faults of the calls to webhooks, which the API server makes. They need
/// [`Builder::webhook_faults`](crate::Builder::webhook_faults) with [`Faults::record_webhook_call`].
impl Faults {
    /// Adds a fault to the n-th webhook call.
    #[must_use]
    pub fn at_webhook_call(self, number: u64, fault: WebhookFault) -> Self {
        self.state().webhooks.add(number, fault);
        self
    }

    /// Adds a fault to the n-th webhook call, and to all others in the time after it.
    #[must_use]
    pub fn from_webhook_call(self, number: u64, fault: WebhookFault, duration: Duration) -> Self {
        self.state().webhooks.set_outage(number, fault, duration);
        self
    }

    /// Chooses faults of webhook calls at random by a seed, from now on for some time.
    #[must_use]
    pub fn webhooks_by_chance(self, seed: u64, duration: Duration) -> Self {
        self.state().webhooks.set_random(seed, duration);
        self
    }

    /// Numbers and records a webhook call, and returns its fault; `None` if it has no fault.
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

    /// Records a call to a webhook and returns its fault.
    fn call(faults: &Faults, is_conversion: bool) -> Option<WebhookFault> {
        faults.record_webhook_call(ObservedWebhookCall::new("https://a.io/b?timeout=2s", is_conversion))
    }

    #[tokio::test(start_paused = true)]
    async fn a_fault_applies_to_one_call_or_to_all_calls_of_a_period() {
        let faults = Faults::none().at_webhook_call(2, WebhookFault::NotJson);
        let faults = faults.from_webhook_call(4, WebhookFault::Refused, Duration::from_secs(60));
        let faults_of_calls: Vec<_> = (0..5).map(|_| call(&faults, false)).collect();
        let refused = Some(WebhookFault::Refused);
        assert_eq!(faults_of_calls, [None, Some(WebhookFault::NotJson), None, refused, refused]);
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
        let faults_by_seed = |seed: u64, is_conversion: bool| {
            let faults = Faults::none().webhooks_by_chance(seed, Duration::from_secs(60));
            (0..200).map(|_| call(&faults, is_conversion)).collect::<Vec<_>>()
        };
        assert_eq!(faults_by_seed(1, true), faults_by_seed(1, true));
        assert_ne!(faults_by_seed(1, true), faults_by_seed(2, true));
        assert!(WebhookFault::ALL.into_iter().all(|fault| faults_by_seed(1, true).contains(&Some(fault))));
        assert!(!faults_by_seed(1, false).iter().flatten().any(|fault| fault.needs_conversion()));
        let faults = Faults::none().webhooks_by_chance(1, Duration::from_secs(60));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!((0..50).all(|_| call(&faults, true).is_none()));
    }
}
