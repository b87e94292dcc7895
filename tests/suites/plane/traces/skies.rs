//! A pass over an object that another pass wrote continues the trace of that write.

use std::sync::Arc;

use kube::{
    Api,
    api::{ObjectMeta, PostParams},
};
use libtest_mimic::Trial;
use opgen_tests::{Options, Plane, Port, case_on};

use super::{
    collector::Collector,
    program::{Role, Traced},
};
use crate::operator::{
    install,
    kinds::{Sky, SkySpec},
};

pub(super) fn cases() -> Vec<Trial> {
    vec![case_on("tracing_a_write_of_a_primary_continues_in_its_own_controller", Options::served(), written)]
}

/// The export of a batch would begin after an hour, so only the end of the operator exports the spans.
const NEVER: u32 = 3_600_000;

async fn written(plane: Arc<Plane>) {
    let port = Port::reserve();
    let collector = Collector::start(port.address()).await;
    install::definitions(&plane, &Role::Skies.operator()).await;
    let mut operator = Traced::start(Role::Skies, &plane, plane.admin(), (port.address(), NEVER), &[]).await;
    let namespace = plane.namespace("traces").await;
    let metadata = ObjectMeta { name: Some("one".to_owned()), ..ObjectMeta::default() };
    let sky = Sky { metadata, ..Sky::new("one", SkySpec { text: "blue".to_owned() }) };
    Api::<Sky>::namespaced(plane.client(), &namespace).create(&PostParams::default(), &sky).await.unwrap();
    let configs = Api::<k8s_openapi::api::core::v1::ConfigMap>::namespaced(plane.client(), &namespace);
    opgen_tests::wait::until_object(&configs, "one", "is there", |_| true).await;
    assert!(collector.spans().is_empty(), "no batch is due: {:#?}", collector.spans());
    operator.stop().await;
    let spans = collector.spans();
    let named =
        |name: &str| spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name}: {spans:#?}"));
    let (writer, pass) = (named("node comet"), named("pass Comet"));
    assert_eq!((&pass.parent, &pass.trace), (&writer.id, &writer.trace));
    assert_eq!(named("create configmaps").trace, named("pass Sky").trace);
}
