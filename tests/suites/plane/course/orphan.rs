//! Objects that are deleted as `kubectl delete --cascade=orphan` does it.

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod, Service},
};
use kube::{ResourceExt as _, api::DeleteParams};
use opgen_tests::{Plane, wait};
use webapp_api::WebApp;

use super::Diary;
use crate::operator::{
    example::{Installed, WEBAPP},
    fleet::Fleet,
    mirror::Namespaced,
};

const COUNT: usize = 5;

/// The children and their Pods go on as they are; nothing says any more that they were the WebApp's.
pub(super) async fn stay(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let installed = Installed::new(WEBAPP, plane).await;
    let program = installed.start().await;
    let fleet = Fleet::new(&installed.plane, COUNT).await;
    fleet.create(&fleet.names).await;
    fleet.available(COUNT).await;
    let before = uids(&fleet).await;
    let orphans = &fleet.names[..COUNT - 1];
    leaves_children(&installed, &fleet, orphans).await;
    diary.say("the WebApps are gone, their children are let go");

    // Made again, they find what they were made of.
    fleet.create(orphans).await;
    wait::until("the WebApps are there again", super::LONG, async || {
        let apps = fleet.api::<WebApp>().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        let told = apps.iter().filter(|app| app.status.is_some()).count();
        if told == COUNT { Ok(()) } else { Err(format!("{told} have a status")) }
    })
    .await;
    assert_eq!(uids(&fleet).await, before);
    program.stop().await;
    super::nothing_was_denied(&installed).await;
}

/// Deletes WebApps, and sees to it that all children and Pods stay and none of theirs has marks any more.
pub(super) async fn leaves_children(installed: &Installed, fleet: &Fleet, names: &[String]) {
    let before = uids(fleet).await;
    let count = fleet.api::<WebApp>().list(&Default::default()).await.unwrap().items.len();
    for name in names {
        fleet.api::<WebApp>().delete(name, &DeleteParams::orphan()).await.unwrap();
    }
    fleet.available(count - names.len()).await;
    installed.settled(&Default::default()).await;
    assert_eq!(uids(fleet).await, before);
    for name in names {
        released::<ConfigMap>(fleet, name).await;
        released::<Deployment>(fleet, name).await;
        released::<Service>(fleet, name).await;
    }
}

/// The uids of all children, and of their Pods.
async fn uids(fleet: &Fleet) -> Vec<String> {
    let mut all = [of::<ConfigMap>(fleet).await, of::<Deployment>(fleet).await, of::<Service>(fleet).await].concat();
    all.extend(of::<Pod>(fleet).await);
    all.sort();
    all
}

async fn of<K: Namespaced>(fleet: &Fleet) -> Vec<String> {
    let all = fleet.api::<K>().list(&Default::default()).await.unwrap().items;
    all.iter().map(|object| format!("{} {} {}", K::kind(&()), object.name_any(), object.uid().unwrap())).collect()
}

async fn released<K: Namespaced>(fleet: &Fleet, name: &str) {
    let child = fleet.api::<K>().get(name).await.unwrap();
    let kind = K::kind(&());
    assert!(child.owner_references().is_empty(), "{kind} {name}: {:?}", child.owner_references());
    let ours = |key: &&String| key.contains("opgen");
    let marks: Vec<_> = child.labels().keys().chain(child.annotations().keys()).filter(ours).collect();
    assert!(marks.is_empty(), "{kind} {name}: {marks:?}");
}
