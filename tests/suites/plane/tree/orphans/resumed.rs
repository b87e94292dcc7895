//! A kind of orphans of which one can't be deleted at first: the collection goes on with the others, and comes back for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, CustomResource};
use opgen::{Operator, RunOptions, prelude::*};
use opgen_tests::{
    Form, Plane,
    wait::{self, PATIENCE, until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{super::kinds::holding, failing};
use crate::operator::{kinds::available, site::Site};

/// It is watched in all namespaces, so by this case alone.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "tree.example.com", version = "v1", kind = "Cellar", namespaced, status = "Status")]
pub(crate) struct CellarSpec {
    elsewhere: String,
    #[serde(default)]
    pause: bool,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Cellar)]
struct CellarTree {
    #[provisioner(resource)]
    config: Vec<ConfigMap>,
}

const NAMES: [&str; 3] = ["first", "second", "third"];

impl CellarTree {
    fn config(cellar: &Cellar) -> Vec<ConfigMap> {
        let config = |name: &str| {
            let mut config = holding(name, "");
            config.metadata.namespace = Some(cellar.spec.elsewhere.clone());
            config
        };
        NAMES.map(config).into()
    }
}

/// It is tried again after 30 s, and after twice as long each time that it fails once more.
const LONGEST: Duration = Duration::from_secs(300);

pub(super) async fn second_fails(plane: Arc<Plane>) {
    const OPERATOR: &str = "cellars";
    let (site, elsewhere) = (Site::new(&plane).await, plane.namespace("elsewhere").await);
    let operator = Operator::new(OPERATOR).namespace(&site.namespace).controls::<Cellar, CellarTree>();
    site.install(&operator).await;
    // A clock that waits for nothing has time for more.
    let failures = if plane.form() == Form::Sandbox { 3 } else { 1 };
    let left = Arc::new(AtomicUsize::new(failures));
    let fails = {
        let left = left.clone();
        let one_less = |left: usize| left.checked_sub(1);
        move || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    };
    let client = failing(plane.service_account(&site.namespace, OPERATOR).await.client(), "second", fails);
    let _running = Site::run_with(&operator, client, RunOptions::default());
    site.create(&Cellar::new("old", CellarSpec { elsewhere: elsewhere.clone(), pause: false })).await;
    let is_done = |cellar: &Cellar| available(cellar.status.as_ref()).is_some_and(|(truth, ..)| truth == "True");
    until_object(&site.api::<Cellar>(), "old", "is done", is_done).await;

    // The owner goes without its teardown: while it is paused, its finalizer doesn't come again.
    site.patch::<Cellar>("old", &json!({"spec": {"pause": true}})).await;
    site.patch::<Cellar>("old", &json!({"metadata": {"finalizers": null}})).await;
    site.delete::<Cellar>("old").await;
    let configs = Api::<ConfigMap>::namespaced(plane.client(), &elsewhere);
    until_gone(&configs, "first").await;
    until_gone(&configs, "third").await;
    assert!(configs.get_opt("second").await.unwrap().is_some(), "its deletion fails");
    wait::until("the second one is gone, too", LONGEST, async || match configs.get_opt("second").await.unwrap() {
        None => Ok(()),
        Some(_) => Err(format!("it is to fail {} times more", left.load(Ordering::Relaxed))),
    })
    .await;
    assert_eq!(left.load(Ordering::Relaxed), 0, "it was tried again after each failure");
    wait::until("what was done is counted", PATIENCE, async || {
        let all: Vec<_> = operator.counters().orphans().into_iter().collect();
        let counts = all.iter().map(|(kind, counts)| (&*kind.kind, counts.deleted, counts.failed));
        if counts.eq([("ConfigMap", 3, failures.try_into().unwrap())]) { Ok(()) } else { Err(format!("{all:?}")) }
    })
    .await;
    let asked = plane.audit().await.by_account(&site.namespace, OPERATOR);
    let deletions = asked.verb("delete").resource("configmaps").namespace(&elsewhere);
    let mut names: Vec<_> = deletions.iter().map(|entry| (entry.name.as_str(), entry.code)).collect();
    names.sort_unstable();
    assert_eq!(names, NAMES.map(|name| (name, 200)), "each is deleted once: {deletions}");
}
