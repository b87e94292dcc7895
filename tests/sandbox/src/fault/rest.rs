//! Tells when a client has come to rest: when it asked last, and which answers are missing.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::{Instant, sleep_until};

use super::Faults;

/// What a client has asked lately.
pub(super) struct Activity {
    /// Calls that are not answered yet, but for watches, and events that are held back.
    open: usize,
    /// When something other than a watch was asked or answered last.
    moved: Instant,
    /// The same without repeated reads.
    acted: Instant,
    /// What was read since the last write and the last event.
    read: BTreeSet<String>,
}

impl Activity {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { open: 0, moved: now, acted: now, read: BTreeSet::new() }
    }

    /// What an earlier life waits for is of no interest.
    pub(super) fn begin_life(&mut self) {
        self.open = 0;
        self.read.clear();
        self.act();
    }

    /// Whether a read was made before, and no write or event was in between.
    pub(super) fn is_repeated(&mut self, uri: &str, is_write: bool) -> bool {
        if is_write {
            self.read.clear();
        }
        !is_write && !self.read.insert(uri.to_owned())
    }

    /// An event was told: the next reads are new ones.
    pub(super) fn told(&mut self) {
        self.read.clear();
    }

    /// Something is asked, or held back.
    pub(super) fn open(&mut self, is_repeated: bool) {
        self.open += 1;
        self.moved(is_repeated);
    }

    /// Something is answered, or let go.
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

impl Faults {
    /// Lets [`quiet`](Self::quiet) count from now: something has happened that the client will hear of.
    pub fn stir(&self) {
        self.state().activity.act();
    }

    /// Waits until for so long nothing but watches was asked, no answer is missing, and no event is held back.
    pub async fn quiet(&self, period: Duration) {
        self.still(period, |activity| activity.moved).await;
    }

    /// The same, but a read may be repeated as long as the client writes nothing and is told no event: a client that polls
    /// never stops to read.
    pub async fn quiet_but_for_reads(&self, period: Duration) {
        self.still(period, |activity| activity.acted).await;
    }

    async fn still(&self, period: Duration, last: impl Fn(&Activity) -> Instant) {
        loop {
            let (last, open) = {
                let state = self.state();
                (last(&state.activity), state.activity.open)
            };
            let now = Instant::now();
            let since = if open > 0 { now } else { last };
            if since + period <= now {
                return;
            }
            sleep_until(since + period).await;
        }
    }
}
