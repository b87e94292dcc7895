//! Nodes whose objects are given as YAML.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use opgen::{
    Operator, RunError, RunOptions,
    manifest::{self, Describe as _, ManifestError},
    prelude::*,
    testing::{Answer, Recorder, TreeHarness},
};

use super::kind::{App, Pool, app};

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Tree {
    #[provisioner(manifest = "suites/tree/agent.yaml")]
    agent: Manifest,
    #[provisioner(resource)]
    settings: ConfigMap,
    #[provisioner(manifest(ConfigMap, Service), when = |app| !app.spec.pools.is_empty(), from(settings))]
    pools: Manifest,
}

impl Tree {
    fn settings(_: &App) -> ConfigMap {
        ConfigMap { data: Some([("kind".to_owned(), "Service".to_owned())].into()), ..ConfigMap::default() }
    }

    fn pools(app: &App, settings: &ConfigMap) -> Result<Manifest> {
        let kind = settings.data.as_ref().map_or("", |data| &data["kind"]);
        let of = |pool: &Pool| {
            let kind = if pool.size < 0 { "Secret" } else { kind };
            format!("---\napiVersion: v1\nkind: {kind}\nmetadata:\n  name: {}\n", pool.name)
        };
        Ok(app.spec.pools.iter().map(of).collect::<String>().into())
    }
}

fn pool(name: &str, size: i32) -> Pool {
    Pool { name: name.to_owned(), size }
}

#[tokio::test]
async fn files_and_functions_give_objects_in_the_order_of_need() {
    let mut rehearsal = TreeHarness::<App, Tree>::new(app(&[]));
    rehearsal.up().await.unwrap();
    assert_eq!(rehearsal.called(), ["provision agent", "provision settings", "deprovision pools"]);
    let kinds: Vec<_> = rehearsal.objects("agent").iter().map(|object| object["kind"].clone()).collect();
    assert_eq!(kinds, ["ClusterRole", "ConfigMap", "Deployment"]);

    rehearsal.object().spec.pools = vec![pool("a", 1), pool("b", 1)];
    rehearsal.up().await.unwrap();
    let names: Vec<_> = rehearsal.objects("pools").iter().map(|object| object["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["a", "b"]);
    rehearsal.down().await.unwrap();
    assert_eq!(rehearsal.provisioned_nodes(), BTreeSet::new());
}

#[tokio::test]
async fn a_text_may_hold_only_what_the_node_names() {
    let mut rehearsal = TreeHarness::<App, Tree>::new(app(&[]));
    rehearsal.object().spec.pools = vec![pool("a", 1), pool("b", -1)];
    let Err(Error::Terminal { reason, message }) = rehearsal.up().await else { panic!("it has no right to Secrets") };
    assert_eq!(reason, "InvalidManifest");
    assert!(message.starts_with("pools:6 (document 2): Secret of v1 is not among the node's kinds;"), "{message}");

    rehearsal.object().spec.pools = vec![pool("a", 1), pool("a", 2)];
    let Err(Error::Terminal { message, .. }) = rehearsal.up().await else { panic!("an object is there twice") };
    assert_eq!(message, "pools:6 (document 2): the object is a duplicate of line 1");
}

#[test]
fn the_role_follows_from_the_file_and_from_what_is_named() {
    let operator = Operator::new("agents").controls::<App, Tree>();
    let rendered = manifest::files(&operator.project().unwrap()).unwrap();
    let rbac = rendered.text("base/rbac.yaml").unwrap();
    for resource in ["deployments", "clusterroles", "configmaps", "services"] {
        assert!(rbac.contains(&format!("  - {resource}\n")), "{resource}:\n{rbac}");
    }
    let drawn = manifest::tree(&operator.project().unwrap());
    assert!(drawn.contains("├─ agent: manifest  ClusterRole: get, list, watch, create, patch, delete;"), "{drawn}");
}

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Unknown {
    #[provisioner(manifest = "suites/tree/gauge.yaml")]
    gauge: Manifest,
}

#[tokio::test]
async fn a_file_that_cannot_be_understood_stops_the_generator_and_the_start() {
    const SAID: &str = "suites/tree/gauge.yaml:5 (document 2): Gauge of gauge.example.org/v1 is not";
    let operator = Operator::new("gauges").controls::<App, Unknown>();
    let generated = manifest::files(&operator.project().unwrap());
    let Err(ManifestError::Invalid(findings)) = generated else { panic!("{generated:?}") };
    assert!(findings[0].to_string().contains(SAID), "{}", findings[0]);

    let refuse = |_: http::Request<kube::client::Body>| {
        std::future::ready(Err::<http::Response<kube::client::Body>, _>(std::io::Error::other("nobody may ask")))
    };
    let client = kube::Client::new(tower::service_fn(refuse), "default");
    let ended = operator.run_with(client, RunOptions::default(), std::future::pending()).await;
    let Err(RunError::Manifest { source, .. }) = ended else { panic!("{ended:?}") };
    assert!(source.to_string().starts_with(SAID), "{source}");
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = App)]
struct Panicking {
    first: Recorder,
    #[provisioner(manifest(ConfigMap), after(first))]
    bad: Manifest,
    other: Recorder,
}

impl Panicking {
    fn bad(_: &App) -> Manifest {
        panic!("it can't be built")
    }
}

#[tokio::test]
async fn a_panic_of_a_function_stops_no_other_child_of_the_group() {
    let rehearsal = TreeHarness::<App, Panicking>::new(app(&[]));
    assert!(matches!(rehearsal.up().await, Err(Error::Unexpected(_))));
    assert_eq!(rehearsal.called(), ["provision first", "provision other"]);
}

#[tokio::test]
async fn a_function_is_called_after_the_children_that_its_node_waits_for() {
    let rehearsal = TreeHarness::<App, Panicking>::new(app(&[]));
    rehearsal.answer("first", Answer::Yield);
    assert!(matches!(rehearsal.up().await, Err(Error::Yield { .. })));
    assert_eq!(rehearsal.called(), ["provision first: yield", "provision other"]);
}
