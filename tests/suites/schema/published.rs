//! Merge keys of types of Kubernetes: what the published OpenAPI says of each type is in a definition that embeds it.

use std::{collections::BTreeMap, fmt::Write, fs, path::PathBuf};

use kube::CustomResource;
use opgen::{
    manifest::{Describe, Rendered, files},
    prelude::*,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const LIST: &str = "x-kubernetes-list-type";
const KEYS: &str = "x-kubernetes-list-map-keys";
const MAP: &str = "x-kubernetes-map-type";
const PREFIX: &str = "io.k8s.";

/// Types that operators embed, with all that is in them.
const EMBEDDED: [&str; 10] = [
    "api.apps.v1.DeploymentStrategy",
    "api.autoscaling.v2.HorizontalPodAutoscalerSpec",
    "api.batch.v1.PodFailurePolicy",
    "api.core.v1.PersistentVolumeClaimSpec",
    "api.core.v1.PodTemplateSpec",
    "api.core.v1.ServiceSpec",
    "api.networking.v1.IngressSpec",
    "api.networking.v1.NetworkPolicySpec",
    "api.rbac.v1.Subject",
    "apimachinery.pkg.apis.meta.v1.ObjectMeta",
];

type Published = BTreeMap<String, Value>;

/// What kube-apiserver publishes, as the sandbox has it.
fn published() -> Published {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sandbox/table/schemas.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_table_of_merge_keys_is_what_kubernetes_publishes() {
    let table = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../runtime/src/manifest/crd/types/merge.txt");
    let expected = table_of(&published());
    if std::env::var_os("OPGEN_BLESS").is_some() {
        fs::write(&table, &expected).unwrap();
    }
    assert_eq!(fs::read_to_string(table).unwrap(), expected, "`cargo bless` writes it anew");
}

fn table_of(published: &Published) -> String {
    let mut text = String::new();
    for (name, schema) in published {
        let Some(short) = name.strip_prefix(PREFIX) else { continue };
        let mut rules: Vec<String> = (schema[MAP] == "atomic").then(|| "=".to_owned()).into_iter().collect();
        let properties: BTreeMap<_, _> = schema["properties"].as_object().into_iter().flatten().collect();
        for (field, schema) in properties {
            match (schema[LIST].as_str(), schema[MAP].as_str()) {
                (_, Some("atomic")) => rules.push(format!("{field}=")),
                (Some("set"), _) => rules.push(format!("{field}#")),
                (Some("map"), _) => rules.push(format!("{field}[{}]", keys_of(schema, published))),
                _ => {}
            }
        }
        if !rules.is_empty() {
            writeln!(text, "{short} {}", rules.join(" ")).unwrap();
        }
    }
    text
}

/// The keys of a list, each with its default where it may be missing.
fn keys_of(list: &Value, published: &Published) -> String {
    let items = resolved(&list["items"], published);
    let key = |key: &Value| {
        let name = key.as_str().unwrap();
        let required = items["required"].as_array().is_some_and(|required| required.contains(key));
        match items["properties"][name]["default"].as_str().filter(|_| !required) {
            Some(default) => format!("{name}:{default}"),
            None => name.to_owned(),
        }
    };
    list[KEYS].as_array().unwrap().iter().map(key).collect::<Vec<_>>().join(",")
}

fn resolved<'a>(schema: &'a Value, published: &'a Published) -> &'a Value {
    let nested = schema["allOf"][0]["$ref"].as_str();
    schema["$ref"].as_str().or(nested).map_or(schema, |name| &published[name])
}

#[derive(CustomResource, Managed, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Holder", namespaced, status = "Status")]
struct HolderSpec {
    name: String,
}

#[test]
fn every_merge_key_of_an_embedded_type_is_carried() {
    let published = published();
    let rendered = embedding(&published);
    let crd: Value = serde_saphyr::from_str(rendered.text("base/crds/demo.example.com_holders.yaml").unwrap()).unwrap();
    let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let mut counts = BTreeMap::new();
    for short in EMBEDDED {
        let schema = &spec["properties"][&field_of(short)];
        compare(schema, &json!({"$ref": format!("{PREFIX}{short}")}), &published, short, &mut counts);
    }
    assert_eq!(rendered.findings, []);
    let of_pods = |keyword: &str| counts[&("api.core.v1.PodTemplateSpec".to_owned(), keyword.to_owned())];
    assert_eq!((of_pods(LIST), of_pods(MAP), of_pods(KEYS)), (155, 46, 27));
}

/// The definition of a kind with a field of each type, as `kube` derives it, completed by the names of the types.
fn embedding(published: &Published) -> Rendered {
    let mut project = Operator::new("demo").defines::<Holder>().project().unwrap();
    let controlled = &mut project.controllers[0];
    let references: Map<_, _> = EMBEDDED
        .iter()
        .map(|short| (field_of(short), json!({"$ref": format!("#/components/schemas/{PREFIX}{short}")})))
        .collect();
    let inlined: Map<_, _> = EMBEDDED
        .iter()
        .map(|short| (field_of(short), derived(&published[&format!("{PREFIX}{short}")], published, true)))
        .collect();
    let schemas: Map<_, _> =
        published.iter().map(|(name, schema)| (name.clone(), named(name, derived(schema, published, false)))).collect();
    controlled.round_trip = None;
    controlled.schema = Some(json!({
        "properties": {"spec": {"properties": references, "type": "object"}},
        "components": {"schemas": schemas},
    }));
    let crd = controlled.crd.as_mut().unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] =
        json!({"type": "object", "properties": inlined});
    files(&project).unwrap_or_else(|error| panic!("{error}"))
}

fn field_of(short: &str) -> String {
    short.replace('.', "_")
}

/// A schema as `k8s-openapi` has it: without defaults, merge keys and formats.
fn derived(schema: &Value, published: &Published, inline: bool) -> Value {
    let nested = schema["allOf"][0]["$ref"].as_str();
    if let Some(name) = schema["$ref"].as_str().or(nested) {
        return match inline {
            true => named(name, derived(&published[name], published, true)),
            false => json!({"$ref": format!("#/components/schemas/{name}")}),
        };
    }
    let mut derived = Map::new();
    for key in ["type", "required"] {
        derived.extend(schema.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    for key in ["items", "additionalProperties"] {
        derived.extend(schema.get(key).map(|value| (key.to_owned(), self::derived(value, published, inline))));
    }
    if let Some(fields) = schema["properties"].as_object() {
        let fields: Map<_, _> =
            fields.iter().map(|(name, value)| (name.clone(), self::derived(value, published, inline))).collect();
        derived.insert("properties".into(), fields.into());
    }
    derived.into()
}

/// The types that `k8s-openapi` writes by hand.
fn named(name: &str, schema: Value) -> Value {
    match name.rsplit('.').next() {
        Some("Quantity" | "IntOrString") => json!({"x-kubernetes-int-or-string": true}),
        Some("Time" | "MicroTime") => json!({"type": "string", "format": "date-time"}),
        Some("FieldsV1" | "RawExtension" | "JSON") => json!({"type": "object"}),
        _ => schema,
    }
}

fn compare(
    schema: &Value,
    said: &Value,
    published: &Published,
    path: &str,
    counts: &mut BTreeMap<(String, String), usize>,
) {
    let of_type = resolved(said, published);
    for keyword in [LIST, MAP, KEYS] {
        let expected = [&said[keyword], &of_type[keyword]].into_iter().find(|value| !value.is_null());
        // A list of which nothing is said is atomic.
        let silent = keyword == LIST && schema[keyword] == "atomic";
        assert_eq!(
            &schema[keyword],
            expected.unwrap_or(if silent { &schema[keyword] } else { &Value::Null }),
            "{path}"
        );
        if !schema[keyword].is_null() {
            let top = path.split([' ']).next().unwrap_or_default().to_owned();
            *counts.entry((top, keyword.to_owned())).or_default() += 1;
        }
    }
    for (name, inner) in of_type["properties"].as_object().into_iter().flatten() {
        compare(&schema["properties"][name], inner, published, &format!("{path} .{name}"), counts);
    }
    for key in ["items", "additionalProperties"] {
        if of_type[key].is_object() && schema[key].is_object() {
            compare(&schema[key], &of_type[key], published, &format!("{path} {key}"), counts);
        }
    }
}
