//! Records the latest actions of a client and its open calls.

use std::collections::BTreeSet;

use tokio::time::Instant;

/// The recent calls of a client.
pub(super) struct Activity {
    /// Open calls other than watches, and delayed events.
    pub(super) open: usize,
    /// The last begin or end of a call other than a watch.
    pub(super) moved: Instant,
    /// The same without repeated reads.
    pub(super) acted: Instant,
    /// The reads since the last write or event.
    pub(super) read: BTreeSet<String>,
}

impl Activity {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { open: 0, moved: now, acted: now, read: BTreeSet::new() }
    }

    /// Forgets the open calls of the previous life.
    pub(super) fn begin_life(&mut self) {
        self.open = 0;
        self.read.clear();
        self.act();
    }

    /// Whether the same read came before, without a write or an event in between.
    pub(super) fn is_repeated(&mut self, uri: &str, is_write: bool) -> bool {
        if is_write {
            self.read.clear();
        }
        !is_write && !self.read.insert(uri.to_owned())
    }

    /// Records an event: the next reads do not count as repeated.
    pub(super) fn event_delivered(&mut self) {
        self.read.clear();
    }

    /// Records the begin of a call or of a delay.
    pub(super) fn open(&mut self, is_repeated: bool) {
        self.open += 1;
        self.moved(is_repeated);
    }

    /// Records the end of a call or of a delay.
    pub(super) fn close(&mut self, is_repeated: bool) {
        self.open = self.open.saturating_sub(1);
        self.moved(is_repeated);
    }

    fn moved(&mut self, is_repeated: bool) {
        self.moved = Instant::now();
        if !is_repeated {
            self.acted = self.moved;
        }
    }

    pub(super) fn act(&mut self) {
        self.moved(false);
    }
}
