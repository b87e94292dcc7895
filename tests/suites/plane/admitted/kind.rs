//! A kind with a field of each type that a spec may have.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    num::{NonZeroI16, NonZeroU32},
};

use k8s_openapi::{
    ByteString,
    apiextensions_apiserver::pkg::apis::apiextensions::v1,
    apimachinery::pkg::{
        api::resource,
        apis::meta::v1::{LabelSelector, Time},
        runtime,
        util::intstr,
    },
};
use kube::CustomResource;
use opgen::prelude::*;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A type of Kubernetes with the name and the schema that `k8s-openapi` gives it by its feature `schemars`.
macro_rules! named {
    ($name:ident, $inner:ty, $full:literal, $schema:tt) => {
        #[derive(Serialize, Deserialize, Clone, Debug)]
        #[serde(transparent)]
        pub(super) struct $name($inner);

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
    resource::Quantity,
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    {"x-kubernetes-int-or-string": true}
);
named!(
    IntOrString,
    intstr::IntOrString,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    {"x-kubernetes-int-or-string": true}
);
named!(RawExtension, runtime::RawExtension, "io.k8s.apimachinery.pkg.runtime.RawExtension", {"type": "object"});
named!(Json, v1::JSON, "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", {"type": "object"});
named!(
    Moment,
    Time,
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    {"type": "string", "format": "date-time"}
);
named!(Bytes, ByteString, "io.k8s.ByteString", {"type": "string", "format": "byte"});

impl Default for Quantity {
    fn default() -> Self {
        Self(resource::Quantity("1".to_owned()))
    }
}

impl Default for IntOrString {
    fn default() -> Self {
        Self(intstr::IntOrString::Int(1))
    }
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Sampler", namespaced, status = "Status")]
#[managed(allow(integer, float, list))]
#[serde(rename_all = "camelCase")]
pub(crate) struct SamplerSpec {
    optional_text: Option<String>,
    #[serde(default)]
    text: String,
    letter: Option<char>,
    #[serde(default)]
    flag: bool,
    byte: Option<i8>,
    unsigned_byte: Option<u8>,
    short: Option<i16>,
    unsigned_short: Option<u16>,
    number: Option<i32>,
    unsigned: Option<u32>,
    #[serde(default)]
    long: i64,
    unsigned_long: Option<u64>,
    single: Option<f32>,
    double: Option<f64>,
    non_zero: Option<NonZeroU32>,
    signed_non_zero: Option<NonZeroI16>,
    #[serde(default)]
    list: Vec<String>,
    gaps: Option<Vec<Option<i32>>>,
    set: Option<BTreeSet<String>>,
    pair: Option<[i32; 2]>,
    labels: Option<BTreeMap<String, String>>,
    blanks: Option<BTreeMap<String, Option<i32>>>,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    any: Option<Value>,
    object: Option<Map<String, Value>>,
    address: Option<IpAddr>,
    old_address: Option<Ipv4Addr>,
    new_address: Option<Ipv6Addr>,
    #[serde(default)]
    quantity: Quantity,
    optional_quantity: Option<Quantity>,
    #[serde(default)]
    port: IntOrString,
    optional_port: Option<IntOrString>,
    raw: Option<RawExtension>,
    json: Option<Json>,
    moment: Option<Moment>,
    bytes: Option<Bytes>,
    #[schemars(schema_with = "opgen::reference::label_selector")]
    #[serde(default)]
    selector: LabelSelector,
    plain: Option<Plain>,
    #[serde(default)]
    choice: Choice,
    optional_choice: Option<Choice>,
    either: Option<Either>,
    inner: Option<Box<Inner>>,
    inners: Option<Vec<Inner>>,
}

/// An enum of texts.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
enum Plain {
    One,
    Two,
}

/// A union of structs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
enum Choice {
    First(Inner),
    Second { count: i32 },
}

impl Default for Choice {
    fn default() -> Self {
        Self::Second { count: 1 }
    }
}

/// A number or a text.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(untagged)]
enum Either {
    Number(i32),
    Text(String),
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Inner {
    name: String,
    #[serde(default)]
    port: IntOrString,
    note: Option<String>,
}
