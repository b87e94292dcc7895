//! `Notifier` and `Subscription`: a notification channel that tells subscribers of the store about changes.
//!
//! Subscribers wake in the order in which they began to wait. tokio's `watch` wakes them in random order, so that a run with
//! a seed would not repeat.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;

/// The sending half of a notification channel. Dropping it ends the subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Notifier(Arc<NotifierState>);

/// The state that a notifier shares with its subscriptions.
#[derive(Debug, Default)]
struct NotifierState {
    /// The number of notifications so far.
    notifications: AtomicU64,
    ended: AtomicBool,
    waiting: Notify,
}

/// The receiving half. Notifications from before the subscription do not count.
#[derive(Clone, Debug)]
pub(crate) struct Subscription {
    state: Arc<NotifierState>,
    seen_notifications: u64,
}

/// The error of a wait whose notifier was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended;

impl Notifier {
    /// Notifies all subscriptions.
    pub(crate) fn notify(&self) {
        self.0.notifications.fetch_add(1, Ordering::AcqRel);
        self.0.waiting.notify_waiters();
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription { seen_notifications: self.0.notifications.load(Ordering::Acquire), state: self.0.clone() }
    }

    /// Returns whether all subscriptions were dropped.
    pub(crate) fn has_no_subscriber(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl Drop for Notifier {
    /// Ends the subscriptions: wakes their waiters, which get an error.
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
        self.0.waiting.notify_waiters();
    }
}

impl Subscription {
    /// Waits until there is a notification that this subscription has not seen, and marks all as seen. Returns an error if
    /// the notifier was dropped.
    pub(crate) async fn changed(&mut self) -> Result<(), Ended> {
        loop {
            let mut notified = pin!(self.state.waiting.notified());
            // Registers the waiter before the counter is checked, so that no notification in between is missed.
            notified.as_mut().enable();
            if self.seen_notifications != self.state.notifications.load(Ordering::Acquire) {
                break;
            }
            if self.state.ended.load(Ordering::Acquire) {
                return Err(Ended);
            }
            notified.await;
        }
        self.mark_unchanged();
        Ok(())
    }

    /// Returns whether there is a notification that was not seen yet.
    pub(crate) fn has_changed(&self) -> bool {
        self.seen_notifications != self.state.notifications.load(Ordering::Acquire)
    }

    /// Marks all notifications as seen.
    pub(crate) fn mark_unchanged(&mut self) {
        self.seen_notifications = self.state.notifications.load(Ordering::Acquire);
    }

    /// Makes the next check report a change.
    pub(crate) fn mark_changed(&mut self) {
        // The counter of notifications never has this value.
        self.seen_notifications = u64::MAX;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn subscribers_wake_in_order_and_at_the_end() {
        let (notifier, woken) = (Notifier::default(), Arc::new(Mutex::new(Vec::new())));
        let waiting: Vec<_> = (0..20)
            .map(|number| {
                let (mut subscription, woken) = (notifier.subscribe(), woken.clone());
                tokio::spawn(async move {
                    subscription.changed().await.unwrap();
                    woken.lock().unwrap().push(number);
                    subscription.changed().await
                })
            })
            .collect();
        tokio::task::yield_now().await;
        notifier.notify();
        tokio::task::yield_now().await;
        assert_eq!(*woken.lock().unwrap(), (0..20).collect::<Vec<_>>());
        drop(notifier);
        for task in waiting {
            assert_eq!(task.await.unwrap(), Err(Ended));
        }
    }

    #[tokio::test]
    async fn a_notification_without_a_waiter_is_still_new() {
        let notifier = Notifier::default();
        let mut subscription = notifier.subscribe();
        assert!(!subscription.has_changed());
        notifier.notify();
        assert!(subscription.has_changed());
        assert_eq!(subscription.changed().await, Ok(()));
        assert!(!subscription.has_changed());
        subscription.mark_changed();
        assert_eq!(subscription.changed().await, Ok(()));
    }
}
