//! Parts of the control plane that are away while there is work.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams},
};
use opgen_tests::{Plane, wait};
use serde_json::json;
use webapp_api::WebApp;

use super::{Diary, LONG, nothing_was_denied};
use crate::operator::{
    example::{Installed, WEBAPP},
    fleet::Fleet,
    owners::{is_available, spec},
    program::Program,
};

const COUNT: usize = 30;

/// How soon after the return of the API server everything must be as wanted, on a machine that does much else. It takes
/// as long as the operator's watches take to come back.
const SOON: Duration = Duration::from_secs(30);

struct Scene {
    diary: Diary,
    installed: Installed,
    fleet: Fleet,
    program: Program,
}

impl Scene {
    async fn new(plane: Arc<Plane>) -> Self {
        let diary = Diary::new(&plane);
        let installed = Installed::new(WEBAPP, plane).await;
        let program = installed.start().await;
        let fleet = Fleet::new(&installed.plane, COUNT).await;
        fleet.create(&fleet.names).await;
        fleet.available(COUNT).await;
        diary.say("created and available");
        Self { diary, installed, fleet, program }
    }

    /// Waits until all WebApps of this number are available, and greet as their specs say.
    async fn converges(&self, count: usize, deadline: Duration) -> Duration {
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
    async fn under_load(&self, during: impl Future<Output = ()>) {
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

    async fn passes(&self, what: &str, time: Duration) {
        let begin = Instant::now();
        wait::until(what, time + LONG, async || {
            let over = begin.elapsed();
            if over < time { Err(format!("{over:?}")) } else { Ok(()) }
        })
        .await;
    }

    async fn ends(self) {
        self.fleet.delete::<WebApp>(&self.fleet.names).await;
        self.fleet.gone().await;
        self.diary.say("all gone");
        self.program.stop().await;
        nothing_was_denied(&self.installed).await;
    }
}

pub(super) async fn under_load(plane: Arc<Plane>) {
    let scene = Scene::new(plane).await;
    let outage = async {
        scene.passes("some is changed", Duration::from_secs(1)).await;
        scene.installed.plane.stop_apiserver();
        scene.passes("the outage is over", Duration::from_secs(20)).await;
        scene.installed.plane.start_apiserver().await;
        scene.diary.say("the API server is back");
        scene.passes("some more is changed", Duration::from_secs(2)).await;
    };
    scene.under_load(outage).await;
    let took = scene.converges(COUNT, SOON).await;
    scene.diary.say(&format!("as wanted {:.1} s after the last change", took.as_secs_f32()));
    scene.ends().await;
}

/// Every resourceVersion that anybody remembers is too old when the server is back.
pub(super) async fn longer_than_history(plane: Arc<Plane>) {
    let scene = Scene::new(plane).await;
    let plane = &scene.installed.plane;
    plane.stop_apiserver();
    scene.passes("the outage is over", Duration::from_secs(90)).await;
    plane.compact().await;
    plane.start_apiserver().await;
    scene.diary.say("the API server is back, without history");
    scene.fleet.patch::<WebApp>(&scene.fleet.names, &spec(json!({"greeting": "welcome back"}))).await;
    let took = scene.converges(COUNT, SOON + SOON).await;
    scene.diary.say(&format!("as wanted after {:.1} s", took.as_secs_f32()));
    // A compaction alone, while all are watching.
    plane.compact().await;
    scene.fleet.patch::<WebApp>(&scene.fleet.names, &spec(json!({"greeting": "and again"}))).await;
    scene.converges(COUNT, SOON).await;
    scene.ends().await;
}

/// Nobody makes Pods, nobody collects garbage; the operator goes on.
pub(super) async fn no_controllers(plane: Arc<Plane>) {
    let scene = Scene::new(plane).await;
    let (plane, fleet) = (&scene.installed.plane, &scene.fleet);
    plane.stop_controller_manager();
    let (deleted, kept) = fleet.names.split_at(COUNT / 3);
    fleet.delete::<WebApp>(deleted).await;
    fleet.patch::<WebApp>(kept, &spec(json!({"greeting": "nobody else is here", "replicas": 2}))).await;
    let configs = Api::<ConfigMap>::namespaced(plane.client(), &fleet.namespace);
    for name in kept {
        wait::until_object(&configs, name, "is followed", |config| {
            config.data.as_ref().is_some_and(|data| data["greeting"] == "nobody else is here")
        })
        .await;
    }
    wait::until("what waits for Pods says so", LONG, async || {
        let apps = fleet.api::<WebApp>().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        let waiting = apps.iter().filter(|app| kept.contains(&app.name_any()) && !is_available(*app)).count();
        if waiting == kept.len() { Ok(()) } else { Err(format!("{waiting} do")) }
    })
    .await;
    fleet.delete::<ConfigMap>(&kept[..3]).await;
    scene.diary.say("edited and deleted while nobody made Pods");
    plane.restart_controller_manager();
    scene.converges(kept.len(), LONG).await;
    fleet
        .deployments
        .until("are left", kept.len(), |deployment| {
            deployment.status.as_ref().is_some_and(|status| status.available_replicas == Some(2))
        })
        .await;
    scene.diary.say("as wanted");
    fleet.create(deleted).await;
    scene.converges(COUNT, LONG).await;
    scene.ends().await;
}
