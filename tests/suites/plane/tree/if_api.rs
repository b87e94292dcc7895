//! Objects of kinds that a cluster may not know.

use std::{net::SocketAddr, sync::Arc};

use kube::{CustomResource, CustomResourceExt as _};
use libtest_mimic::Trial;
use opgen::{RunOptions, prelude::*};
use opgen_tests::{
    Plane, Port, case_served,
    wait::{self, PATIENCE, until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::kinds::{SHOP, Shop, ShopSpec, done, idle_pass, named, shop};
use crate::operator::{install, log, program::readiness, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case_served("node_if_api_objects_come_with_their_kind_and_nobody_waits_for_it", comes_and_goes)]
}

/// Nobody controls it; its definition comes and goes.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "tree.example.com", version = "v1", kind = "Meteor", namespaced)]
pub(crate) struct MeteorSpec {
    #[serde(default)]
    text: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct IfApiTree {
    #[provisioner(resource, if_api)]
    one: Meteor,
    #[provisioner(resource, if_api)]
    many: Vec<Meteor>,
}

impl IfApiTree {
    fn one(_: &Shop) -> Meteor {
        meteor("one")
    }

    fn many(_: &Shop) -> Vec<Meteor> {
        ["two", "three"].map(meteor).into()
    }
}

fn meteor(name: &str) -> Meteor {
    Meteor { metadata: named(name), spec: MeteorSpec::default() }
}

async fn comes_and_goes(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Shop, IfApiTree>();
    site.install(&operator).await;
    let port = Port::reserve();
    let probes = port.address();
    let _running = site.run(&operator, RunOptions::default().probes(probes)).await;
    site.create(&shop(ShopSpec::default())).await;
    done(&site).await;
    is_ready(probes).await;
    idle_pass(&site, json!({"text": "edited"})).await;

    for text in ["first", "second"] {
        install::apply_quietly(&plane, &serde_json::to_string(&Meteor::crd()).unwrap()).await;
        plane.until_established(Meteor::crd_name()).await;
        for name in ["one", "two", "three"] {
            until_object(&site.api::<Meteor>(), name, "is there", |_| true).await;
        }
        done(&site).await;
        idle_pass(&site, json!({"text": text})).await;
        plane.delete_crd(Meteor::crd_name()).await;
        wait::until("the watch knows that the kind is gone", PATIENCE, async || match readiness(probes).await? {
            (200, text) if text.contains("Meteor: the cluster does not serve this optional kind") => Ok(()),
            (code, text) => Err(format!("{code}: {text}")),
        })
        .await;
        done(&site).await;
    }
    let failed = log::lines_with(&["pass failed", &format!("object={}/{SHOP} ", site.namespace)]);
    assert_eq!(failed, [""; 0], "the end of a kind is no error");
    site.delete::<Shop>(SHOP).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
}

async fn is_ready(probes: SocketAddr) {
    wait::until("it is ready", PATIENCE, async || match readiness(probes).await? {
        (200, _) => Ok(()),
        (code, text) => Err(format!("{code}: {text}")),
    })
    .await;
}
