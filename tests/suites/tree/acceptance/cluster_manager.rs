//! A cluster that makes clusters: one chart here, two on what it makes (unikorn §9.1).

use kube::CustomResource;
use opgen::{
    prelude::*,
    testing::{Answer, Recorder, TreeHarness},
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

fn rehearsal() -> TreeHarness<ClusterManager, ControlPlane> {
    TreeHarness::new(ClusterManager::new("manager", ClusterManagerSpec {}))
}

#[tokio::test]
async fn group_case1_teardown_is_the_reverse_of_the_description() {
    let rehearsal = rehearsal();
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(
        rehearsal.called(),
        [
            "provision vcluster",
            "provision remote",
            "provision cluster_api/cert_manager",
            "provision cluster_api/cluster_api",
            "provision clusters"
        ]
    );
    assert!(rehearsal.down().await.is_ok());
    assert_eq!(
        rehearsal.called(),
        [
            "deprovision clusters",
            "deprovision cluster_api/cluster_api",
            "deprovision cluster_api/cert_manager",
            "deprovision remote",
            "deprovision vcluster"
        ]
    );
    assert!(rehearsal.provisioned_nodes().is_empty());
}

#[tokio::test]
async fn group_case1_each_step_of_the_teardown_holds_those_before_it() {
    let rehearsal = rehearsal();
    assert!(rehearsal.up().await.is_ok());
    rehearsal.called();
    let steps = ["clusters", "cluster_api/cluster_api", "cluster_api/cert_manager", "remote", "vcluster"];
    for (at, step) in steps.iter().enumerate() {
        rehearsal.answer(step, Answer::Yield);
        assert!(matches!(rehearsal.down().await, Err(Error::Yield { .. })), "{step}");
        let asked: Vec<String> = rehearsal.calls().into_iter().map(|call| call.node).collect();
        assert_eq!(asked, steps[..=at], "nothing behind {step} is asked");
        rehearsal.answer(step, Answer::Ok);
    }
    assert!(rehearsal.down().await.is_ok());
    assert!(rehearsal.provisioned_nodes().is_empty());
}
