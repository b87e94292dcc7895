//! The kind that the trees of these tests are for.

use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An application with parts that come and go.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "trees.opgen.dev", version = "v1", kind = "App", namespaced, status = "Status")]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppSpec {
    #[managed(allow(bool))]
    pub(crate) snapshots: bool,
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub(crate) pools: Vec<Pool>,
}

/// A part of an application.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
pub(crate) struct Pool {
    pub(crate) name: String,
    pub(crate) size: i32,
}

/// An application with these pools.
pub(crate) fn app(pools: &[&str]) -> App {
    let pools = pools.iter().map(|name| Pool { name: (*name).to_owned(), size: 1 }).collect();
    let mut app = App::new("shop", AppSpec { snapshots: false, pools });
    app.metadata.namespace = Some("web".to_owned());
    app.metadata.uid = Some("0f8b36c5-5a0e-4c3f-9c5e-3b7f2f1f9d11".to_owned());
    app
}
