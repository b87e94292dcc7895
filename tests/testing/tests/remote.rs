//! Injects faults into an opgen operator whose tree has objects in other clusters.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

use k8s_openapi::{
    api::core::v1::ConfigMap,
    jiff::{SignedDuration, Timestamp},
};
use kube::{CustomResource, api::ObjectMeta};
use opgen::{Operator, prelude::*, scope::Kubeconfig};
use opgen_testing::{Check, trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "platform.example.com", version = "v1", kind = "Fleet", namespaced, status = "Status")]
pub struct FleetSpec {
    #[serde(default)]
    #[managed(allow(bool))]
    nested: bool,
    /// The text of all objects.
    #[serde(default)]
    text: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Fleet)]
pub struct Tree {
    #[provisioner(resource)]
    here: ConfigMap,
    #[provisioner(remote)]
    outer: Outer,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Fleet)]
pub struct Outer {
    #[provisioner(resource)]
    there: ConfigMap,
    #[provisioner(remote, when = |fleet| fleet.spec.nested)]
    inner: Inner,
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Fleet)]
pub struct Inner {
    #[provisioner(resource)]
    first: ConfigMap,
    #[provisioner(resource)]
    second: ConfigMap,
}

impl Tree {
    fn here(fleet: &Fleet) -> ConfigMap {
        config(fleet, &fleet.spec.text, "here")
    }

    fn outer(_: &Fleet) -> Kubeconfig {
        Kubeconfig::secret("outer")
    }
}

impl Outer {
    fn there(fleet: &Fleet) -> ConfigMap {
        config(fleet, &fleet.spec.text, "there")
    }

    fn inner(_: &Fleet) -> Kubeconfig {
        Kubeconfig::secret("inner")
    }
}

impl Inner {
    fn first(fleet: &Fleet) -> ConfigMap {
        config(fleet, &fleet.spec.text, "first")
    }

    fn second(fleet: &Fleet) -> ConfigMap {
        config(fleet, &fleet.spec.text, "second")
    }
}

fn config(owner: &impl ResourceExt, text: &str, name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(format!("{}-{name}", owner.name_any())), ..ObjectMeta::default() },
        data: Some([("text".to_owned(), text.to_owned())].into()),
        ..ConfigMap::default()
    }
}

fn fleet(name: &str) -> Fleet {
    Fleet::new(name, FleetSpec { nested: true, text: "one".to_owned() })
}

fn operator() -> Operator {
    Operator::new("fleets").controls::<Fleet, Tree>()
}

#[test]
fn objects_in_other_clusters_are_made_changed_and_removed_whatever_fails() {
    let report = trial(operator).sample(&fleet("one")).seeds(0..9).pairs(8).run();
    assert!(report.is_clean(), "{report}");
}

/// The same tree, whose clusters end with the owner.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Fleet)]
pub struct EndingTree {
    #[provisioner(resource)]
    here: ConfigMap,
    #[provisioner(remote(background))]
    outer: Outer,
}

impl EndingTree {
    fn here(fleet: &Fleet) -> ConfigMap {
        Tree::here(fleet)
    }

    fn outer(fleet: &Fleet) -> Kubeconfig {
        Tree::outer(fleet)
    }
}

#[test]
fn objects_in_clusters_that_end_with_the_owner_are_left_there_whatever_fails() {
    let operator = || Operator::new("fleets").controls::<Fleet, EndingTree>();
    let checks = [Check::Convergence, Check::TwoStops, Check::Deletion, Check::Isolation, Check::RemoteClusters];
    let report = trial(operator).sample(&fleet("one")).only(checks).pairs(8).run();
    assert!(report.is_clean(), "{report}");
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "platform.example.com", version = "v1", kind = "Convoy", namespaced, status = "Status")]
pub struct ConvoySpec {
    /// The Secret with the kubeconfig of the cluster.
    #[schemars(length(min = 1))]
    cluster: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Convoy)]
pub struct ConvoyTree {
    #[provisioner(remote)]
    inside: Inside,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Convoy)]
pub struct Inside {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl ConvoyTree {
    fn inside(convoy: &Convoy) -> Kubeconfig {
        Kubeconfig::secret(&convoy.spec.cluster)
    }
}

impl Inside {
    fn config(convoy: &Convoy) -> ConfigMap {
        config(convoy, "", "inside")
    }
}

#[test]
fn objects_move_to_another_cluster_whatever_fails() {
    let operator = || Operator::new("convoys").controls::<Convoy, ConvoyTree>();
    let sample = Convoy::new("one", ConvoySpec { cluster: "blue".to_owned() });
    let report = trial(operator).sample(&sample).seeds(0..9).pairs(8).run();
    assert!(report.is_clean(), "{report}");
}

/// A tree with an object that depends on the time since its creation.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Convoy)]
pub struct AgingTree {
    #[provisioner(remote)]
    inside: Inside,
    age: Age,
}

impl AgingTree {
    fn inside(convoy: &Convoy) -> Kubeconfig {
        ConvoyTree::inside(convoy)
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access(ConfigMap: get, apply, delete))]
pub struct Age;

fn age(convoy: &Convoy) -> String {
    format!("{}-age", convoy.name_any())
}

impl Provision<Convoy> for Age {
    async fn provision(cx: &Context<'_, Convoy, Self>) -> Result<()> {
        let found = cx.find::<ConfigMap>(&age(cx.object())).await?;
        let start = found.as_ref().and_then(|found| found.data.as_ref()?.get("start")?.parse::<Timestamp>().ok());
        let start = start.unwrap_or_else(|| cx.now());
        let is_old = cx.now().duration_since(start) > SignedDuration::from_secs(60);
        let data = [("start".to_owned(), start.to_string()), ("old".to_owned(), is_old.to_string())];
        let metadata = ObjectMeta { name: Some(age(cx.object())), ..ObjectMeta::default() };
        let wanted = ConfigMap { metadata, data: Some(data.into()), ..ConfigMap::default() };
        if found.is_none_or(|found| found.data != wanted.data) {
            cx.apply(&wanted).await?;
        }
        Ok(())
    }

    async fn deprovision(cx: &Teardown<'_, Convoy, Self>) -> Result<()> {
        if cx.delete::<ConfigMap>(&age(cx.object())).await? {
            yield_because("AgeIsThere", "the age is not gone yet")?;
        }
        Ok(())
    }
}

#[test]
fn another_state_after_a_disturbance_of_clusters_at_rest_is_found() {
    let operator = || Operator::new("convoys").controls::<Convoy, AgingTree>();
    let sample = Convoy::new("one", ConvoySpec { cluster: "blue".to_owned() });
    let report = trial(operator).sample(&sample).replay("cluster:0=partition").unwrap().to_string();
    let problem = "the state after a disturbance of other clusters differs from the one before";
    assert!(report.contains(problem) && report.contains("+   .data.old: \"true\""), "{report}");
}

#[test]
fn objects_of_two_owners_in_other_clusters_are_independent() {
    let both = trial(operator).sample(&fleet("one")).sample(&fleet("two"));
    let report = both.only([Check::Isolation]).run();
    assert!(report.is_clean(), "{report}");
}
