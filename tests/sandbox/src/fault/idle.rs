//! Waits until a client is idle: no calls for a while, no open call, no delayed event.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{Faults, activity::Activity};

impl Faults {
    /// Restarts the period of [`quiet`](Self::quiet), because of a change that concerns the client.
    pub fn stir(&self) {
        self.state().activity.record_progress();
    }

    /// Waits until the client makes no call but watches for a period, with no open call and no delayed event.
    pub async fn quiet(&self, period: Duration) {
        self.wait_until_idle(period, |activity| activity.last_call).await;
    }

    /// Like [`quiet`](Self::quiet), but ignores repeated reads without a write or an event in between: a polling client
    /// never stops reading.
    pub async fn quiet_but_for_reads(&self, period: Duration) {
        self.wait_until_idle(period, |activity| activity.last_progress).await;
    }

    /// Waits until no call is open and the time that `last_action` returns is a period ago.
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
