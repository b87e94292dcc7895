//! What the definition of a kind says beside its Rust types: keywords, merge keys, nulls and content of types of Kubernetes.

mod kubernetes;
mod published;
mod refused;

use kube::{CustomResource, KubeSchema};
use opgen::{
    manifest::{Describe, ManifestError, Rendered, files},
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

/// The tree of every kind here.
#[derive(Provisioner)]
#[provisioner(access())]
struct Nothing;

impl<K: Managed> Provision<K> for Nothing {
    async fn provision(_: &Context<'_, K, Self>) -> Result<()> {
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, K, Self>) -> Result<()> {
        Ok(())
    }
}

/// The files of an operator of one kind, or what speaks against them.
fn rendered<K>() -> Result<Rendered, ManifestError>
where
    K: Managed + opgen::Owner<Object = K, Item = (), Options = ()>,
{
    files(&Operator::new("demo").controls::<K, Nothing>().project().unwrap())
}

#[test]
fn list_types_map_keys_and_rules_of_kube_schema_reach_the_definition() {
    let rendered = rendered::<Gate>().unwrap_or_else(|error| panic!("{error}"));
    let crd = rendered.text("base/crds/demo.example.com_gates.yaml").unwrap();
    for part in ["x-kubernetes-list-type: map", "x-kubernetes-list-map-keys:", "rule: self == oldSelf"] {
        assert!(crd.contains(part), "{part} is not in\n{crd}");
    }
    assert_eq!(rendered.findings, []);
}
