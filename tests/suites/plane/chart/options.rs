//! Sets each option of an operator by a value of its chart, and loads the configuration as the operator does.

use std::{fs, path::Path, sync::Arc};

use clap::Parser;
use opgen::command::{ManagerArgs, OperatorConfiguration, configuration_schema};
use opgen_tests::Plane;
use serde_json::{Map, Value, json};

use super::rendered::{documents, helm, only, path};

/// The arguments of an operator's process.
#[derive(Parser)]
struct Run {
    #[command(flatten)]
    manager: ManagerArgs,
}

/// Each option has a value that the operator accepts, and the value is in the file at the path that the process has as its argument.
pub(super) async fn all_reach_the_operator(plane: Arc<Plane>) {
    let mut options = leaves(&configuration_schema(), "");
    // The operator has neither webhooks nor kinds in buckets, so its chart refuses their options.
    options.retain(|(key, _)| !key.starts_with("webhooks.") && !key.starts_with("nats."));
    assert!(options.len() > 25, "{}", options.len());
    let mut all = json!({});
    for (key, option) in options {
        let value = samples(&key, &option).into_iter().find(|value| {
            let mut file = json!({"apiVersion": "config.opgen.dev/v1alpha1", "kind": "OperatorConfiguration"});
            set(&mut file, &key, value.clone());
            load(plane.folder(), &file.to_string()).is_ok()
        });
        let value = value.unwrap_or_else(|| panic!("{key} has a value that the operator accepts: {option}"));
        let rendered = configuration(&plane, &format!("config.{key}={value}"));
        assert_eq!(rendered.pointer(&pointer(&key)), Some(&value), "{key}: {rendered}");
        set(&mut all, &key, value);
    }
    // All of them together, as one file.
    let rendered = configuration(&plane, &format!("config={all}"));
    for (key, value) in all.as_object().expect("an object") {
        assert_eq!(&rendered[key], value);
    }
    assert_eq!(
        (rendered["leaderElection"]["leaseName"].is_string(), rendered.get("apiVersion").is_some()),
        (true, true)
    );
    let loaded = load(plane.folder(), &rendered.to_string()).unwrap();
    let operator = webapp_controller::operator();
    loaded.apply_to(operator, opgen::RunOptions::default()).unwrap_or_else(|error| panic!("{error}"));
}

/// Returns the configuration file of a release with a value.
fn configuration(plane: &Plane, value: &str) -> Value {
    let arguments = ["template", "one", &path("webapp", "chart"), "-n", "home", "--set-json", value];
    let objects = documents(&helm(plane, &arguments));
    let pod = &only(&objects, "Deployment")["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let mount = &container["volumeMounts"][0];
    assert_eq!((&mount["name"], &pod["volumes"][0]["name"]), (&json!("config"), &json!("config")));
    let config_map = pod["volumes"][0]["configMap"]["name"].as_str().expect("a name");
    let file = format!("--config={}/config.yaml", mount["mountPath"].as_str().expect("a path"));
    assert!(container["args"].as_array().expect("a list").contains(&json!(file)), "{container}");
    let mounted =
        objects.iter().find(|object| object["kind"] == "ConfigMap" && object["metadata"]["name"] == config_map);
    let text = mounted.expect("the mounted ConfigMap")["data"]["config.yaml"].as_str().expect("text");
    serde_saphyr::from_str(text).expect("YAML")
}

/// Loads a configuration file as the process of an operator does.
fn load(folder: &Path, text: &str) -> Result<OperatorConfiguration, String> {
    let file = folder.join("config.yaml");
    fs::write(&file, text).expect("a file");
    let run = Run::try_parse_from(["operator", "--config", &file.display().to_string()])
        .map_err(|error| error.to_string())?;
    run.manager.load().map_err(|error| error.to_string())
}

/// Returns the path of each option and its schema.
fn leaves(schema: &Value, path: &str) -> Vec<(String, Value)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut found = Vec::new();
    for (name, option) in properties.filter(|(name, _)| !["apiVersion", "kind"].contains(&name.as_str())) {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match option["properties"].is_object() {
            true => found.extend(leaves(option, &path)),
            false => found.push((path, option.clone())),
        }
    }
    found
}

/// Returns values of the types of an option; the operator accepts one of them.
fn samples(key: &str, option: &Value) -> Vec<Value> {
    // The times of an election must fit together.
    match key {
        "leaderElection.leaseDuration" => return vec![json!("34s")],
        "leaderElection.retryPeriod" => return vec![json!("7s")],
        _ => {}
    }
    if let Some(value) =
        option["enum"].as_array().and_then(|values| values.iter().rev().find(|value| value.is_string()))
    {
        return vec![value.clone()];
    }
    if option.to_string().contains("oneOf") || option.to_string().contains("anyOf") {
        return vec![json!("json")];
    }
    let has = |name: &str| {
        option["type"] == name || option["type"].as_array().is_some_and(|types| types.contains(&json!(name)))
    };
    let of_type = |name: &str| match name {
        "boolean" => vec![json!(false)],
        "integer" => vec![json!(7)],
        "number" => vec![json!(7.5), json!(0.5)],
        "array" => vec![json!(["one", "two"])],
        "object" => vec![json!({"WebApp": {"workers": 3}})],
        _ => ["17s", ":9443", "debug", "http://collector:4318", "team=blue"].map(Value::from).to_vec(),
    };
    ["string", "boolean", "number", "integer", "array", "object"]
        .into_iter()
        .filter(|name| has(name))
        .flat_map(of_type)
        .collect()
}

/// Sets the value at a path.
fn set(object: &mut Value, path: &str, value: Value) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    match rest {
        None => object[first] = value,
        Some(rest) => {
            if object[first].is_null() {
                object[first] = Value::Object(Map::new());
            }
            set(&mut object[first], rest, value);
        }
    }
}

fn pointer(key: &str) -> String {
    format!("/{}", key.replace('.', "/"))
}
