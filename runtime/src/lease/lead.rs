//! `Lead`: whether this replica holds the leadership, and the deadline until which it may write. The leader election, the API client and
//! the probes share this state.

use crate::error::not_leading::NotLeading;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// The state of the lead, as the candidate knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeadState {
    /// Another replica holds the lead, or nobody does yet.
    Waiting {
        /// The identity of the holder, if it is known.
        holder: Option<String>,
    },
    /// This replica holds the lead.
    Held(Tenure),
    /// The lead was lost or released. The process does not get it again.
    Ended,
}

/// The time for which a confirmed renewal is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tenure {
    /// No write is sent from this time on.
    pub(crate) deadline: Instant,
    /// The writes in flight are given up at this time, before another candidate can take the Lease.
    pub(crate) give_up: Instant,
    /// From this time on, an unrenewed lead that is still held shows that the candidate is stuck.
    pub(crate) overdue: Instant,
}

/// The lead of this process. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Lead {
    state: watch::Sender<LeadState>,
    /// The deadline of the last renewal, which an end of the lead does not change.
    last_deadline: Arc<Mutex<Option<Instant>>>,
}

impl Lead {
    /// Returns a lead that is not held.
    pub(crate) fn new() -> Self {
        Self { state: watch::Sender::new(LeadState::Waiting { holder: None }), last_deadline: Arc::default() }
    }

    /// Returns whether both are the same lead.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.last_deadline, &other.last_deadline)
    }

    /// Sets the state, and wakes the tasks that wait for a change of it. An ended leadership stays ended.
    pub(crate) fn set(&self, state: LeadState) {
        self.state.send_if_modified(|current| {
            let changes = *current != LeadState::Ended && *current != state;
            if changes {
                if let LeadState::Held(tenure) = state {
                    *self.last_deadline.lock() = Some(tenure.deadline);
                }
                *current = state;
            }
            changes
        });
    }

    pub(crate) fn state(&self) -> LeadState {
        self.state.borrow().clone()
    }

    /// Checks that a write may be sent now.
    ///
    /// # Errors
    /// Fails if this replica does not hold the leadership, or if the deadline of its last renewal has passed.
    pub(crate) fn check(&self) -> Result<(), NotLeading> {
        // Compares with the clock, since a process that was stopped meanwhile has not run a task that watches the deadline.
        match *self.state.borrow() {
            LeadState::Held(tenure) if Instant::now() < tenure.deadline => Ok(()),
            _ => Err(NotLeading::NotSent),
        }
    }

    /// Returns whether the deadline of the last renewal has passed, also if the lead has ended. Then the run ends, and its connections
    /// send nothing more, not even reads.
    pub(super) fn has_expired(&self) -> bool {
        self.last_deadline.lock().is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Waits until the lead is held for the first time.
    pub(crate) async fn wait_until_held(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as `self`.
        let _ = state.wait_for(|state| matches!(state, LeadState::Held(_))).await;
    }

    /// Waits until writes in flight must be given up, before another candidate can take the Lease, or until the leadership ends. Renewals
    /// meanwhile extend the wait. Returns at once if this replica does not hold the leadership.
    pub(super) async fn wait_until_given_up(&self) {
        let mut state = self.state.subscribe();
        loop {
            let LeadState::Held(tenure) = *state.borrow_and_update() else { return };
            tokio::select! {
                biased;
                () = sleep_until(tenure.give_up) => {
                    // A renewal at the same time extends the wait.
                    if !state.has_changed().unwrap_or(false) {
                        return;
                    }
                }
                changed = state.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Returns whether the lead is held although it should have been renewed or lost long ago, so that the candidate must be
    /// stuck.
    pub(crate) fn is_overdue(&self) -> bool {
        matches!(*self.state.borrow(), LeadState::Held(tenure) if Instant::now() >= tenure.overdue)
    }
}
