//! A collector that does not answer delays no pass, and the log says so once.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use libtest_mimic::Trial;
use opgen_tests::{Options, Plane, Port, case_on, wait};
use webapp_api::WebApp;

use super::{
    collector::Collector,
    program::{Role, Traced},
};
use crate::operator::{example::WEBAPP, fleet::app};

pub(super) fn cases() -> Vec<Trial> {
    vec![case_on("tracing_a_collector_that_is_away_delays_no_pass", Options::served(), away)]
}

async fn away(plane: Arc<Plane>) {
    let port = Port::reserve();
    WEBAPP.define(&plane).await;
    let mut operator = Traced::start(Role::WebApp, &plane, plane.admin(), (port.address(), 20), &[]).await;
    let namespace = plane.namespace("traces").await;
    let apps = Api::<WebApp>::namespaced(plane.client(), &namespace);
    let configs = Api::<ConfigMap>::namespaced(plane.client(), &namespace);
    let create = async |name: &str| {
        apps.create(&PostParams::default(), &app(name)).await.unwrap();
        wait::until_object(&configs, name, "is there", |_| true).await;
    };
    create("one").await;
    const FAILURE: &str = "failed to export spans";
    let lines = |log: &str, text: &str| log.lines().filter(|line| line.contains(text)).count();
    wait::until("the failure is logged", wait::PATIENCE, async || {
        let log = operator.process.log();
        if lines(&log, FAILURE) > 0 { Ok(()) } else { Err(log) }
    })
    .await;
    create("two").await;
    let collector = Collector::start(port.address()).await;
    create("three").await;
    collector.until("spans", |span| span.name == "pass WebApp").await;
    wait::until("the end of the failure is logged", wait::PATIENCE, async || {
        let log = operator.process.log();
        if lines(&log, "spans are exported again") > 0 { Ok(()) } else { Err(log) }
    })
    .await;
    assert_eq!(lines(&operator.process.log(), FAILURE), 1, "{}", operator.process.log());
    operator.stop().await;
}
