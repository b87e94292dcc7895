//! Schemas that the API server takes and that lose what was said or stored: refused with the path.

use std::net::SocketAddr;

use kube::{CustomResource, KubeSchema};
use opgen::prelude::*;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rendered;

/// Any object, and a schema that doesn't say so.
fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object"})
}

#[derive(CustomResource, Managed, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Pruned", plural = "pruneds", namespaced, status = "Status")]
struct PrunedSpec {
    inner: Inner,
    empty: Empty,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
struct Inner {
    #[schemars(schema_with = "object")]
    content: Value,
}

/// It holds nothing, so nothing of it is lost.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
struct Empty {}

#[test]
fn an_object_whose_content_would_be_pruned_is_refused() {
    let error = rendered::<Pruned>().unwrap_err().to_string();
    let found = ".spec.inner.content: the type accepts fields that are not in the schema, and the API server drops them; \
                 add `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`";
    assert!(error.contains(found), "{error}");
    assert!(!error.contains(".spec.empty"), "{error}");
}

#[derive(CustomResource, Managed, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Strict", plural = "stricts", namespaced, status = "Status")]
struct StrictSpec {
    at: Address,
    #[schemars(extend("nullable" = true))]
    level: i32,
    #[serde(default)]
    wait: Option<kube::core::Duration>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
struct Address {
    #[serde(default)]
    socket: Option<SocketAddr>,
}

#[test]
fn a_value_that_the_schema_admits_and_the_type_can_not_decode_is_refused() {
    let error = rendered::<Strict>().unwrap_err().to_string();
    for found in [
        ".spec.at.socket: the schema accepts `\"socket\"`, which the type can't decode: invalid socket address syntax",
        ".spec.level: the schema accepts `null`, which the type can't decode: invalid type: null, expected i32; use an `Option`",
        ".spec.wait: the schema accepts `\"wait\"`, which the type can't decode: ",
    ] {
        assert!(error.contains(found), "{found} is not in\n{error}");
    }
}

#[derive(CustomResource, Managed, KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Typo", namespaced, status = "Status")]
struct TypoSpec {
    parts: Parts,
}

#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug)]
struct Parts {
    #[schemars(extend("maxProperty" = 3))]
    labels: std::collections::BTreeMap<String, String>,
    #[schemars(extend("x-kubernetes-list-typ" = "set", "propertyNames" = {"pattern": "a"}))]
    names: Vec<String>,
    #[x_kube(merge_strategy = StructMerge::Atomic)]
    place: Place,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
struct Place {
    name: String,
}

#[test]
fn a_keyword_that_would_be_dropped_is_refused_with_the_one_that_was_meant() {
    let error = rendered::<Typo>().unwrap_err().to_string();
    for (path, keyword, fix) in [
        ("labels", "maxProperty", "write `maxProperties`"),
        ("names", "x-kubernetes-list-typ", "write `x-kubernetes-list-type`"),
        ("names", "propertyNames", "remove it, or use a CEL rule"),
        ("place", "x-kubernetes-struct-type", "write `x-kubernetes-map-type`"),
    ] {
        let found =
            format!(".spec.parts.{path}: `{keyword}` is not a schema keyword in Kubernetes, and is dropped; {fix}");
        assert!(error.contains(&found), "{found} is not in\n{error}");
    }
}
