//! A cluster that makes clusters: one chart here, two on what it makes (unikorn §9.1).

use kube::CustomResource;
use opgen::{
    prelude::*,
    testing::{Answer, Recorder, Trial},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes and keeps clusters.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "acceptance.opgen.dev", version = "v1", kind = "ClusterManager", namespaced, status = "Status")]
struct ClusterManagerSpec {}

#[derive(Provisioner)]
#[provisioner(serial, owner = ClusterManager)]
struct ControlPlane {
    vcluster: Recorder,
    /// The registration of the cluster that the chart makes.
    remote: Recorder,
    cluster_api: ClusterApi,
    /// The clusters that it has made: nothing to do on the way up, the first to go on the way down.
    clusters: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = ClusterManager)]
struct ClusterApi {
    cert_manager: Recorder,
    cluster_api: Recorder,
}

fn trial() -> Trial<ClusterManager, ControlPlane> {
    Trial::new(ClusterManager::new("manager", ClusterManagerSpec {}))
}

#[tokio::test]
async fn group_case1_teardown_is_the_reverse_of_the_description() {
    let trial = trial();
    assert!(trial.up().await.is_ok());
    assert_eq!(
        trial.called(),
        [
            "provision vcluster",
            "provision remote",
            "provision cluster_api/cert_manager",
            "provision cluster_api/cluster_api",
            "provision clusters"
        ]
    );
    assert!(trial.down().await.is_ok());
    assert_eq!(
        trial.called(),
        [
            "deprovision clusters",
            "deprovision cluster_api/cluster_api",
            "deprovision cluster_api/cert_manager",
            "deprovision remote",
            "deprovision vcluster"
        ]
    );
    assert!(trial.left().is_empty());
}

#[tokio::test]
async fn group_case1_each_step_of_the_teardown_holds_those_before_it() {
    let trial = trial();
    assert!(trial.up().await.is_ok());
    trial.called();
    let steps = ["clusters", "cluster_api/cluster_api", "cluster_api/cert_manager", "remote", "vcluster"];
    for (at, step) in steps.iter().enumerate() {
        trial.answer(step, Answer::Yield);
        assert!(matches!(trial.down().await, Err(Error::Yield { .. })), "{step}");
        let asked: Vec<String> = trial.calls().into_iter().map(|call| call.node).collect();
        assert_eq!(asked, steps[..=at], "nothing behind {step} is asked");
        trial.answer(step, Answer::Ok);
    }
    assert!(trial.down().await.is_ok());
    assert!(trial.left().is_empty());
}
