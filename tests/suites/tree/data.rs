//! What nodes hand to each other.

use opgen::{
    prelude::*,
    testing::{Answer, Recorder, TreeHarness},
};

use super::kind::{App, Pool, app};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};

fn marked<K: Default + kube::Resource>(text: &str) -> K {
    let mut object = K::default();
    object.meta_mut().name = Some(text.to_owned());
    object
}

/// What a hand-written node finds out.
struct Plan {
    sizes: Vec<i32>,
}

#[derive(Provisioner)]
#[provisioner(access(), output = Plan)]
struct Solve;

impl Provision<App> for Solve {
    async fn provision(cx: &Context<'_, App, Self>) -> Result<()> {
        cx.set_output(Plan { sizes: cx.object().spec.pools.iter().map(|pool| pool.size).collect() });
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, App, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource)]
    key: Option<Secret>,
    solve: Solve,
    #[provisioner(when = |_, plan| plan.sizes.len() == 1, from(solve))]
    single: Recorder,
    #[provisioner(from(config, solve))]
    workload: Workload,
    #[provisioner(resource, from(workload.service, key))]
    note: ConfigMap,
}

impl Tree {
    fn config(_: &App) -> ConfigMap {
        marked("settings")
    }
    fn key(_: &App) -> Option<Secret> {
        Some(marked("key"))
    }
    fn note(_: &App, service: &Service, key: Option<&Secret>) -> ConfigMap {
        let names = [&service.metadata, &key.unwrap().metadata].map(|metadata| metadata.name.clone().unwrap());
        marked(&names.join("-"))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = App, inputs(config: ConfigMap, plan: Plan))]
struct Workload {
    #[provisioner(resource, from(config, plan))]
    service: Service,
    #[provisioner(resource, from(service))]
    after: ConfigMap,
}

impl Workload {
    fn service(_: &App, config: &ConfigMap, plan: &Plan) -> Service {
        marked(&format!("{}-{}", config.metadata.name.clone().unwrap(), plan.sizes.len()))
    }
    fn after(_: &App, service: &Service) -> Result<ConfigMap> {
        Ok(marked(&format!("after-{}", service.metadata.name.clone().unwrap())))
    }
}

#[tokio::test]
async fn a_node_reads_what_earlier_ones_made() {
    let rehearsal = TreeHarness::<App, Tree>::new(app(&["blue"]));
    let outcome = rehearsal.up().await;
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(
        rehearsal.called(),
        [
            "provision config",
            "provision key",
            "provision single",
            "provision workload/service",
            "provision workload/after",
            "provision note"
        ]
    );
    assert_eq!(rehearsal.objects("note")[0]["metadata"]["name"], "settings-1-key");
    assert_eq!(rehearsal.objects("workload/after")[0]["metadata"]["name"], "after-settings-1");
}

#[tokio::test]
async fn a_reader_waits_for_its_source_also_in_a_concurrent_group() {
    let rehearsal = TreeHarness::<App, Tree>::new(app(&["blue", "green"]));
    rehearsal.answer("workload/service", Answer::Yield);
    assert!(matches!(rehearsal.up().await, Err(Error::Yield { .. })));
    assert!(!rehearsal.called().contains(&"provision workload/after".to_owned()));
}

#[test]
fn the_kinds_that_are_read_are_known_from_the_tree() {
    let kinds: Vec<String> = Tree::SHAPE.kinds_read().iter().map(|kind| kind.kind.to_string()).collect();
    assert_eq!(kinds, ["ConfigMap", "Service", "Secret", "Service"]);
}

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Planned {
    solve: Solve,
    #[provisioner(each = |app, plan| app.spec.pools.iter().filter(|pool| plan.sizes.contains(&pool.size)), key = |pool| &pool.name, from(solve))]
    pools: PoolTree,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<App, Pool>)]
struct PoolTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl PoolTree {
    fn config(_: &Pool) -> ConfigMap {
        ConfigMap::default()
    }
}

#[tokio::test]
async fn items_can_come_from_an_earlier_node() {
    let rehearsal = TreeHarness::<App, Planned>::new(app(&["blue"]));
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(rehearsal.called(), ["provision pools[blue]/config"]);
}
