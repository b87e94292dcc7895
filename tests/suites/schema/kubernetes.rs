//! Types of Kubernetes in a spec: their nulls, bounds, content and merge keys.

use kube::CustomResource;
use opgen::prelude::*;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

use super::rendered;

/// A type of Kubernetes, with the name and the schema that `k8s-openapi` gives it by its feature `schemars`: that feature
/// would be one for every package of this workspace.
macro_rules! named {
    ($name:ident, $inner:ty, $full:literal, $schema:tt) => {
        #[derive(Serialize, Deserialize, Clone, Debug)]
        #[serde(transparent)]
        struct $name($inner);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $full.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

named!(
    Quantity,
    k8s_openapi::apimachinery::pkg::api::resource::Quantity,
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    {"description": "A quantity.", "x-kubernetes-int-or-string": true}
);
named!(
    IntOrString,
    k8s_openapi::apimachinery::pkg::util::intstr::IntOrString,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    {"description": "A number or a name.", "x-kubernetes-int-or-string": true}
);
named!(
    RawExtension,
    k8s_openapi::apimachinery::pkg::runtime::RawExtension,
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
    {"description": "An object.", "type": "object"}
);
named!(
    Json,
    k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSON,
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
    {"description": "A value.", "type": "object"}
);

impl Default for Quantity {
    fn default() -> Self {
        Self(k8s_openapi::apimachinery::pkg::api::resource::Quantity("1".to_owned()))
    }
}

impl Default for IntOrString {
    fn default() -> Self {
        Self(k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::Int(1))
    }
}

#[derive(CustomResource, Managed, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Mixed", plural = "mixes", namespaced, status = "Status")]
#[serde(rename_all = "camelCase")]
struct MixedSpec {
    #[serde(default)]
    quantity: Quantity,
    optional_quantity: Option<Quantity>,
    #[serde(default)]
    port: IntOrString,
    raw: RawExtension,
    optional_raw: Option<RawExtension>,
    json: Json,
    nested: Nested,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
struct Nested {
    #[serde(default)]
    port: IntOrString,
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    raws: Vec<RawExtension>,
}

/// The schema of the spec in the definition of the kind.
fn spec(path: &str, rendered: &opgen::manifest::Rendered) -> Value {
    let crd: Value = serde_saphyr::from_str(rendered.text(path).unwrap()).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
}

#[test]
fn a_field_is_nullable_only_where_its_type_takes_null() {
    let rendered = rendered::<Mixed>().unwrap_or_else(|error| panic!("{error}"));
    let fields = &spec("base/crds/demo.example.com_mixes.yaml", &rendered)["properties"];
    assert_eq!(fields["quantity"]["nullable"], Value::Null, "{fields:#}");
    assert_eq!(fields["optionalQuantity"]["nullable"], true);
    assert_eq!(fields["port"]["nullable"], Value::Null);
    assert_eq!(fields["nested"]["properties"]["port"]["nullable"], Value::Null);
}

#[test]
fn the_number_of_an_int_or_string_has_32_bits() {
    let rendered = rendered::<Mixed>().unwrap_or_else(|error| panic!("{error}"));
    let fields = &spec("base/crds/demo.example.com_mixes.yaml", &rendered)["properties"];
    assert_eq!((&fields["port"]["minimum"], &fields["port"]["maximum"]), (&json!(i32::MIN), &json!(i32::MAX)));
}

#[test]
fn raw_extensions_and_json_keep_their_content() {
    const OPEN: &str = "x-kubernetes-preserve-unknown-fields";
    let rendered = rendered::<Mixed>().unwrap_or_else(|error| panic!("{error}"));
    let fields = &spec("base/crds/demo.example.com_mixes.yaml", &rendered)["properties"];
    for field in [&fields["raw"], &fields["optionalRaw"], &fields["nested"]["properties"]["raws"]["items"]] {
        assert_eq!((&field["type"], &field[OPEN]), (&json!("object"), &json!(true)), "{fields:#}");
    }
    assert_eq!((&fields["json"]["type"], &fields["json"][OPEN]), (&Value::Null, &json!(true)));
}
