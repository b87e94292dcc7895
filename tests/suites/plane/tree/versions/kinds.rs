//! Kinds with two served versions, and their definitions.

use kube::CustomResource;
use opgen::prelude::*;
use opgen_tests::Plane;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) const GROUP: &str = "versions.example.com";

/// The kinds of the first version.
pub(crate) mod v1 {
    use super::*;

    /// An owner in its first version.
    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    #[kube(group = "versions.example.com", version = "v1", kind = "Stand", namespaced, status = "Status")]
    pub(crate) struct StandSpec {
        #[serde(default)]
        pub(crate) text: String,
    }

    /// An owner that the server stores in its second version.
    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    #[kube(group = "versions.example.com", version = "v1", kind = "Booth", namespaced, status = "Status")]
    pub(crate) struct BoothSpec {
        #[serde(default)]
        pub(crate) text: String,
        #[serde(default)]
        #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
        pub(crate) names: Vec<String>,
    }

    opgen::dynamic_kind! {
        pub(crate) Ledger: "versions.example.com/v1", "ledgers", namespaced;
        pub(crate) Awning: "versions.example.com/v1", "awnings", namespaced;
    }
}

/// The same kinds in the second version.
pub(crate) mod v2 {
    use super::*;

    /// The owner in its second version.
    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    #[kube(group = "versions.example.com", version = "v2", kind = "Stand", namespaced, status = "Status")]
    pub(crate) struct StandSpec {
        #[serde(default)]
        pub(crate) text: String,
    }

    opgen::dynamic_kind! {
        pub(crate) Ledger: "versions.example.com/v2", "ledgers", namespaced;
    }
}

/// Defines a kind with JSON content in the versions v1 and v2, of which one is stored.
pub(crate) async fn define(plane: &Plane, kind: &str, plural: &str, stored: &str) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let versions = ["v1", "v2"].map(|name| {
        json!({
            "name": name, "served": true, "storage": name == stored, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": schema},
        })
    });
    install(
        plane,
        &json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{GROUP}")},
            "spec": {
                "group": GROUP, "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
                "versions": versions,
            },
        }),
    )
    .await;
}

/// Defines the kind of a type in the versions v1 and v2, of which one is stored. Their schemas are the same.
pub(crate) async fn define_type<K: kube::CustomResourceExt>(plane: &Plane, stored: &str) {
    let mut definition = serde_json::to_value(K::crd()).unwrap();
    let version = definition["spec"]["versions"][0].clone();
    definition["spec"]["versions"] = ["v1", "v2"]
        .map(|name| {
            let mut version = version.clone();
            version["name"] = name.into();
            version["storage"] = (name == stored).into();
            version
        })
        .into_iter()
        .collect();
    install(plane, &definition).await;
}

async fn install(plane: &Plane, definition: &Value) {
    plane.apply(&definition.to_string()).await;
    plane.until_established(definition["metadata"]["name"].as_str().unwrap()).await;
}
