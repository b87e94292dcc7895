//! Waits for asynchronous effects. Under a paused clock time advances only while all tasks are idle, so a look a moment
//! later sees all effects.

use std::time::Duration;

use tokio::time::{Instant, interval_at};

/// Longer than all that is waited for, in the time of the test.
const DEADLINE: Duration = Duration::from_secs(300);

/// Between two looks.
const MOMENT: Duration = Duration::from_millis(1);

/// What `look` finds, as soon as it finds something.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    let mut moments = interval_at(began + MOMENT, MOMENT);
    while began.elapsed() < DEADLINE {
        if let Some(found) = look().await {
            return found;
        }
        moments.tick().await;
    }
    panic!("{what} did not come to be");
}

/// Until nobody has anything to do.
pub(crate) async fn idle() {
    interval_at(Instant::now() + MOMENT, MOMENT).tick().await;
}
