//! `Activity`: counts the open API calls of a client under fault injection, and stores when the client last made a call and last made
//! progress.

use std::collections::BTreeSet;

use tokio::time::Instant;

/// The recent calls of a client.
pub(super) struct Activity {
    /// Open calls other than watches, and delayed events.
    pub(super) open: usize,
    /// The time of the last begin or end of a call other than a watch.
    pub(super) last_call: Instant,
    /// The time of the last begin or end of such a call that is no repeated read.
    pub(super) last_progress: Instant,
    /// The reads since the last write or event.
    pub(super) reads: BTreeSet<String>,
}

impl Activity {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { open: 0, last_call: now, last_progress: now, reads: BTreeSet::new() }
    }

    /// Begins a new life of the client, after a restart of its process: no call is open, and no read counts as repeated.
    pub(super) fn begin_life(&mut self) {
        self.open = 0;
        self.reads.clear();
        self.record_progress();
    }

    /// Records a call, and returns whether it repeats an earlier read: one of the same URI, without a write or an event in between.
    pub(super) fn is_repeated(&mut self, uri: &str, is_write: bool) -> bool {
        if is_write {
            self.reads.clear();
        }
        !is_write && !self.reads.insert(uri.to_owned())
    }

    /// Records an event: the next reads do not count as repeated.
    pub(super) fn event_delivered(&mut self) {
        self.reads.clear();
    }

    /// Records the beginning of a call or of the delay of an event. `is_repeated` states whether it is a repeated read, which is no
    /// progress.
    pub(super) fn open(&mut self, is_repeated: bool) {
        self.open += 1;
        self.record_call(is_repeated);
    }

    /// Records the end of a call or of the delay of an event. `is_repeated` states whether it is a repeated read, which is no progress.
    pub(super) fn close(&mut self, is_repeated: bool) {
        self.open = self.open.saturating_sub(1);
        self.record_call(is_repeated);
    }

    /// Stores the current time as that of the last call and, unless the call is a repeated read, of the last progress.
    fn record_call(&mut self, is_repeated: bool) {
        self.last_call = Instant::now();
        if !is_repeated {
            self.last_progress = self.last_call;
        }
    }

    /// Records an action of the client that is no repeated read.
    pub(super) fn record_progress(&mut self) {
        self.record_call(false);
    }
}
