//! Waits until a client is idle: no calls for a while, no open call, no delayed event.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{Faults, activity::Activity};

impl Faults {
    /// Restarts the period of [`quiet`](Self::quiet), because of a change that concerns the client.
    pub fn stir(&self) {
        self.state().activity.act();
    }

    /// Waits until the client makes no call but watches for a period, with no open call and no delayed event.
    pub async fn quiet(&self, period: Duration) {
        self.still(period, |activity| activity.moved).await;
    }

    /// Like [`quiet`](Self::quiet), but ignores repeated reads without a write or an event in between: a polling client
    /// never stops reading.
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
