//! Nodes of earlier releases.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{Plane, case, wait::until_gone};
use serde_json::json;

use super::kinds::{SHOP, Shop, ShopSpec, done, holding, idle_pass, named, shop, written};
use crate::operator::site::Site;

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("node_retired_what_an_earlier_release_made_goes_once_and_is_not_asked_for_again", goes)]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct FirstRelease {
    #[provisioner(resource)]
    old: Secret,
    #[provisioner(resource)]
    config: ConfigMap,
}

impl FirstRelease {
    fn old(_: &Shop) -> Secret {
        Secret { metadata: named("old"), ..Secret::default() }
    }

    fn config(_: &Shop) -> ConfigMap {
        holding("config", "kept")
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop, retired(old: Secret))]
struct SecondRelease {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl SecondRelease {
    fn config(_: &Shop) -> ConfigMap {
        holding("config", "kept")
    }
}

async fn goes(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let mut running = site.start(&site.operator().controls::<Shop, FirstRelease>()).await;
    site.create(&shop(ShopSpec::default())).await;
    done(&site).await;
    running.signal();
    running.end().await.unwrap();

    let second = site.operator().controls::<Shop, SecondRelease>();
    let before = site.settled().await;
    let mut running = site.start(&second).await;
    until_gone(&site.api::<Secret>(), "old").await;
    let writes = written(&site, &before).await;
    let lines: Vec<_> = writes.iter().map(|entry| (entry.verb.as_str(), entry.resource.as_str())).collect();
    assert_eq!(lines, [("delete", "secrets")], "{writes}");
    idle_pass(&site, json!({"text": "edited"})).await;
    running.signal();
    running.end().await.unwrap();
    let before = site.settled().await;
    let _running = site.run(&second, Default::default()).await;
    let writes = written(&site, &before).await;
    assert!(writes.is_empty(), "{writes}");
    site.delete::<Shop>(SHOP).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
}
