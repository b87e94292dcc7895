//! The short life of a few WebApps on a cluster, for every change: what breaks in it would break in the whole course too.

use std::{sync::Arc, time::Duration};

use opgen_tests::Plane;
use serde_json::json;
use webapp_api::WebApp;

use super::{
    orphan,
    scene::Scene,
    webapp::{pods_are, runs},
};
use crate::operator::owners::spec;

const COUNT: usize = 5;

/// How soon after the last change everything must be as wanted, 1 s after the return of the API server.
const SOON: Duration = Duration::from_secs(10);

pub(super) async fn life(plane: Arc<Plane>) {
    let scene = Scene::new(plane, COUNT).await;
    let (fleet, names) = (&scene.fleet, &scene.fleet.names);
    runs(fleet, COUNT, 1, "example.com/web:1").await;
    fleet.patch::<WebApp>(names, &spec(json!({"replicas": 2}))).await;
    runs(fleet, COUNT, 2, "example.com/web:1").await;
    fleet.available(COUNT).await;
    scene.diary.say("scaled");
    fleet.patch::<WebApp>(names, &spec(json!({"image": "example.com/web:2"}))).await;
    runs(fleet, COUNT, 2, "example.com/web:2").await;
    fleet.available(COUNT).await;
    scene.diary.say("rolled");

    let outage = async {
        scene.outage(Duration::from_secs(3)).await;
        scene.passes("some more is changed", Duration::from_secs(1)).await;
    };
    scene.under_load(outage).await;
    let took = scene.converges(COUNT, SOON).await;
    scene.diary.say(&format!("converged {:.1} s after the last change", took.as_secs_f32()));

    orphan::leaves_children(&scene.installed, fleet, &names[..1]).await;
    scene.diary.say("one left its children");
    fleet.delete::<WebApp>(&names[1..2]).await;
    // The children that were left stay.
    fleet.deployments.until("are left", COUNT - 1, |_| true).await;
    fleet.services.until("are left", COUNT - 1, |_| true).await;
    pods_are(fleet, 2 * (COUNT - 1)).await;
    scene.diary.say("one was deleted");
    scene.delete_namespace().await;
    scene.diary.say("the namespace is gone with the others");
    scene.stops().await;
}
