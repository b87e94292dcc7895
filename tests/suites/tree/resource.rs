//! Resource nodes in a tree (unikorn §3.5). What they write and delete at an API server is in the plane suite.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use opgen::{
    prelude::*,
    testing::{Answer, Asked, Trial},
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
    let mut trial = Trial::<App, Tree>::new(app(&["blue"]));
    assert!(trial.up().await.is_ok());
    assert_eq!(trial.objects("config")[0]["data"]["pools"], "1");
    trial.object().spec.pools.clear();
    trial.object().spec.snapshots = true;
    assert!(trial.up().await.is_ok());
    assert_eq!(trial.objects("config")[0]["data"]["pools"], "0");
    assert_eq!(trial.left().into_iter().collect::<Vec<_>>(), ["config", "key"], "the parts are gone, the key is there");
}

#[tokio::test]
async fn group_o2_an_object_that_is_still_going_holds_those_before_it() {
    let trial = Trial::<App, Tree>::new(app(&["blue"]));
    assert!(trial.up().await.is_ok());
    trial.called();
    trial.answer("parts", Answer::Yield);
    assert!(matches!(trial.down().await, Err(Error::Yield { .. })));
    assert_eq!(trial.called(), ["deprovision parts: yield"]);
    trial.answer("parts", Answer::Ok);
    assert!(trial.down().await.is_ok());
    let calls = trial.calls();
    assert!(calls.iter().all(|call| call.asked == Asked::Deprovision));
    assert_eq!(calls.iter().map(|call| call.node.as_str()).collect::<Vec<_>>(), ["parts", "key", "config"]);
    assert!(trial.left().is_empty());
    assert!(trial.down().await.is_ok(), "what is gone already is no error");
}
