//! Tests that `OPTIONS.md` and the published schema agree with the code.

use super::{
    super::{configuration_schema, keys::KEYS},
    OwnCli,
};
use clap::{Arg, CommandFactory};
use serde_json::Value;
use std::{env, fs, path::Path};

const BEGIN: &str = "<!-- begin of the generated table -->\n";
const END: &str = "<!-- end of the generated table -->\n";

/// Compares a file of the crate with its expected content, or writes it.
fn is_in_git(name: &str, expected: impl FnOnce(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let found = fs::read_to_string(&path).unwrap_or_default();
    let expected = expected(&found);
    if env::var_os("OPGEN_BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(found == expected, "runtime/{name} is not what the code says; `cargo bless` writes it");
    }
}

/// The table of options: flag, variable, key of the file, default, and meaning.
fn table() -> String {
    let mut text = "| flag | environment | file | default | meaning |\n|---|---|---|---|---|\n".to_owned();
    let command = OwnCli::command();
    let argument = |flag: &str| command.get_arguments().find(|argument| argument.get_long() == Some(flag)).unwrap();
    for (flag, key) in [("config", "")].into_iter().chain(KEYS) {
        let argument: &Arg = argument(flag);
        let help = argument.get_help().unwrap().to_string().replace('|', "\\|");
        let (meaning, default) = help.split_once(" [default: ").unwrap_or((&help, ""));
        let variable = argument.get_env().unwrap().to_str().unwrap();
        let key = if key.is_empty() { String::new() } else { format!("`{key}`") };
        text += &format!("| `--{flag}` | `{variable}` | {key} | {} | {meaning} |\n", default.trim_end_matches(']'));
    }
    text
}

#[test]
fn the_page_of_options_is_the_group_in_the_code() {
    is_in_git("OPTIONS.md", |page| {
        let (before, rest) = page.split_once(BEGIN).expect("the begin of the table");
        let (_, after) = rest.split_once(END).expect("the end of the table");
        format!("{before}{BEGIN}{}{END}{after}", table())
    });
}

#[test]
fn the_published_schema_is_that_of_the_code() {
    is_in_git("operator-configuration.schema.json", |_| {
        serde_json::to_string_pretty(&configuration_schema()).unwrap() + "\n"
    });
}

/// The paths of the keys of a schema that have a plain value.
fn keys_of(schema: &Value, path: &str, found: &mut Vec<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if property["properties"].is_object() { keys_of(property, &path, found) } else { found.push(path) }
    }
}

#[test]
fn every_key_of_the_file_has_a_flag() {
    let mut found = Vec::new();
    keys_of(&configuration_schema(), "", &mut found);
    let mut expected: Vec<_> = KEYS.iter().map(|(_, key)| *key).chain(["apiVersion", "kind", "kinds"]).collect();
    expected.sort_unstable();
    found.sort();
    assert_eq!(found, expected);
}

/// The schema knows exactly the keys that the decoder accepts, so an editor and the operator agree.
#[test]
fn the_schema_admits_no_other_keys() {
    let schema = configuration_schema();
    for name in ["probes", "metrics", "webhooks", "log", "otlp", "client", "nats", "leaderElection", "controllers"] {
        assert_eq!(schema["properties"][name]["additionalProperties"], false, "{name}");
    }
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["kinds"]["additionalProperties"]["additionalProperties"], false);
}
