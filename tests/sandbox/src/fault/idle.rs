//! Waits until a client is idle: no calls for a while, no open call, no delayed event.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{Faults, activity::Activity};

impl Faults {
    /// Restarts the period of [`quiet`](Self::quiet), because of a change that concerns the client.
    pub fn stir(&self) {
        self.state().activity.record_progress();
    }

    /// Waits until the client has begun and ended no call other than a watch for `period`, has no such call open, and no event is delayed.
    pub async fn quiet(&self, period: Duration) {
        self.wait_until_idle(period, |activity| activity.last_call).await;
    }

    /// Like [`quiet`](Self::quiet), but ignores repeated reads without a write or an event in between: a polling client
    /// never stops reading.
    pub async fn quiet_but_for_reads(&self, period: Duration) {
        self.wait_until_idle(period, |activity| activity.last_progress).await;
    }

    /// Waits until no call is open and `period` has passed since the time that `last_action` returns from the activity of the client.
    async fn wait_until_idle(&self, period: Duration, last_action: impl Fn(&Activity) -> Instant) {
        loop {
            let (last_action, open) = {
                let state = self.state();
                (last_action(&state.activity), state.activity.open)
            };
            let now = Instant::now();
            let idle_since = if open > 0 { now } else { last_action };
            if idle_since + period <= now {
                return;
            }
            sleep_until(idle_since + period).await;
        }
    }
}
