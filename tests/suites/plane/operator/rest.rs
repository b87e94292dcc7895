//! When an operator has nothing more to do.

use std::time::Duration;

use opgen_tests::{
    Entries,
    wait::{self, PATIENCE},
};
use tokio::time::Instant;

/// How long the number of requests must stay the same. The time of the case is a paused one with a sandbox, and so is this.
const REST: Duration = Duration::from_millis(500);

/// Waits until an operator has asked for nothing for a while, and gives what it has `asked` for.
pub(crate) async fn settled(mut asked: impl AsyncFnMut() -> Entries) -> Entries {
    let (mut seen, mut since) = (0, Instant::now());
    wait::until("the operator is at rest", PATIENCE, async || {
        // What is asked for while the log is read belongs to the next look.
        let now = Instant::now();
        let asked = asked().await;
        if asked.len() != seen {
            (seen, since) = (asked.len(), now);
        }
        if now.duration_since(since) >= REST { Ok(asked) } else { Err(format!("{seen} requests")) }
    })
    .await
}
