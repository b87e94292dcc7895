//! Orphans of several kinds, one of which can't be deleted for a while.

mod resumed;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use http::{Request, Response};
use k8s_openapi::api::{core::v1::ConfigMap, scheduling::v1::PriorityClass};
use kube::{Api, Client, CustomResource, ResourceExt as _, client::Body};
use libtest_mimic::Trial;
use opgen::{Operator, RunOptions, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::kinds::{holding, named};
use crate::operator::{kinds::available, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_orphans_of_one_kind_that_can_not_be_deleted_keep_no_other_kind_from_being_collected", one_fails),
        case("node_orphans_of_which_the_second_fails_are_all_collected_each_once", resumed::second_fails),
    ]
}

/// It is watched in all namespaces, so by this case alone.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "tree.example.com", version = "v1", kind = "Crypt", namespaced, status = "Status")]
pub(crate) struct CryptSpec {
    elsewhere: String,
    #[serde(default)]
    pause: bool,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Crypt)]
struct CryptTree {
    #[provisioner(resource)]
    config: Vec<ConfigMap>,
    #[provisioner(resource)]
    class: PriorityClass,
}

impl CryptTree {
    /// Two, so that the first is no hindrance for the second.
    fn config(crypt: &Crypt) -> Vec<ConfigMap> {
        let config = |name: &str| {
            let mut config = holding(name, "");
            config.metadata.namespace = Some(crypt.spec.elsewhere.clone());
            config
        };
        ["one", "two"].map(config).into()
    }

    fn class(crypt: &Crypt) -> PriorityClass {
        PriorityClass { metadata: named(&class(crypt)), value: Some(7), ..PriorityClass::default() }
    }
}

fn class(crypt: &Crypt) -> String {
    format!("{}-{}", crypt.spec.elsewhere, crypt.name_any())
}

/// The operator's client; a deletion of the ConfigMap of that name fails if it `fails` now.
fn failing(client: Client, name: &str, fails: impl Fn() -> bool + Clone + Send + 'static) -> Client {
    let namespace = client.default_namespace().to_owned();
    let path = format!("/configmaps/{name}");
    let service = tower::service_fn(move |request: Request<Body>| {
        let is_meant = request.method() == "DELETE" && request.uri().path().ends_with(&path);
        let (client, fails) = (client.clone(), fails.clone());
        async move {
            if is_meant && fails() {
                let status = json!({"kind": "Status", "status": "Failure", "message": "etcd is away", "code": 500});
                let answer = Response::builder().status(500).body(Body::from(status.to_string().into_bytes()));
                return Ok(answer.unwrap());
            }
            client.send(request).await
        }
    });
    Client::new(service, namespace)
}

async fn one_fails(plane: Arc<Plane>) {
    const OPERATOR: &str = "crypts";
    let (site, elsewhere) = (Site::new(&plane).await, plane.namespace("elsewhere").await);
    let operator = Operator::new(OPERATOR).namespace(&site.namespace).controls::<Crypt, CryptTree>();
    site.install(&operator).await;
    let broken = Arc::new(AtomicBool::new(true));
    let fails = {
        let broken = broken.clone();
        move || broken.load(Ordering::Relaxed)
    };
    let client = failing(plane.service_account(&site.namespace, OPERATOR).await.client(), "one", fails);
    let _running = Site::run_with(&operator, client, RunOptions::default());
    let crypt = site.create(&Crypt::new("old", CryptSpec { elsewhere: elsewhere.clone(), pause: false })).await;
    let is_done = |crypt: &Crypt| available(crypt.status.as_ref()).is_some_and(|(truth, ..)| truth == "True");
    until_object(&site.api::<Crypt>(), "old", "is done", is_done).await;

    // The owner goes without its teardown: while it is paused, its finalizer doesn't come again.
    site.patch::<Crypt>("old", &json!({"spec": {"pause": true}})).await;
    site.patch::<Crypt>("old", &json!({"metadata": {"finalizers": null}})).await;
    site.delete::<Crypt>("old").await;
    let configs = Api::<ConfigMap>::namespaced(plane.client(), &elsewhere);
    until_gone(&Api::<PriorityClass>::all(plane.client()), &class(&crypt)).await;
    until_gone(&configs, "two").await;
    assert!(configs.get_opt("one").await.unwrap().is_some(), "its deletion fails");
    broken.store(false, Ordering::Relaxed);
    until_gone(&configs, "one").await;
    wait::until("what was done is counted", PATIENCE, async || {
        let all: Vec<_> = operator.counters().orphans().into_iter().collect();
        let counts = all.iter().map(|(kind, counts)| (&*kind.kind, counts.deleted, counts.failed > 0));
        let wanted = [("ConfigMap", 2, true), ("PriorityClass", 1, false)];
        if counts.eq(wanted) { Ok(()) } else { Err(format!("{all:?}")) }
    })
    .await;
}
