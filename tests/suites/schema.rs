//! `Managed` beside `kube`'s `KubeSchema`: list types, map keys and rules of fields reach the definition.

use kube::{CustomResource, KubeSchema};
use opgen::{
    manifest::{Described, files},
    prelude::*,
};
use serde::{Deserialize, Serialize};

/// A kind whose schema says more than its types do.
#[derive(CustomResource, Managed, KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Gate", namespaced, status = "Status")]
struct GateSpec {
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    #[schemars(length(max = 10))]
    doors: Vec<Door>,
    #[x_kube(validation = "self == oldSelf")]
    #[schemars(length(max = 50))]
    place: String,
}

#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug)]
struct Door {
    #[schemars(length(max = 50))]
    name: String,
    width: i32,
}

#[derive(Provisioner)]
#[provisioner(access())]
struct Nothing;

impl Provision<Gate> for Nothing {
    async fn provision(_: &Context<'_, Gate, Self>) -> Result<()> {
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, Gate, Self>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn list_types_map_keys_and_rules_of_kube_schema_reach_the_definition() {
    let project = Operator::new("gate").controls::<Gate, Nothing>().project().unwrap();
    let rendered = files(&project).unwrap_or_else(|error| panic!("{error}"));
    let crd = rendered.text("crds/demo.example.com_gates.yaml").unwrap();
    for part in ["x-kubernetes-list-type: map", "x-kubernetes-list-map-keys:", "rule: self == oldSelf"] {
        assert!(crd.contains(part), "{part} is not in\n{crd}");
    }
    assert_eq!(rendered.findings, []);
}
