//! Children known at run time.

use opgen::{
    prelude::*,
    testing::{Answer, Recorder, TreeHarness},
};

use super::kind::{App, Pool, app};
use k8s_openapi::api::core::v1::ConfigMap;

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: PoolTree,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<App, Pool>)]
struct PoolTree {
    #[provisioner(resource)]
    config: ConfigMap,
    machines: Recorder,
}

impl PoolTree {
    fn config(pool: &Pool) -> ConfigMap {
        ConfigMap { data: Some([("size".to_owned(), pool.size.to_string())].into()), ..Default::default() }
    }
}

#[tokio::test]
async fn group_there_is_a_child_for_every_item() {
    let rehearsal = TreeHarness::<App, Tree>::new(app(&["blue", "green"]));
    assert!(rehearsal.up().await.is_ok());
    let mut called = rehearsal.called();
    called.sort();
    assert_eq!(
        called,
        [
            "provision pools[blue]/config",
            "provision pools[blue]/machines",
            "provision pools[green]/config",
            "provision pools[green]/machines"
        ]
    );
    assert!(rehearsal.down().await.is_ok());
    assert!(rehearsal.provisioned_nodes().is_empty());
}

#[tokio::test]
async fn group_a_child_whose_key_is_gone_is_removed_until_nothing_is_left() {
    let mut rehearsal = TreeHarness::<App, Tree>::new(app(&["blue", "green"]));
    assert!(rehearsal.up().await.is_ok());
    rehearsal.called();
    rehearsal.object().spec.pools.remove(0);
    rehearsal.answer("pools[blue]/machines", Answer::Yield);
    assert!(matches!(rehearsal.up().await, Err(Error::Yield { .. })));
    assert!(rehearsal.called().contains(&"deprovision pools[blue]/machines: yield".to_owned()));
    rehearsal.answer("pools[blue]/machines", Answer::Ok);
    assert!(rehearsal.up().await.is_ok());
    assert!(rehearsal.provisioned_nodes().iter().all(|node| node.starts_with("pools[green]")));
}

#[tokio::test]
async fn group_two_items_of_one_key_are_the_users_to_mend() {
    let rehearsal = TreeHarness::<App, Tree>::new(app(&["blue", "blue"]));
    let outcome = rehearsal.up().await;
    assert!(matches!(outcome, Err(Error::UserAction { .. })), "{outcome:?}");
    assert!(rehearsal.calls().is_empty());
}
