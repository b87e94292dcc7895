//! Trials of an opgen operator whose tree has objects in other clusters.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

use k8s_openapi::api::core::v1::ConfigMap;
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
    // An owner whose finalizer is removed by force, and that is created again for another cluster, leaves its objects behind.
    let checks = Check::ALL.iter().copied().filter(|check| *check != Check::Deletion);
    let report = trial(operator).sample(&sample).only(checks).seeds(0..9).pairs(8).run();
    assert!(report.is_clean(), "{report}");
}

#[test]
fn objects_of_two_owners_in_other_clusters_are_independent() {
    let both = trial(operator).sample(&fleet("one")).sample(&fleet("two"));
    let report = both.only([Check::Isolation]).run();
    assert!(report.is_clean(), "{report}");
}
