//! Chaos by seed: objects come, change and go, their children are deleted, changed, stripped and disowned, Pods are killed,
//! and so are the operator and the API server. Then the world must be as wanted, and in the end empty.
//!
//! `OPGEN_SEED` plays the same deeds again, though not at the same moments. As wanted is what the operator makes of the
//! same specs in a namespace in which nothing ever happened.

mod calm;
mod deed;
mod stock;
mod world;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use opgen_tests::{Plane, wait};

use self::{
    calm::Calm,
    deed::Villain,
    stock::{Shops, Stock, WebApps},
    world::World,
};
use super::{Diary, LONG, delete_namespace};
use crate::operator::example::Installed;

/// How soon after the last deed everything must be as wanted, and how soon after the deletion of all everything gone.
const SOON: Duration = Duration::from_secs(60);

pub(super) async fn of_webapps(plane: Arc<Plane>) {
    play::<WebApps>(plane).await;
}

pub(super) async fn of_shops(plane: Arc<Plane>) {
    play::<Shops>(plane).await;
}

/// How long deeds are done, in seconds; 300 without.
const SECONDS: &str = "OPGEN_CHAOS_SECONDS";

fn length() -> Duration {
    let seconds = std::env::var(SECONDS).ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(300))
}

async fn play<S: Stock>(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let installed = Installed::new(S::EXAMPLE, plane).await;
    let world = World::<S>::new(&installed.plane).await;
    let mut villain = Villain::new(&installed, &world);
    let spared = villain.spares().await;
    let begin = Instant::now();
    while begin.elapsed() < length() {
        villain.does_something().await;
    }
    villain.lets_go().await;
    // Its garbage collector retries what failed in an outage after up to 1,000 s, and a dozen outages add up. What is measured
    // from here on is the operator.
    installed.plane.restart_controller_manager();
    let mut calm = Calm::new();
    diary.say(&villain.summary());

    // Made while the rest converges, so that both are served by the operator that has lived through it.
    let specs = world.specs().await;
    let twin = World::<S>::new(&installed.plane).await;
    twin.create_all(&specs).await;
    let twins = wait::until("the untouched twins are available", LONG, async || twin.available(specs.len()).await);
    tokio::select! {
        () = twins => {}
        () = calm.watches(&world, specs.len()) => {}
    }
    let wanted = twin.snapshot().await.unwrap();
    let took = calm.reached(&world, &wanted).await;
    let took = match took {
        Ok(took) => took,
        Err(last) => {
            let terminating = world.terminating().await;
            let log = installed.plane.log_tail("kube-controller-manager", 40);
            panic!(
                "not as wanted within {SOON:?}: {last}\nbeing deleted:\n{terminating}\n{log}\nafter {}",
                villain.history()
            );
        }
    };
    diary.say(&format!("{} as wanted {:.1} s after the last deed", specs.len(), took.as_secs_f32()));
    let uids = world.uids().await.unwrap();
    let changed: Vec<_> = spared.iter().filter(|(key, uid)| uids.get(*key) != Some(*uid)).collect();
    assert!(changed.is_empty(), "nobody deleted these, but they are not the same: {changed:?}; {}", villain.history());

    // A child that goes before its owner may not be made again there.
    let end_of_twin = delete_namespace(&installed.plane, &twin.namespace);
    villain.denials.outage(&installed, end_of_twin).await;
    world.delete_all().await;
    wait::until("the world is empty", SOON, async || world.is_empty().await).await;
    diary.say("empty");
    villain.ends().await;
}
