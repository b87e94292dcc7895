//! The hardest static tree (unikorn §9.2): gates, facts that only run time knows, one cluster made on another and
//! registered once for two users, a group whose order differs by direction, parts that come and go.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use kube::CustomResource;
use opgen::{
    prelude::*,
    testing::{Answer, Recorder, TreeHarness},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cluster on a cloud.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "acceptance.opgen.dev", version = "v1", kind = "KubernetesCluster", namespaced, status = "Status")]
#[serde(rename_all = "camelCase")]
struct KubernetesClusterSpec {
    #[managed(allow(bool))]
    autoscaling: bool,
    #[schemars(extend("x-kubernetes-list-type" = "atomic"), length(max = 50))]
    flavors: Vec<Flavor>,
}

/// Which machines a pool has.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct Flavor {
    #[schemars(length(max = 63))]
    name: String,
}

/// The service of a region, which knows what its flavours are.
#[derive(Clone, Debug, Default)]
struct Region(Arc<Service>);

#[derive(Debug, Default)]
struct Service {
    asked: AtomicUsize,
    identity: Mutex<Identity>,
    gpus: Mutex<Vec<(String, Gpu)>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Identity {
    #[default]
    Provisioning,
    Provisioned,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Gpu {
    Amd,
    Nvidia,
}

type Owner = For<KubernetesCluster, Region>;

/// What the region says of the cluster's flavours.
struct Facts {
    gpus: Vec<Gpu>,
}

impl Facts {
    fn any(&self, gpu: Gpu) -> bool {
        self.gpus.contains(&gpu)
    }
}

#[derive(Provisioner)]
#[provisioner(access(), output = Facts)]
struct Cloud;

impl Provision<Owner> for Cloud {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        let region = &cx.options().0;
        region.asked.fetch_add(1, Ordering::Relaxed);
        match *region.identity.lock().unwrap() {
            Identity::Provisioning => {
                return yield_because("DependencyNotReady", "the region still makes the cluster's identity");
            }
            Identity::Failed => return Err(Error::unexpected("the region could not make an identity")),
            Identity::Provisioned => {}
        }
        let gpus = region.gpus.lock().unwrap();
        let of = |flavor: &Flavor| gpus.iter().find(|(name, _)| *name == flavor.name).map(|(_, gpu)| *gpu);
        cx.set_output(Facts { gpus: cx.object().spec.flavors.iter().filter_map(of).collect() });
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Owner)]
struct Tree {
    manager_is_ready: Recorder,
    /// Of no use on the way up; on the way down it goes last.
    identity: Recorder,
    cloud: Cloud,
    cluster: Cluster,
    #[provisioner(when = |cluster| cluster.spec.autoscaling)]
    autoscaler: Autoscaler,
    #[provisioner(from(cloud))]
    add_ons: AddOns,
}

/// Makes its parts at once: the machines, and on them the first services, as soon as they can be reached.
#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = Owner)]
struct Cluster {
    machines: Recorder,
    /// The registration. The kubeconfig that it needs comes to be while the machines do.
    remote: Recorder,
    #[provisioner(after(remote))]
    bootstrap: Bootstrap,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Owner)]
struct Bootstrap {
    cilium: Recorder,
    cloud_provider: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Owner)]
struct Autoscaler {
    autoscaler: Recorder,
    openstack: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Owner, inputs(facts: Facts))]
struct AddOns {
    cinder_csi: Recorder,
    metrics_server: Recorder,
    #[provisioner(when = |_, facts| facts.any(Gpu::Nvidia), from(facts))]
    nvidia: Recorder,
    #[provisioner(when = |_, facts| facts.any(Gpu::Amd), from(facts))]
    cert_manager: Recorder,
    #[provisioner(when = |_, facts| facts.any(Gpu::Amd), from(facts))]
    amd: Recorder,
}

const REMOTE: &str = "cluster/remote";

/// A cluster with machines of these flavours, in a region that knows two with GPUs.
fn rehearsal(flavors: &[&str]) -> (TreeHarness<Owner, Tree>, Arc<Service>) {
    let flavors = flavors.iter().map(|name| Flavor { name: (*name).to_owned() }).collect();
    let cluster = KubernetesCluster::new("cluster", KubernetesClusterSpec { autoscaling: false, flavors });
    let region = Region::default();
    *region.0.identity.lock().unwrap() = Identity::Provisioned;
    *region.0.gpus.lock().unwrap() = vec![("g.amd".to_owned(), Gpu::Amd), ("g.nvidia".to_owned(), Gpu::Nvidia)];
    (TreeHarness::with_options(cluster, region.clone()), region.0)
}

#[tokio::test]
async fn group_case2_parts_are_made_at_once_and_torn_down_one_by_one() {
    let (mut rehearsal, _) = rehearsal(&[]);
    rehearsal.object().spec.autoscaling = true;
    assert!(rehearsal.up().await.is_ok());
    let up = rehearsal.called();
    assert_eq!(up[..2], ["provision manager_is_ready", "provision identity"]);
    assert_eq!(up[2..4], ["provision cluster/machines", "provision cluster/remote"]);
    assert_eq!(up[4..6], ["provision cluster/bootstrap/cilium", "provision cluster/bootstrap/cloud_provider"]);
    assert_eq!(up[6..8], ["provision autoscaler/autoscaler", "provision autoscaler/openstack"]);
    assert!(up[8..].iter().all(|call| call.contains("add_ons/")), "{up:?}");

    rehearsal.answer("cluster/machines", Answer::Fail);
    assert!(rehearsal.up().await.is_err());
    assert!(
        rehearsal.called().contains(&"provision cluster/bootstrap/cilium".to_owned()),
        "up, nobody waits for machines"
    );
    rehearsal.answer("cluster/machines", Answer::Ok);

    assert!(rehearsal.down().await.is_ok());
    let down: Vec<String> = rehearsal.calls().into_iter().map(|call| call.node).collect();
    assert!(down[..5].iter().all(|node| node.starts_with("add_ons/")), "{down:?}");
    assert!(down[5..7].iter().all(|node| node.starts_with("autoscaler/")), "{down:?}");
    assert!(down[7..9].iter().all(|node| node.starts_with("cluster/bootstrap/")), "{down:?}");
    assert_eq!(down[9..], [REMOTE, "cluster/machines", "identity", "manager_is_ready"]);
    assert!(rehearsal.provisioned_nodes().is_empty());
}

