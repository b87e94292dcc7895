//! What is wanted of each kind: YAML files with some freedom in them, and a seed that decides.
//!
//! The end of a key says what is free: `|` one of these values, all of which mean the same to the server; `*` a list in any
//! order; `~` wanted at first and given up later. `$NAME` is the owner's name and `$NUMBER` its seed.

use std::{
    hash::{DefaultHasher, Hash, Hasher as _},
    sync::OnceLock,
};

use opgen::Kind;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A label and an annotation that each object keeps, and ones that each gives up.
pub(crate) const KEPT: &str = "probe.example.com/kept";
pub(crate) const ONCE: &str = "probe.example.com/once";

const FILES: [&str; 4] = [
    include_str!("workload.yaml"),
    include_str!("core.yaml"),
    include_str!("policy.yaml"),
    include_str!("cluster.yaml"),
];

/// One object of a kind.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Sample {
    api_version: String,
    kind: String,
    /// Follows the owner's name in the object's.
    #[serde(default)]
    pub(crate) suffix: String,
    /// The server lets nobody change more than the metadata.
    #[serde(default)]
    frozen: bool,
    /// The whole object is given up.
    #[serde(default)]
    pub(crate) once: bool,
    object: Value,
    /// What a stranger changes: a merge patch of what is ours.
    #[serde(default)]
    pub(crate) edit: Map<String, Value>,
    /// What a stranger applies: nothing of it is ours.
    #[serde(default)]
    pub(crate) addition: Map<String, Value>,
}

/// All samples.
pub(crate) fn all() -> &'static [Sample] {
    static ALL: OnceLock<Vec<Sample>> = OnceLock::new();
    ALL.get_or_init(|| FILES.iter().flat_map(|file| read(file)).collect())
}

fn read(file: &str) -> Vec<Sample> {
    serde_saphyr::from_str(file).unwrap_or_else(|error| panic!("{error} in {file}"))
}

/// Whose object it is.
#[derive(Clone, Debug)]
pub(crate) struct Whose {
    pub(crate) name: String,
    pub(crate) seed: i64,
    /// Whether what can be given up still is wanted.
    pub(crate) whole: bool,
}

impl Sample {
    /// Whether it is of this kind.
    pub(crate) fn is_of(&self, kind: &Kind) -> bool {
        self.kind == kind.kind && self.api_version == kind.api_version()
    }

    /// The object that is wanted.
    pub(crate) fn wanted(&self, whose: &Whose) -> Value {
        let free = Free { whose, sample: format!("{}{}", self.kind, self.suffix), whole: whose.whole || self.frozen };
        let mut object = free.settle(&self.object, "");
        let metadata = &mut object["metadata"];
        if metadata["name"].is_null() {
            metadata["name"] = format!("{}{}", whose.name, self.suffix).into();
        }
        metadata["creationTimestamp"] = Value::Null;
        let once = if whose.whole { json!("yes") } else { Value::Null };
        for map in ["labels", "annotations"] {
            metadata[map][KEPT] = "yes".into();
            metadata[map][ONCE] = once.clone();
        }
        object
    }

    /// Its name.
    pub(crate) fn name(&self, whose: &Whose) -> String {
        self.wanted(whose)["metadata"]["name"].as_str().unwrap_or_default().to_owned()
    }

    /// The paths of what is given up. A list is a step of its own: `*`, which means each item.
    pub(crate) fn given_up(&self) -> Vec<Vec<String>> {
        let metadata = ["labels", "annotations"].map(|map| vec!["metadata".into(), map.into(), ONCE.to_owned()]);
        let mut paths = metadata.to_vec();
        if !self.frozen {
            collect(&self.object, &mut Vec::new(), &mut paths);
        }
        paths
    }

    /// A number below `sides` that this sample and a word decide.
    pub(crate) fn number(&self, word: &str, sides: usize) -> usize {
        roll(&(&self.kind, &self.suffix, word), sides)
    }
}

fn collect(value: &Value, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(map) => {
            for (key, below) in map {
                let (name, marks) = parts(key);
                // What is written there is stored here.
                path.push(if name == "stringData" { "data" } else { name }.to_owned());
                if marks.contains('~') {
                    paths.push(path.clone());
                } else {
                    collect(below, path, paths);
                }
                path.pop();
            }
        }
        Value::Array(items) => {
            path.push("*".to_owned());
            items.iter().for_each(|item| collect(item, path, paths));
            path.pop();
        }
        _ => {}
    }
}

fn parts(key: &str) -> (&str, &str) {
    key.split_at(key.trim_end_matches(['~', '|', '*']).len())
}

fn roll(what: &impl Hash, sides: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    usize::try_from(hasher.finish() % sides as u64).unwrap_or_default()
}

/// Decides what is free, always the same way for the same place and seed.
struct Free<'a> {
    whose: &'a Whose,
    sample: String,
    whole: bool,
}

impl Free<'_> {
    fn settle(&self, value: &Value, path: &str) -> Value {
        match value {
            Value::Object(map) => {
                let fields = map.iter().map(|(key, value)| {
                    let (name, marks) = parts(key);
                    (name.to_owned(), self.field(value, marks, &format!("{path}/{name}")))
                });
                // Null and absent mean the same: what is given up is one or the other.
                let absent =
                    |name: &str, value: &Value| value.is_null() && self.roll(&format!("{path}/{name} absent"), 2) == 0;
                Value::Object(fields.filter(|(name, value)| !absent(name, value)).collect())
            }
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(at, item)| self.settle(item, &format!("{path}/{at}")));
                Value::Array(items.collect())
            }
            Value::String(text) => {
                text.replace("$NAME", &self.whose.name).replace("$NUMBER", &self.whose.seed.to_string()).into()
            }
            other => other.clone(),
        }
    }

    fn field(&self, value: &Value, marks: &str, path: &str) -> Value {
        if marks.contains('~') && !self.whole {
            return Value::Null;
        }
        let choices = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let chosen = if marks.contains('|') { &choices[self.roll(path, choices.len())] } else { value };
        let mut settled = self.settle(chosen, path);
        if let Some(items) = settled.as_array_mut().filter(|_| marks.contains('*')) {
            for last in (1..items.len()).rev() {
                items.swap(last, self.roll(&format!("{path} {last}"), last + 1));
            }
        }
        settled
    }

    fn roll(&self, path: &str, sides: usize) -> usize {
        roll(&(self.whose.seed, &self.sample, path), sides)
    }
}
