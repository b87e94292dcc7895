//! Tests that a cycle is found and slowed down in which each object reads, by a reference, what the operator writes for another one.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, ResourceExt as _, api::ObjectMeta};
use libtest_mimic::Trial;
use opgen::{Backoff, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::operator::{kinds::available, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("reference_objects_that_change_by_each_other_without_end_are_slowed_down", endless)]
}

/// Its ConfigMap holds the number after that of the ConfigMap that it names.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Parrot", namespaced, status = "Status")]
struct ParrotSpec {
    #[managed(reference = ConfigMap)]
    of: Option<String>,
}

#[derive(Debug, Provisioner)]
#[provisioner(access(ConfigMap: get), output = u64)]
struct Listen;

impl Provision<Parrot> for Listen {
    async fn provision(cx: &Context<'_, Parrot, Self>) -> Result<()> {
        let heard = match &cx.object().spec.of {
            Some(name) => cx.find::<ConfigMap>(name).await?.map_or(0, |config| number(&config)),
            None => 0,
        };
        cx.set_output(heard);
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Parrot, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Parrot)]
struct ParrotTree {
    listen: Listen,
    #[provisioner(resource, from(listen))]
    config: ConfigMap,
}

impl ParrotTree {
    fn config(parrot: &Parrot, heard: &u64) -> ConfigMap {
        let metadata = ObjectMeta { name: Some(parrot.name_any()), ..ObjectMeta::default() };
        let data = Some([("number".to_owned(), (heard + 1).to_string())].into());
        ConfigMap { metadata, data, ..ConfigMap::default() }
    }
}

fn number(config: &ConfigMap) -> u64 {
    let text = config.data.as_ref().and_then(|data| data.get("number"));
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

async fn endless(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let errors = Backoff::Fixed(Duration::from_secs(10));
    let parrots = site.operator().controls_with::<Parrot, ParrotTree>(|c| c.workers(1).backoff(errors));
    let _running = site.start(&parrots).await;
    site.create(&Parrot::new("one", ParrotSpec::default())).await;
    site.create(&Parrot::new("two", ParrotSpec { of: Some("one".to_owned()) })).await;
    let holds_two = |config: &ConfigMap| number(config) == 2;
    until_object(&site.api::<ConfigMap>(), "two", "holds the next number", holds_two).await;
    site.patch::<Parrot>("one", &json!({"spec": {"of": "two"}})).await;
    wait::until("the cycle is found", PATIENCE, async || {
        for name in ["one", "two"] {
            let parrot = site.api::<Parrot>().get(name).await.map_err(|error| error.to_string())?;
            if available(parrot.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Fighting") {
                return Ok(());
            }
        }
        Err("they change each other".to_owned())
    })
    .await;
}