#[tokio::test]
async fn group_case2_a_remote_with_two_users_is_registered_once_and_outlives_both() {
    let (rehearsal, _) = rehearsal(&["g.nvidia"]);
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(rehearsal.called().iter().filter(|call| *call == "provision cluster/remote").count(), 1);
    for user in ["add_ons/metrics_server", "cluster/bootstrap/cloud_provider"] {
        rehearsal.answer(user, Answer::Yield);
        assert!(matches!(rehearsal.down().await, Err(Error::Yield { .. })));
        assert!(rehearsal.calls().iter().all(|call| call.node != REMOTE), "{user} still needs the registration");
        rehearsal.answer(user, Answer::Ok);
    }
    assert!(rehearsal.down().await.is_ok());
    assert_eq!(rehearsal.called().iter().filter(|call| *call == "deprovision cluster/remote").count(), 1);
}

#[tokio::test]
async fn group_case2_what_runs_on_a_cluster_waits_until_it_can_be_reached() {
    let (rehearsal, _) = rehearsal(&[]);
    rehearsal.answer(REMOTE, Answer::Yield);
    assert!(matches!(rehearsal.up().await, Err(Error::Yield { .. })));
    assert_eq!(
        rehearsal.called(),
        [
            "provision manager_is_ready",
            "provision identity",
            "provision cluster/machines",
            "provision cluster/remote: yield"
        ]
    );
}

#[tokio::test]
async fn group_case2_the_gates_come_before_all_else() {
    let (rehearsal, region) = rehearsal(&[]);
    *region.identity.lock().unwrap() = Identity::Provisioning;
    let Err(Error::Yield { message, .. }) = rehearsal.up().await else { panic!("not a yield") };
    assert_eq!(message, "the region still makes the cluster's identity");
    *region.identity.lock().unwrap() = Identity::Failed;
    assert!(matches!(rehearsal.up().await, Err(Error::Unexpected(_))));
    assert!(rehearsal.provisioned_nodes().iter().all(|node| !node.starts_with("cluster/")));
    rehearsal.answer("manager_is_ready", Answer::Yield);
    let asked = region.asked.load(Ordering::Relaxed);
    assert!(matches!(rehearsal.up().await, Err(Error::Yield { .. })));
    assert_eq!(region.asked.load(Ordering::Relaxed), asked);
}

#[tokio::test]
async fn group_case3_parts_follow_facts_that_only_run_time_knows() {
    let (rehearsal, region) = rehearsal(&["g.nvidia"]);
    let gpus = |called: Vec<String>| -> Vec<String> {
        called
            .into_iter()
            .filter(|call| ["nvidia", "cert_manager", "amd"].iter().any(|gpu| call.contains(gpu)))
            .collect()
    };
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(
        gpus(rehearsal.called()),
        ["provision add_ons/nvidia", "deprovision add_ons/cert_manager", "deprovision add_ons/amd"]
    );
    // The region swaps its hardware: the spec has not changed, the parts have.
    region.gpus.lock().unwrap()[1].1 = Gpu::Amd;
    rehearsal.answer("add_ons/nvidia", Answer::Yield);
    assert!(matches!(rehearsal.up().await, Err(Error::Yield { .. })));
    assert_eq!(
        gpus(rehearsal.called()),
        ["deprovision add_ons/nvidia: yield", "provision add_ons/cert_manager", "provision add_ons/amd"]
    );
    assert!(rehearsal.provisioned_nodes().contains("add_ons/nvidia"));
}

#[tokio::test]
async fn group_case3_a_part_that_is_given_up_leaves_the_registration_alone() {
    let (mut rehearsal, _) = rehearsal(&["g.nvidia"]);
    rehearsal.object().spec.autoscaling = true;
    assert!(rehearsal.up().await.is_ok());
    rehearsal.called();
    rehearsal.object().spec.autoscaling = false;
    rehearsal.object().spec.flavors.clear();
    assert!(rehearsal.up().await.is_ok());
    let called = rehearsal.called();
    for given_up in ["autoscaler/autoscaler", "autoscaler/openstack", "add_ons/nvidia"] {
        assert!(called.contains(&format!("deprovision {given_up}")), "{called:?}");
    }
    assert!(called.contains(&"provision cluster/remote".to_owned()));
    assert!(!called.contains(&"deprovision cluster/remote".to_owned()));
}

#[tokio::test]
async fn group_case3_teardown_asks_for_no_facts() {
    let (mut rehearsal, region) = rehearsal(&["g.nvidia", "g.amd"]);
    rehearsal.object().spec.autoscaling = true;
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(region.asked.load(Ordering::Relaxed), 1);
    rehearsal.object().spec.autoscaling = false;
    rehearsal.object().spec.flavors.clear();
    *region.identity.lock().unwrap() = Identity::Failed;
    assert!(rehearsal.down().await.is_ok());
    assert_eq!(region.asked.load(Ordering::Relaxed), 1);
    assert!(rehearsal.provisioned_nodes().is_empty(), "{:?}", rehearsal.provisioned_nodes());
}
