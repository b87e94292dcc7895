//! Options of a controller, read where they are needed (unikorn §9.3).

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::{
    prelude::*,
    testing::{Recorder, TreeHarness},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cluster that is a chart.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "acceptance.opgen.dev", version = "v1", kind = "VirtualCluster", namespaced, status = "Status")]
struct VirtualClusterSpec {
    #[schemars(extend("x-kubernetes-list-type" = "set"), length(max = 50), inner(length(max = 63)))]
    pools: Vec<String>,
}

/// What the operator's flags say.
#[derive(Debug, Default)]
struct Flags {
    domain: String,
}

type Owner = For<VirtualCluster, Flags>;

#[derive(Provisioner)]
#[provisioner(serial, owner = Owner)]
struct Tree {
    remote: Recorder,
    #[provisioner(resource)]
    values: ConfigMap,
    address: Address,
    #[provisioner(when = has_domain)]
    certificate: Recorder,
    #[provisioner(resource, from(address))]
    published: ConfigMap,
    #[provisioner(each = |cluster| &cluster.spec.pools, key = |pool| pool)]
    pools: Pool,
}

fn has_domain(draft: &Draft<'_, Owner>) -> bool {
    !draft.options().domain.is_empty()
}

impl Tree {
    fn values(draft: &Draft<'_, Owner>) -> ConfigMap {
        said(format!("{}.{}", draft.owner.metadata.name.clone().unwrap(), draft.options().domain))
    }
    fn published(_: &VirtualCluster, address: &str) -> ConfigMap {
        said(address.to_owned())
    }
}

/// A hand-written node reads them from its context.
#[derive(Provisioner)]
#[provisioner(access(), output = String)]
struct Address;

impl Provision<Owner> for Address {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        cx.set_output(format!("https://{}", cx.options().domain));
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Each<Owner, String>)]
struct Pool {
    #[provisioner(resource)]
    values: ConfigMap,
}

impl Pool {
    fn values(draft: &Draft<'_, Each<Owner, String>>) -> ConfigMap {
        let pool: &String = draft;
        said(format!("{pool}.{}", draft.options().domain))
    }
}

fn said(text: String) -> ConfigMap {
    ConfigMap { data: Some([("host".to_owned(), text)].into()), ..ConfigMap::default() }
}

fn rehearsal(domain: &str) -> TreeHarness<Owner, Tree> {
    let cluster = VirtualCluster::new("blue", VirtualClusterSpec { pools: vec!["small".to_owned()] });
    TreeHarness::with_options(cluster, Flags { domain: domain.to_owned() })
}

#[tokio::test]
async fn group_case5_options_reach_build_functions_predicates_and_nodes() {
    let rehearsal = rehearsal("example.com");
    assert!(rehearsal.up().await.is_ok());
    for (node, host) in [
        ("values", "blue.example.com"),
        ("published", "https://example.com"),
        ("pools[small]/values", "small.example.com"),
    ] {
        assert_eq!(rehearsal.objects(node)[0]["data"]["host"], host, "{node}");
    }
    assert!(rehearsal.called().contains(&"provision certificate".to_owned()));
}

#[tokio::test]
async fn group_case5_the_same_tree_with_other_options_is_another_one() {
    let rehearsal = rehearsal("");
    assert!(rehearsal.up().await.is_ok());
    assert!(rehearsal.called().contains(&"deprovision certificate".to_owned()));
    assert_eq!(rehearsal.objects("values")[0]["data"]["host"], "blue.");
}
