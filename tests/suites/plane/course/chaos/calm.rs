//! Measures how soon a namespace reaches its expected state after the last action of chaos.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use opgen_tests::wait;
use serde_json::Value;

use super::{
    SOON,
    stock::Stock,
    world::{Key, World},
};

/// All objects of a world, or why it is not at rest.
type State = Result<BTreeMap<Key, Value>, String>;

/// The last change of a world since the last deed. What is wanted is known later only, by a twin that takes its time.
pub(super) struct Calm {
    end: Instant,
    changed: Duration,
    last: State,
}

impl Calm {
    /// Begins with the last deed.
    pub(super) fn new() -> Self {
        Self { end: Instant::now(), changed: Duration::ZERO, last: Err("nobody has looked".to_owned()) }
    }

    /// Looks at a world of so many objects until this is dropped.
    pub(super) async fn watches<S: Stock>(&mut self, world: &World<S>, count: usize) {
        let unending = wait::within(Duration::MAX, async || {
            self.looks(world, count).await;
            Err::<(), _>(String::new())
        });
        drop(unending.await);
    }

    async fn looks<S: Stock>(&mut self, world: &World<S>, count: usize) {
        let seen_at = self.end.elapsed();
        let state = match world.available(count).await {
            Ok(()) => world.snapshot().await.map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        if state != self.last {
            (self.last, self.changed) = (state, seen_at);
        }
    }

    /// Waits until the world is as `wanted`, but not longer than is allowed after the last deed; gives how long after it the
    /// world became so, or how it differs.
    pub(super) async fn reached<S: Stock>(
        &mut self,
        world: &World<S>,
        wanted: &BTreeMap<Key, Value>,
    ) -> Result<Duration, String> {
        let count = wanted.keys().filter(|(kind, _)| *kind == S::kind()).count();
        wait::within(SOON.saturating_sub(self.end.elapsed()), async || {
            self.looks(world, count).await;
            let found = self.last.as_ref().map_err(String::clone)?;
            World::<S>::compare(found, wanted)
        })
        .await?;
        if self.changed <= SOON { Ok(self.changed) } else { Err(format!("only after {:?}", self.changed)) }
    }
}
