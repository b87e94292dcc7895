//! List items whose key another client changed.

use std::sync::Arc;

use k8s_openapi::{
    api::core::v1::{Service, ServicePort, ServiceSpec},
    apimachinery::pkg::util::intstr::IntOrString,
};
use kube::api::{Patch, PatchParams};
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{Plane, case, wait::until_object};
use serde_json::json;

use super::kinds::{Pool, SHOP, Shop, ShopSpec, done, idle_pass, named, shop};
use crate::operator::site::{Running, Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("an_item_whose_key_another_client_changed_is_restored_in_place_of_the_changed_one", renumbered),
        case("an_item_without_a_name_whose_key_another_client_changed_is_restored", renumbered_without_name),
        case("an_item_of_another_client_that_is_in_nobodys_way_stays", beside),
    ]
}

/// A Service with a port for each pool.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct PortTree {
    #[provisioner(resource)]
    service: Service,
}

impl PortTree {
    fn service(shop: &Shop) -> Service {
        let port = |pool: &Pool| ServicePort {
            name: Some(pool.name.clone()).filter(|name| !name.is_empty()),
            port: pool.size,
            target_port: Some(IntOrString::Int(80)),
            ..ServicePort::default()
        };
        let spec = ServiceSpec {
            ports: Some(shop.spec.pools.iter().map(port).collect()),
            selector: Some([("app".to_owned(), "web".to_owned())].into()),
            ..ServiceSpec::default()
        };
        Service { metadata: named("web"), spec: Some(spec), ..Service::default() }
    }
}

fn pool(name: &str, number: i32) -> Pool {
    Pool { size: number, ..Pool::new(name, name) }
}

async fn serving(plane: &Arc<Plane>, pools: Vec<Pool>) -> (Site, Running) {
    let site = Site::new(plane).await;
    let running = site.start(&site.operator().controls::<Shop, PortTree>()).await;
    site.create(&shop(ShopSpec { pools, ..ShopSpec::default() })).await;
    done(&site).await;
    (site, running)
}

fn ports(service: &Service) -> Vec<(&str, i32)> {
    let ports = service.spec.as_ref().and_then(|spec| spec.ports.as_deref()).unwrap_or_default();
    let mut ports: Vec<_> = ports.iter().map(|port| (port.name.as_deref().unwrap_or_default(), port.port)).collect();
    ports.sort_unstable();
    ports
}

/// Another client writes one place of the Service.
async fn change(site: &Site, operation: serde_json::Value) {
    let patch: Patch<()> = Patch::Json(serde_json::from_value(json!([operation])).unwrap());
    site.api::<Service>()
        .patch("web", &PatchParams { field_manager: Some("other".to_owned()), ..PatchParams::default() }, &patch)
        .await
        .unwrap();
}

async fn has(site: &Site, expected: &[(&str, i32)]) {
    until_object(&site.api::<Service>(), "web", &format!("has {expected:?}"), |service| ports(service) == expected)
        .await;
}

async fn renumbered(plane: Arc<Plane>) {
    let (site, _running) = serving(&plane, vec![pool("http", 80), pool("metrics", 81)]).await;
    for number in [8080, 8081] {
        change(&site, json!({"op": "replace", "path": "/spec/ports/0/port", "value": number})).await;
        has(&site, &[("http", 80), ("metrics", 81)]).await;
        site.settled().await;
        done(&site).await;
    }
    idle_pass(&site, json!({"text": "other"})).await;
    // What is not wanted any more still goes.
    site.patch::<Shop>(SHOP, &json!({"spec": {"pools": [{"key": "metrics", "name": "metrics", "size": 81}]}})).await;
    has(&site, &[("metrics", 81)]).await;
}

async fn renumbered_without_name(plane: Arc<Plane>) {
    let (site, _running) = serving(&plane, vec![pool("", 80)]).await;
    change(&site, json!({"op": "replace", "path": "/spec/ports/0/port", "value": 8080})).await;
    has(&site, &[("", 80)]).await;
    done(&site).await;
    idle_pass(&site, json!({"text": "other"})).await;
}

async fn beside(plane: Arc<Plane>) {
    let (site, _running) = serving(&plane, vec![pool("http", 80)]).await;
    let other = json!({"name": "admin", "port": 90, "protocol": "TCP", "targetPort": 90});
    change(&site, json!({"op": "add", "path": "/spec/ports/-", "value": other})).await;
    change(&site, json!({"op": "replace", "path": "/spec/ports/0/port", "value": 8080})).await;
    has(&site, &[("admin", 90), ("http", 80)]).await;
    done(&site).await;
    site.settled().await;
    has(&site, &[("admin", 90), ("http", 80)]).await;
}
