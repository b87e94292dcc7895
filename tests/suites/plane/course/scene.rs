//! WebApps that are edited under load while something goes wrong, and whether they converge.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams},
};
use opgen_tests::{Plane, wait};
use serde_json::json;
use webapp_api::WebApp;

use super::{Denials, Diary, LONG, delete_namespace};
use crate::operator::{
    example::{Installed, WEBAPP},
    fleet::Fleet,
    owners::{is_available, spec},
    program::Program,
};

pub(super) struct Scene {
    pub(super) diary: Diary,
    pub(super) installed: Installed,
    pub(super) fleet: Fleet,
    pub(super) program: Program,
    denials: Denials,
}

impl Scene {
    /// A running operator, and so many WebApps that are available.
    pub(super) async fn new(plane: Arc<Plane>, count: usize) -> Self {
        let diary = Diary::new(&plane);
        let installed = Installed::new(WEBAPP, plane).await;
        let program = installed.start().await;
        let fleet = Fleet::new(&installed.plane, count).await;
        fleet.create(&fleet.names).await;
        fleet.available(count).await;
        diary.say("created and available");
        Self { diary, installed, fleet, program, denials: Denials::default() }
    }

    /// Waits until there are so many WebApps, all are available and greet as their specs say; gives how long that took.
    pub(super) async fn converges(&self, count: usize, deadline: Duration) -> Duration {
        let begin = Instant::now();
        wait::until("all greet as they should", deadline, async || {
            let apps = self.fleet.api::<WebApp>().list(&Default::default()).await.map_err(|error| error.to_string())?;
            let configs = self.fleet.api::<ConfigMap>().list(&Default::default()).await;
            let configs = configs.map_err(|error| error.to_string())?.items;
            let said = |name: &str| {
                let config = configs.iter().find(|config| config.name_any() == name)?;
                config.data.as_ref()?.get("greeting").cloned()
            };
            let follows = |app: &&WebApp| {
                let wanted = app.spec.greeting.as_deref().unwrap_or("hello");
                said(&app.name_any()).as_deref() == Some(wanted) && is_available(*app)
            };
            let fit = apps.items.iter().filter(follows).count();
            if (apps.items.len(), fit) == (count, count) {
                Ok(())
            } else {
                Err(format!("{fit} of {}", apps.items.len()))
            }
        })
        .await;
        begin.elapsed()
    }

    /// Changes greetings, one after the other, while `during` lasts; what fails is tried again.
    pub(super) async fn under_load(&self, during: impl Future<Output = ()>) {
        let (apps, names) = (self.fleet.api::<WebApp>(), &self.fleet.names);
        let load = async {
            for round in 0.. {
                let patch = Patch::Merge(spec(json!({"greeting": format!("round {round}")})));
                wait::until("an edit is heard", LONG, async || {
                    let answer = apps.patch(&names[round % names.len()], &PatchParams::default(), &patch).await;
                    answer.map(drop).map_err(|error| error.to_string())
                })
                .await;
            }
        };
        tokio::select! {
            () = load => {}
            () = during => {}
        }
    }

    /// Waits until this time has passed.
    pub(super) async fn passes(&self, what: &str, time: Duration) {
        let begin = Instant::now();
        wait::until(what, time + LONG, async || {
            let over = begin.elapsed();
            if over < time { Err(format!("{over:?}")) } else { Ok(()) }
        })
        .await;
    }

    /// Stops the API server, and starts it again after this time.
    pub(super) async fn outage(&self, time: Duration) {
        let plane = &self.installed.plane;
        let outage = async {
            plane.stop_apiserver();
            self.passes("the outage is over", time).await;
            plane.start_apiserver().await;
        };
        self.denials.outage(&self.installed, outage).await;
        self.diary.say("the API server is back");
    }

    /// Makes every resourceVersion up to now too old to watch from.
    pub(super) async fn expire_watches(&self) {
        self.denials.outage(&self.installed, self.installed.plane.expire_watches()).await;
        self.diary.say("the API server is back, without history");
    }

    /// Deletes the namespace of the fleet. A child that goes before its owner may not be made again there.
    pub(super) async fn delete_namespace(&self) {
        let end = delete_namespace(&self.installed.plane, &self.fleet.namespace);
        self.denials.outage(&self.installed, end).await;
    }

    /// Deletes all WebApps, and stops the operator when nothing of them is left.
    pub(super) async fn ends(self) {
        self.fleet.delete::<WebApp>(&self.fleet.names).await;
        self.fleet.gone().await;
        self.diary.say("all gone");
        self.stops().await;
    }

    /// Stops the operator, which was never denied anything.
    pub(super) async fn stops(self) {
        self.program.stop().await;
        self.denials.none(&self.installed).await;
    }
}
