//! One `Widget` owns one `ConfigMap`: the operator that is measured, and that other frameworks' versions are compared with.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A size, and a payload to carry.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "bench.example.com", version = "v1", kind = "Widget", namespaced, status = "Status")]
pub struct WidgetSpec {
    /// Goes into the config map.
    pub size: i64,
    /// Goes into the config map.
    #[serde(default)]
    pub payload: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Widget)]
pub struct WidgetTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl WidgetTree {
    fn config(widget: &Widget) -> ConfigMap {
        let size = ("size".to_owned(), widget.spec.size.to_string());
        let payload = ("payload".to_owned(), widget.spec.payload.clone());
        ConfigMap { data: Some([size, payload].into()), ..ConfigMap::default() }
    }
}

/// Without events: the peers record none.
pub fn operator() -> Operator {
    Operator::new("widget").controls_with::<Widget, WidgetTree>(|widget| widget.events(false))
}
