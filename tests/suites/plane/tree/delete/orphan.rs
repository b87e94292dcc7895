//! Deletes an orphan with the propagation policy of the node that created it.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, CustomResource};
use opgen::{Operator, RunOptions, prelude::*};
use opgen_tests::{
    Plane,
    wait::{until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{super::kinds::holding, hold, is_held, release};
use crate::operator::{kinds::available, site::Site};

/// It is watched in all namespaces, so by this case alone.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "tree.example.com", version = "v1", kind = "Attic", namespaced, status = "Status")]
pub(crate) struct AtticSpec {
    elsewhere: String,
    #[serde(default)]
    pause: bool,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Attic)]
struct AtticTree {
    boxes: BoxTree,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Attic)]
struct BoxTree {
    #[provisioner(resource(delete = "foreground"))]
    config: ConfigMap,
}

impl BoxTree {
    fn config(attic: &Attic) -> ConfigMap {
        let mut config = holding("config", "");
        config.metadata.namespace = Some(attic.spec.elsewhere.clone());
        config
    }
}

pub(super) async fn collected(plane: Arc<Plane>) {
    const OPERATOR: &str = "attics";
    let (site, elsewhere) = (Site::new(&plane).await, plane.namespace("elsewhere").await);
    let operator = Operator::new(OPERATOR).namespace(&site.namespace).controls::<Attic, AtticTree>();
    site.install(&operator).await;
    let client = plane.service_account(&site.namespace, OPERATOR).await.client();
    let _running = Site::run_with(&operator, client, RunOptions::default());
    site.create(&Attic::new("old", AtticSpec { elsewhere: elsewhere.clone(), pause: false })).await;
    let is_done = |attic: &Attic| available(attic.status.as_ref()).is_some_and(|(truth, ..)| truth == "True");
    until_object(&site.api::<Attic>(), "old", "is done", is_done).await;
    let configs = Api::<ConfigMap>::namespaced(plane.client(), &elsewhere);
    hold(&configs, "config").await;

    // The owner goes without its teardown: while it is paused, its finalizer doesn't come again.
    site.patch::<Attic>("old", &json!({"spec": {"pause": true}})).await;
    site.patch::<Attic>("old", &json!({"metadata": {"finalizers": null}})).await;
    site.delete::<Attic>("old").await;
    until_gone(&site.api::<Attic>(), "old").await;
    is_held(&configs, "config").await;
    release(&configs, "config").await;
}
