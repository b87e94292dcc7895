//! Three replicas of the operator of WebApps, and WebApps that are edited.

use std::{
    ops::{Deref, DerefMut},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use opgen_tests::{
    Plane,
    wait::{self, PATIENCE},
};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval};
use webapp_api::WebApp;

use super::replicas::{Operator, Replicas};
use crate::operator::{example::WEBAPP, fleet::Fleet, owners::spec, program};

/// The number of WebApps.
pub(in super::super) const COUNT: usize = 8;
/// The time between two edits.
pub(in super::super) const EDIT_PERIOD: Duration = Duration::from_millis(50);

pub(super) struct Team {
    all: Replicas,
    pub(super) fleet: Arc<Fleet>,
}

impl Deref for Team {
    type Target = Replicas;
    fn deref(&self) -> &Replicas {
        &self.all
    }
}

impl DerefMut for Team {
    fn deref_mut(&mut self) -> &mut Replicas {
        &mut self.all
    }
}

impl Team {
    /// Installs the operator, starts its replicas, and creates WebApps, which become available.
    pub(super) async fn start(plane: Arc<Plane>) -> Self {
        Self::start_program(plane, &program::path(&WEBAPP)).await
    }

    /// As [`Team::start`], with replicas of this program.
    pub(super) async fn start_program(plane: Arc<Plane>, program: &Path) -> Self {
        WEBAPP.install(&plane).await;
        let operator = Operator { example: WEBAPP, arguments: &[] };
        let all = Replicas::start(plane.clone(), operator, program).await;
        let fleet = available_fleet(&plane).await;
        Self { all, fleet: Arc::new(fleet) }
    }

    /// Waits until all WebApps are as their last edit says, then deletes them, and stops the replicas.
    pub(super) async fn ends(&mut self) {
        end_fleet(&self.fleet).await;
        self.stop().await;
    }
}

/// Edits one WebApp after the other, for as long as it is polled.
pub(super) async fn edit(fleet: &Fleet, edits: &AtomicUsize) {
    let mut ticks = interval(EDIT_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        edit_one(fleet, edits.fetch_add(1, Ordering::Relaxed)).await;
    }
}

/// Creates WebApps, which become available.
pub(in super::super) async fn available_fleet(plane: &Plane) -> Fleet {
    let fleet = Fleet::new(plane, COUNT).await;
    fleet.create(&fleet.names).await;
    fleet.available(COUNT).await;
    fleet
}

/// Edits one WebApp, each number another one.
pub(in super::super) async fn edit_one(fleet: &Fleet, number: usize) {
    let name = &fleet.names[number % fleet.names.len()..][..1];
    fleet.patch::<WebApp>(name, &spec(json!({"greeting": format!("edit {number}")}))).await;
}

/// Waits until all WebApps are as their last edit says, then deletes them.
pub(in super::super) async fn end_fleet(fleet: &Fleet) {
    fleet.patch::<WebApp>(&fleet.names, &spec(json!({"greeting": "at last"}))).await;
    fleet.greets(COUNT, "at last").await;
    fleet.available(COUNT).await;
    fleet.delete::<WebApp>(&fleet.names).await;
    fleet.gone().await;
}

/// Calls `tend` until `time` has passed.
pub(in super::super) async fn meanwhile(time: Duration, mut tend: impl FnMut()) {
    let end = Instant::now() + time;
    wait::until("the time has passed", time + PATIENCE, async || {
        tend();
        if Instant::now() >= end { Ok(()) } else { Err(String::new()) }
    })
    .await;
}
