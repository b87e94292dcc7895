//! The API server continues the traces of privileged clients only. That of a ServiceAccount gets a linked trace.

use std::{net::SocketAddr, path::Path, sync::Arc};

use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen_tests::{
    Form, Options, Plane, Port, case_on, case_on_controlplane,
    wait::{self, PATIENCE},
};
use serde_json::json;
use webapp_api::WebApp;

use super::{
    collector::{Collector, Received},
    program::{Role, Traced},
};
use crate::operator::{example::WEBAPP, fleet::app};

pub(super) fn cases() -> Vec<Trial> {
    const NAME: &str = "tracing_the_trace_of_a_serviceaccount_is_linked";
    if Form::from_environment() == Form::Sandbox {
        return vec![case_on_controlplane(NAME, "the sandbox records no spans", async |_| ())];
    }
    let port = Port::reserve();
    let options = Options { apiserver_flags: tracing_flags(port.address(), 1_000_000), ..Options::served() };
    vec![case_on(NAME, options, |plane| linked(plane, port))]
}

/// The flags of an API server that exports its spans; none for the sandbox. Its file is named by the port, so that few of them are left.
pub(super) fn tracing_flags(collector: SocketAddr, per_million: u32) -> Vec<String> {
    if Form::from_environment() == Form::Sandbox {
        return Vec::new();
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tracing-{}.yaml", collector.port()));
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: {collector}\n\
         samplingRatePerMillion: {per_million}\n"
    );
    std::fs::write(&path, text).unwrap_or_else(|error| panic!("{} can't be written: {error}", path.display()));
    vec![format!("--tracing-config-file={}", path.display())]
}

async fn linked(plane: Arc<Plane>, port: Port) {
    let collector = Collector::start(port.address()).await;
    let access = WEBAPP.install(&plane).await;
    let mut operator = Traced::start(Role::WebApp, &plane, &access, (port.address(), 50), &[]).await;
    let apps = Api::<WebApp>::namespaced(plane.client(), &plane.namespace("traces").await);
    apps.create(&PostParams::default(), &app("one")).await.unwrap();
    let mut attempt = 0;
    let (server, call) = wait::until("the API server links to a call", PATIENCE, async || {
        // While it starts, the API server records more spans than it can keep, and drops the rest. So the edits go on.
        if attempt % EDIT_INTERVAL == 0 {
            let change = Patch::Merge(json!({"spec": {"greeting": format!("hello {attempt}")}}));
            apps.patch("one", &PatchParams::default(), &change).await.map_err(|error| error.to_string())?;
        }
        attempt += 1;
        linked_pair(&collector.spans()).ok_or_else(|| format!("no link in {} spans", collector.spans().len()))
    })
    .await;
    assert_eq!((server.service.as_str(), server.parent.as_str()), ("apiserver", ""), "{server:?}");
    assert_ne!(server.trace, call.trace);
    assert!(!collector.spans().iter().any(|span| span.service == "apiserver" && span.trace == call.trace));
    operator.stop().await;
}

/// The number of looks at the collector between two edits.
const EDIT_INTERVAL: u32 = 40;

/// A span of the API server that links to a call of the operator, and that call.
fn linked_pair(spans: &[Received]) -> Option<(Received, Received)> {
    let mut servers = spans.iter().filter(|span| span.service == "apiserver" && !span.links.is_empty());
    servers.find_map(|server| {
        let is_linked = |call: &&Received| {
            call.service == "webapp" && server.links.iter().any(|(trace, id)| *trace == call.trace && *id == call.id)
        };
        Some((server.clone(), spans.iter().find(is_linked)?.clone()))
    })
}
