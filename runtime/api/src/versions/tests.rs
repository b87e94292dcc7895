//! Tests the conversion of a kind that has every type of change, with generated objects.

extern crate self as opgen;

mod fields;
mod units;

use super::*;
use fastrand::Rng;
use serde_json::{Map, Value, json};

#[opgen_macros::versions(crate = "crate", v1alpha1(deprecated), v1beta1, v1)]
mod database {
    use kube::CustomResource;
    use opgen_macros::{Managed, Validated};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    #[kube(group = "demo.example.com", kind = "Database", namespaced, status = "DatabaseStatus")]
    #[kube(printcolumn(name = "Replicas", type_ = "integer", json_path = ".spec.replicas"))]
    #[kube(printcolumn(name = "Limit", type_ = "integer", json_path = ".spec.limit"))]
    #[managed(crate = "crate", allow(list))]
    #[serde(rename_all = "camelCase")]
    #[version(replaced(v1beta1, from(endpoint), to(host, port), up = split, down = join))]
    pub(crate) struct DatabaseSpec {
        #[version(renamed(v1beta1, from = desired_size))]
        #[valid(at_most(limit))]
        pub(crate) replicas: i32,
        #[version(added(v1beta1, default = 9))]
        pub(crate) limit: i32,
        pub(crate) endpoint: String,
        pub(crate) host: String,
        pub(crate) port: i32,
        #[version(retyped(v1, from = i32, up = to_text, down = from_text))]
        pub(crate) memory: String,
        #[version(moved(v1, from = network.ports.metrics))]
        pub(crate) metrics: Option<i32>,
        pub(crate) network: Option<Network>,
        #[version(removed(v1))]
        pub(crate) legacy_mode: Option<bool>,
        #[version(renamed(v1, from = schedules))]
        #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
        pub(crate) backups: Vec<Backup>,
        pub(crate) steps: Vec<Step>,
        pub(crate) pools: BTreeMap<String, Backup>,
        pub(crate) class: Class,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Default)]
    pub(crate) struct DatabaseStatus {
        #[version(renamed(v1, from = ready))]
        pub(crate) ready_replicas: Option<i32>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    pub(crate) struct Network {
        pub(crate) domain: String,
        pub(crate) ports: Ports,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    pub(crate) struct Ports {
        pub(crate) sql: i32,
        #[version(removed(v1, moved))]
        pub(crate) metrics: Option<i32>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Validated)]
    #[valid(crate = "crate")]
    pub(crate) struct Backup {
        pub(crate) name: String,
        #[version(added(v1, default = 7))]
        pub(crate) days: i32,
        pub(crate) mode: Mode,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    pub(crate) enum Mode {
        Full,
        #[version(added(v1beta1, instead = Full))]
        Incremental,
        #[version(removed(v1, instead = Full))]
        Tape,
        #[version(renamed(v1, from = Snap))]
        Snapshot,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    pub(crate) struct Step {
        pub(crate) image: String,
        #[version(added(v1))]
        pub(crate) timeout: Option<i32>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    #[serde(rename_all = "camelCase")]
    pub(crate) enum Class {
        Shared(Shared),
        #[version(added(v1, instead = Shared(Shared { old_weight: 1 })))]
        Reserved {
            nodes: i32,
        },
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
    pub(crate) struct Shared {
        #[version(renamed(v1, from = old_weight))]
        pub(crate) weight: i32,
    }

    fn split(endpoint: String) -> Result<(String, i32), String> {
        let (host, port) = endpoint.rsplit_once(':').ok_or("the endpoint has no port")?;
        Ok((host.to_owned(), port.parse().map_err(|_| "the port is not a number")?))
    }

    fn join(host: String, port: i32) -> String {
        format!("{host}:{port}")
    }

    fn to_text(memory: i32) -> String {
        format!("{memory}Mi")
    }

    fn from_text(memory: String) -> Result<i32, String> {
        memory
            .strip_suffix("Mi")
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| format!("{memory:?} has no whole Mi"))
    }
}

use database::{v1, v1alpha1, v1beta1};

const VERSIONS: [&str; 3] = ["v1alpha1", "v1beta1", "v1"];

fn versions() -> Versions {
    v1::Database::versions()
}

/// Returns an object of a version with random fields.
fn object(version: &str, rng: &mut Rng) -> Value {
    let index = VERSIONS.iter().position(|name| *name == version).unwrap();
    let mut spec = Map::new();
    let number = |rng: &mut Rng| json!(rng.u32(0..5));
    let word = |rng: &mut Rng, words: &[&str]| json!(words[rng.usize(..words.len())]);
    spec.insert(if index == 0 { "desiredSize" } else { "replicas" }.into(), number(rng));
    if index == 0 {
        spec.insert("endpoint".into(), word(rng, &["db:80", "db:080", "db", "x:y:1"]));
    } else {
        spec.insert("limit".into(), number(rng));
        spec.insert("host".into(), word(rng, &["db", "", "x:y"]));
        spec.insert("port".into(), json!(rng.u16(1..4)));
    }
    spec.insert("memory".into(), if index == 2 { word(rng, &["1Mi", "01Mi", "1Gi", ""]) } else { number(rng) });
    if rng.bool() {
        let mut ports = json!({"sql": 1});
        if index < 2 && rng.bool() {
            ports["metrics"] = number(rng);
        }
        spec.insert("network".into(), json!({"domain": "d", "ports": ports}));
    }
    if index == 2 && rng.bool() {
        spec.insert("metrics".into(), number(rng));
    }
    if index < 2 && rng.bool() {
        spec.insert("legacyMode".into(), word(rng, &["a", "b"]));
    }
    let modes: &[&str] =
        [&["Full", "Tape", "Snap"][..], &["Full", "Incremental", "Tape", "Snap"], &["Full", "Incremental", "Snapshot"]]
            [index];
    let backup = |rng: &mut Rng, name: usize| {
        let mut backup = json!({"name": format!("b{name}"), "mode": word(rng, modes)});
        if index == 2 {
            backup["days"] = number(rng);
        }
        backup
    };
    let backups: Vec<_> = (0..rng.usize(..4)).map(|name| backup(rng, name)).collect();
    spec.insert(if index == 2 { "backups" } else { "schedules" }.into(), backups.into());
    let pools: Map<_, _> = (0..rng.usize(..3)).map(|name| (format!("p{name}"), backup(rng, name))).collect();
    spec.insert("pools".into(), pools.into());
    let step = |rng: &mut Rng| {
        let mut step = json!({"image": word(rng, &["a", "b"])});
        if index == 2 && rng.bool() {
            step["timeout"] = number(rng);
        }
        step
    };
    spec.insert("steps".into(), (0..rng.usize(..4)).map(|_| step(rng)).collect());
    let weight = if index == 2 { "weight" } else { "old_weight" };
    let shared = json!({"shared": {weight: rng.u32(0..3)}});
    spec.insert(
        "class".into(),
        if index == 2 && rng.bool() { json!({"reserved": {"nodes": rng.u32(0..3)}}) } else { shared },
    );
    let mut object = json!({
        "apiVersion": format!("demo.example.com/{version}"),
        "kind": "Database",
        "metadata": {"name": "orders", "uid": "u"},
        "spec": spec,
    });
    if rng.bool() {
        object["status"] = json!({if index == 2 { "ready_replicas" } else { "ready" }: rng.u32(0..3)});
    }
    object
}

fn converted(object: &Value, version: &str) -> Value {
    let mut object = object.clone();
    versions().convert(&mut object, version).unwrap();
    object
}

#[test]
fn an_object_is_the_same_after_any_way_over_the_versions() {
    for seed in 0..3000 {
        let mut rng = Rng::with_seed(seed);
        let start = VERSIONS[rng.usize(..3)];
        let original = object(start, &mut rng);
        let (mut now, mut way) = (original.clone(), vec![start]);
        for _ in 0..rng.usize(1..6) {
            way.push(VERSIONS[rng.usize(..3)]);
            now = converted(&now, way.last().unwrap());
        }
        now = converted(&now, start);
        assert_eq!(now, original, "seed {seed}, {way:?}");
    }
}

#[test]
fn an_edit_of_a_field_in_another_version_leaves_all_others_as_they_were() {
    for seed in 0..3000 {
        let mut rng = Rng::with_seed(seed);
        let (stored, client) = (VERSIONS[rng.usize(..3)], VERSIONS[rng.usize(..3)]);
        let original = object(stored, &mut rng);
        let mut seen = converted(&original, client);
        let size = if client == "v1alpha1" { "desiredSize" } else { "replicas" };
        seen["spec"][size] = json!(77);
        let mut expected = original.clone();
        expected["spec"][if stored == "v1alpha1" { "desiredSize" } else { "replicas" }] = json!(77);
        assert_eq!(converted(&seen, stored), expected, "seed {seed}, {stored} edited as {client}");
    }
}

fn with_spec(version: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("demo.example.com/{version}"), "kind": "Database", "metadata": {"name": "a"}, "spec": spec})
}

#[test]
fn items_keep_what_a_version_can_not_hold_when_others_are_added_removed_and_moved() {
    let backup = |name: &str, days: i32| json!({"name": name, "days": days, "mode": "Full"});
    let step = |image: &str, timeout: i32| json!({"image": image, "timeout": timeout});
    let spec =
        json!({"backups": [backup("a", 1), backup("b", 2)], "steps": [step("x", 1), step("y", 2), step("x", 3)]});
    let mut seen = converted(&with_spec("v1", spec), "v1alpha1");
    let schedules = &mut seen["spec"]["schedules"];
    schedules[1]["mode"] = json!("Tape");
    schedules.as_array_mut().unwrap().rotate_left(1);
    schedules.as_array_mut().unwrap().insert(0, json!({"name": "c", "mode": "Full"}));
    seen["spec"]["steps"].as_array_mut().unwrap().swap(0, 1);
    let now = converted(&seen, "v1");
    let days: Vec<_> =
        now["spec"]["backups"].as_array().unwrap().iter().map(|backup| (&backup["name"], &backup["days"])).collect();
    assert_eq!(days, [(&json!("c"), &json!(7)), (&json!("b"), &json!(2)), (&json!("a"), &json!(1))]);
    assert_eq!(now["spec"]["backups"][1]["mode"], "Full", "v1 has no tape");
    assert_eq!(now["spec"]["steps"], json!([step("y", 2), step("x", 1), step("x", 3)]));
}

#[test]
fn what_a_client_has_changed_does_not_come_back() {
    let spec = json!({"backups": [{"name": "a", "days": 3, "mode": "Incremental"}], "memory": "01Mi", "steps": [], "class": {"reserved": {"nodes": 3}}});
    let mut seen = converted(&with_spec("v1", spec), "v1alpha1");
    assert_eq!(seen["spec"]["schedules"][0]["mode"], "Full");
    assert_eq!((&seen["spec"]["memory"], &seen["spec"]["class"]), (&json!(1), &json!({"shared": {"old_weight": 1}})));
    seen["spec"]["schedules"][0]["mode"] = json!("Snap");
    seen["spec"]["memory"] = json!(2);
    seen["spec"]["class"]["shared"]["old_weight"] = json!(2);
    let now = converted(&seen, "v1");
    assert_eq!(now["spec"]["backups"][0], json!({"name": "a", "days": 3, "mode": "Snapshot"}));
    assert_eq!((&now["spec"]["memory"], &now["spec"]["class"]), (&json!("2Mi"), &json!({"shared": {"weight": 2}})));
}

#[test]
fn a_field_that_can_not_be_converted_is_named_and_hinders_nothing_else() {
    let mut object = with_spec("v1alpha1", json!({"endpoint": "db", "desiredSize": 3}));
    let problems = versions().convert(&mut object, "v1").unwrap();
    assert_eq!(problems, [FieldProblem { path: "spec.endpoint".into(), message: "the endpoint has no port".into() }]);
    assert_eq!(object["spec"], json!({"replicas": 3, "limit": 9}));
    let named = versions().problems(&object);
    assert_eq!(named[0].to_string(), "v1alpha1: spec.endpoint: the endpoint has no port");
    assert_eq!(converted(&object, "v1alpha1")["spec"], json!({"endpoint": "db", "desiredSize": 3}));
    object["spec"]["host"] = json!("db");
    object["spec"]["port"] = json!(80);
    assert_eq!(versions().problems(&object), [], "the field is set meanwhile");
    assert_eq!(converted(&object, "v1alpha1")["spec"]["endpoint"], "db:80");
}

#[test]
fn objects_of_other_kinds_and_versions_are_refused_and_damaged_data_is_ignored() {
    let versions = versions();
    let mut object = with_spec("v1", json!({"replicas": 1}));
    let unknown = |api_version: &str| Err(ConversionError::UnknownVersion { api_version: api_version.into() });
    assert_eq!(versions.convert(&mut object.clone(), "v2"), unknown("demo.example.com/v2"));
    assert_eq!(
        versions.convert(&mut json!({"apiVersion": "demo.example.com/v3", "metadata": {}}), "v1"),
        unknown("demo.example.com/v3")
    );
    assert_eq!(versions.convert(&mut json!([]), "v1"), Err(ConversionError::NotAnObject));
    for data in ["", "{", "[]", r#"{"v1alpha1": 3, "v9": {"value": {}}}"#] {
        object["metadata"]["annotations"] = json!({CONVERSION_DATA_ANNOTATION: data, "mine": "1"});
        let seen = converted(&object, "v1alpha1");
        assert_eq!((&seen["spec"]["desiredSize"], &seen["metadata"]["annotations"]["mine"]), (&json!(1), &json!("1")));
    }
}

#[test]
fn what_is_too_large_for_the_annotations_is_refused_where_it_would_be_stored_and_incomplete_elsewhere() {
    let versions = versions();
    // It is stored in v1: without the field, it would be lost.
    let mut huge = with_spec("v1beta1", json!({"legacyMode": "x".repeat(300 << 10)}));
    let error = versions.convert(&mut huge.clone(), "v1").unwrap_err();
    assert!(matches!(error, ConversionError::TooLarge { size } if size > 300 << 10), "{error}");
    // The other annotations count as well.
    huge["spec"]["legacyMode"] = json!("x".repeat(200 << 10));
    huge["metadata"]["annotations"] = json!({"mine": "x".repeat(100 << 10)});
    assert!(matches!(versions.convert(&mut huge.clone(), "v1"), Err(ConversionError::TooLarge { .. })));
    // A client of another version sees what it can hold, and can't write it back.
    let backups: Vec<_> =
        (0..4000).map(|number| json!({"name": format!("b{number}"), "days": number + 10, "mode": "Full"})).collect();
    let large = with_spec("v1", json!({"backups": backups}));
    let mut seen = large.clone();
    assert_eq!(versions.convert(&mut seen, "v1beta1"), Ok(Vec::new()));
    assert_eq!(seen["spec"]["schedules"].as_array().unwrap().len(), 4000);
    assert_eq!(versions.convert(&mut seen, "v1"), Err(ConversionError::Incomplete));
}

#[test]
fn each_version_has_its_own_types_and_definition() {
    let old = v1alpha1::Database::new(
        "orders",
        v1alpha1::DatabaseSpec {
            desired_size: 3,
            endpoint: "db:80".into(),
            memory: 5,
            network: None,
            legacy_mode: Some(true),
            schedules: vec![v1alpha1::Backup { name: "a".into(), mode: v1alpha1::Mode::Tape }],
            steps: Vec::new(),
            pools: BTreeMap::new(),
            class: v1alpha1::Class::Shared(v1alpha1::Shared { old_weight: 4 }),
        },
    );
    let new: v1::Database = convert(&old).unwrap();
    assert_eq!((new.spec.port, new.spec.memory.as_str(), &new.spec.backups[0].mode), (80, "5Mi", &v1::Mode::Full));
    let middle: v1beta1::Database = convert(&new).unwrap();
    assert_eq!(middle.spec.schedules[0].mode, v1beta1::Mode::Tape);
    assert_eq!(convert::<_, v1alpha1::Database>(&middle).unwrap().spec, old.spec);

    let definitions: Vec<_> = versions().iter().map(|version| (version.definition)().spec.versions.remove(0)).collect();
    let names: Vec<_> = definitions
        .iter()
        .map(|version| (version.name.as_str(), version.storage, version.deprecation_warning.as_deref()))
        .collect();
    assert_eq!(
        names,
        [("v1alpha1", false, Some("v1alpha1 is deprecated; use v1")), ("v1beta1", false, None), ("v1", true, None)]
    );
    let columns = |index: usize| -> Vec<String> {
        definitions[index].additional_printer_columns.iter().flatten().map(|column| column.json_path.clone()).collect()
    };
    assert_eq!(columns(0), [".spec.desiredSize"]);
    assert_eq!(columns(2), [".spec.replicas", ".spec.limit"]);
    assert_eq!((versions().stored(), versions().need_webhook()), ("v1", true));
}
