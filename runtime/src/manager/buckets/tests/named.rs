//! Tests that the manager opens the buckets of all kinds that specs and trees refer to.

use super::{Pump, PumpOfConfig};
use crate::{
    Context, Managed, Operator, Provision, Provisioner, Result, Teardown, foreign::Foreign, manifest::Describe as _,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind in Kubernetes whose objects reference pumps.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Hose", namespaced, status = "crate::Status")]
#[managed(crate = "crate")]
pub(crate) struct HoseSpec {
    #[managed(reference = Pump)]
    pump: String,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Hose, crate = "crate")]
struct HoseTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl HoseTree {
    fn config(_: &Hose) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Foreign<ConfigMap>, crate = "crate")]
struct OptionalPump {
    #[provisioner(resource)]
    pump: Option<Pump>,
}

impl OptionalPump {
    fn pump(_: &ConfigMap) -> Option<Pump> {
        None
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Foreign<ConfigMap>, crate = "crate")]
struct SeveralPumps {
    #[provisioner(resource)]
    pumps: Vec<Pump>,
}

impl SeveralPumps {
    fn pumps(_: &ConfigMap) -> Vec<Pump> {
        Vec::new()
    }
}

/// A node that reads pumps.
#[derive(Provisioner)]
#[provisioner(access(Pump: get), crate = "crate")]
struct ReadsPumps;

impl Provision<Foreign<ConfigMap>> for ReadsPumps {
    async fn provision(_: &Context<'_, Foreign<ConfigMap>, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Foreign<ConfigMap>, Self>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn nats_u5_a_kind_in_a_bucket_that_a_spec_or_a_tree_names_has_its_bucket() {
    let operator = || Operator::new("configs");
    for (operator, part) in [
        (operator().controls::<Hose, HoseTree>(), "reference"),
        (operator().controls::<Foreign<ConfigMap>, PumpOfConfig>(), "node"),
        (operator().controls::<Foreign<ConfigMap>, OptionalPump>(), "optional node"),
        (operator().controls::<Foreign<ConfigMap>, SeveralPumps>(), "node with several objects"),
        (operator().controls::<Foreign<ConfigMap>, ReadsPumps>(), "access"),
    ] {
        let buckets = operator.buckets_of_kinds();
        let names: Vec<_> = buckets.values().map(|of_kind| &*of_kind.bucket.name).collect();
        assert_eq!(names, ["pumps"], "{part}");
        assert!(buckets.values().all(|of_kind| of_kind.definition.is_some()), "{part}");
        assert!(operator.project().unwrap().buckets().contains_key(&Pump::kind()), "{part}");
    }
}
