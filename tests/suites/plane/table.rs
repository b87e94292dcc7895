//! The table of the sandbox is what the API server says of its own kinds. `OPGEN_BLESS=1` takes it anew.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use http::Request;
use kube::Client;
use libtest_mimic::Trial;
use opgen_tests::{Plane, case_on_controlplane};
use serde_json::{Map, Value};

const BLESS: &str = "OPGEN_BLESS";

/// Discovery of everything at once.
const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

pub(crate) fn cases() -> Vec<Trial> {
    let name = "the_table_is_what_the_api_server_serves";
    vec![case_on_controlplane(name, "a sandbox serves what the table says", the_table_is_what_the_api_server_serves)]
}

async fn the_table_is_what_the_api_server_serves(plane: Arc<Plane>) {
    let client = plane.client();
    let served = [("kinds.json", kinds(&client).await), ("schemas.json", schemas(&client).await)];
    let bless = env::var_os(BLESS).is_some_and(|value| value == "1");
    for (name, text) in served {
        let path = table().join(name);
        if bless {
            fs::write(&path, &text).expect("the table");
        }
        let committed = fs::read_to_string(&path).expect("the table");
        let differs = text.lines().zip(committed.lines()).find(|(served, committed)| served != committed);
        assert!(text == committed, "{}: {differs:?}; {BLESS}=1 takes it anew", path.display());
    }
}

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sandbox/table")
}

/// A kind a line, in the order of discovery.
async fn kinds(client: &Client) -> String {
    let mut rows = Vec::new();
    for path in ["/api", "/apis"] {
        let found = get(client, path, DISCOVERY).await;
        for group in found["items"].as_array().into_iter().flatten() {
            let name = group["metadata"]["name"].as_str().unwrap_or_default();
            for version in group["versions"].as_array().into_iter().flatten().filter(|_| is_builtin(name)) {
                rows.extend(version["resources"].as_array().into_iter().flatten().map(|kind| row(name, version, kind)));
            }
        }
    }
    format!("[\n{}\n]\n", rows.join(",\n"))
}

fn row(group: &str, version: &Value, kind: &Value) -> String {
    let mut row = kind.clone();
    row["group"] = group.into();
    row["version"] = version["version"].clone();
    row.to_string()
}

/// A definition a line, by name.
async fn schemas(client: &Client) -> String {
    let index = get(client, "/openapi/v3", "application/json").await;
    let mut definitions = BTreeMap::new();
    for (path, document) in index["paths"].as_object().into_iter().flatten() {
        let group = path.strip_prefix("apis/").map_or("", |path| path.split('/').next().unwrap_or_default());
        if !is_builtin(group) {
            continue;
        }
        let document = get(client, document["serverRelativeURL"].as_str().expect("a path"), "application/json").await;
        for (name, definition) in document["components"]["schemas"].as_object().into_iter().flatten() {
            definitions.insert(name.clone(), slim(name, definition));
        }
    }
    let lines: Vec<_> = definitions.iter().map(|(name, definition)| format!("{name:?}:{definition}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// Without what only people read, and without the groups that share a definition: they grow with each CRD.
fn slim(name: &str, definition: &Value) -> Value {
    let mut slim = shortened(definition);
    if let Value::Object(keywords) = &mut slim
        && (name.ends_with("DeleteOptions") || name.ends_with("WatchEvent"))
    {
        keywords.remove("x-kubernetes-group-version-kind");
    }
    slim
}

fn shortened(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(keywords) => {
            let said = |(key, value): &(&String, &Value)| !(key.as_str() == "description" && value.is_string());
            let kept = keywords.iter().filter(said).map(|(key, value)| (key.clone(), shortened(value)));
            let mut kept: Map<String, Value> = kept.collect();
            // One reference with keywords beside it is written as a list of one.
            let alone = kept.get("allOf").and_then(Value::as_array).filter(|all| all.len() == 1);
            if let Some(reference) = alone.and_then(|all| all[0]["$ref"].as_str()).map(str::to_owned) {
                kept.remove("allOf");
                kept.insert("$ref".into(), reference.into());
            }
            if let Some(reference) = kept.get("$ref").and_then(Value::as_str) {
                let name = reference.trim_start_matches("#/components/schemas/").to_owned();
                kept.insert("$ref".into(), name.into());
            }
            Value::Object(kept)
        }
        other => other.clone(),
    }
}

/// Whether a group is the server's own: other cases define kinds meanwhile.
fn is_builtin(group: &str) -> bool {
    !group.contains('.') || group.ends_with(".k8s.io")
}

async fn get(client: &Client, path: &str, accept: &str) -> Value {
    let request = Request::get(path).header("accept", accept).body(Vec::new()).expect("a request");
    client.request(request).await.unwrap_or_else(|error| panic!("{path}: {error}"))
}
