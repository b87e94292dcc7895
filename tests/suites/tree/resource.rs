//! Resource nodes in a tree (unikorn §3.5). What they write and delete at an API server is in the plane suite.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use opgen::{
    prelude::*,
    testing::{Answer, NodeAction, TreeHarness},
};

use super::kind::{App, app};

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource)]
    key: Option<Secret>,
    #[provisioner(resource)]
    parts: Vec<ConfigMap>,
}

impl Tree {
    fn config(app: &App) -> ConfigMap {
        ConfigMap {
            data: Some([("pools".to_owned(), app.spec.pools.len().to_string())].into()),
            ..ConfigMap::default()
        }
    }
    fn key(app: &App) -> Option<Secret> {
        app.spec.snapshots.then(Secret::default)
    }
    fn parts(app: &App) -> Vec<ConfigMap> {
        app.spec.pools.iter().map(|_| ConfigMap::default()).collect()
    }
}

#[tokio::test]
async fn group_o1_an_object_follows_what_is_wanted_of_it() {
    let mut rehearsal = TreeHarness::<App, Tree>::new(app(&["blue"]));
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(rehearsal.objects("config")[0]["data"]["pools"], "1");
    rehearsal.object().spec.pools.clear();
    rehearsal.object().spec.snapshots = true;
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(rehearsal.objects("config")[0]["data"]["pools"], "0");
    assert_eq!(
        rehearsal.provisioned_nodes().into_iter().collect::<Vec<_>>(),
        ["config", "key"],
        "the parts are gone, the key is there"
    );
}

#[tokio::test]
async fn group_o2_an_object_that_is_still_going_holds_those_before_it() {
    let rehearsal = TreeHarness::<App, Tree>::new(app(&["blue"]));
    assert!(rehearsal.up().await.is_ok());
    rehearsal.called();
    rehearsal.answer("parts", Answer::Yield);
    assert!(matches!(rehearsal.down().await, Err(Error::Yield { .. })));
    assert_eq!(rehearsal.called(), ["deprovision parts: yield"]);
    rehearsal.answer("parts", Answer::Ok);
    assert!(rehearsal.down().await.is_ok());
    let calls = rehearsal.calls();
    assert!(calls.iter().all(|call| call.action == NodeAction::Deprovision));
    assert_eq!(calls.iter().map(|call| call.node.as_str()).collect::<Vec<_>>(), ["parts", "key", "config"]);
    assert!(rehearsal.provisioned_nodes().is_empty());
    assert!(rehearsal.down().await.is_ok(), "what is gone already is no error");
}
