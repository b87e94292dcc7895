//! Every built-in kind, put through the same scripts: made, shown as a table, applied, changed, removed.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::script::{Case, Step};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// A row of `kinds.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    /// The collection, `$core/configmaps`.
    at: String,
    /// The smallest object that makes sense, without name; its apiVersion and kind are needed by an apply.
    object: Value,
    /// In place of a name after the kind, where the name isn't free.
    name: Option<String>,
}

/// The cases of all kinds.
pub(crate) fn all(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let samples: BTreeMap<String, Sample> =
        serde_saphyr::from_str_with_options(&text, serde_saphyr::options! { strict_booleans: true })
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    samples.iter().flat_map(|(kind, sample)| sample.cases(kind)).collect()
}

impl Sample {
    fn cases(&self, kind: &str) -> Vec<Case> {
        let case = |script: &str, room: &str, steps: Vec<Step>| Case {
            name: format!("kinds::{kind}::{script}"),
            room: room.to_owned(),
            variables: Map::new(),
            steps,
        };
        vec![
            case("made", "d-strategy", self.made()),
            case("shown", "f-front", self.shown()),
            case("applied", "b-patch", self.applied()),
            case("changed", "d-strategy", self.changed()),
        ]
    }

    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| "$ns-a".to_owned())
    }

    /// The object with its name and what else stands in its metadata.
    fn object(&self, more: Value) -> Value {
        let mut object = self.object.clone();
        object["metadata"]["name"] = self.name().into();
        for (key, value) in more.as_object().into_iter().flatten() {
            object["metadata"][key] = value.clone();
        }
        object
    }

    fn post(&self) -> Step {
        Step { line: format!("POST {}", self.at), body: self.object(json!({})), ..Step::default() }
    }

    fn one(&self, method: &str, query: &str) -> Step {
        Step { line: format!("{method} {}/{}{query}", self.at, self.name()), ..Step::default() }
    }

    fn list(&self, query: &str) -> Step {
        Step {
            line: format!("GET {}?fieldSelector=metadata.name%3D{}{query}", self.at, self.name()),
            ..Step::default()
        }
    }

    fn made(&self) -> Vec<Step> {
        vec![
            Step { line: format!("POST {}?dryRun=All", self.at), ..self.post() },
            self.post(),
            self.post(),
            self.one("GET", ""),
            self.list(""),
            Step { line: format!("POST {}?fieldValidation=Strict", self.at), body: self.stray(), ..Step::default() },
        ]
    }

    /// With fields that nobody knows.
    fn stray(&self) -> Value {
        let mut object = self.object(json!({"stray": "a"}));
        object["stray"] = json!({"b": 1});
        object
    }

    fn shown(&self) -> Vec<Step> {
        let table = |step: Step| Step { headers: [("accept".to_owned(), TABLE.to_owned())].into(), ..step };
        vec![self.post(), table(self.one("GET", "")), table(self.list("")), table(self.list("&includeObject=None"))]
    }

    fn applied(&self) -> Vec<Step> {
        let apply = |manager: &str, body: Value| Step {
            body,
            media: Some("apply".to_owned()),
            ..self.one("PATCH", &format!("?fieldManager={manager}"))
        };
        let identity = json!({"apiVersion": self.object["apiVersion"], "kind": self.object["kind"]});
        let label = |value: &str| {
            let mut object = identity.clone();
            object["metadata"] = json!({"name": self.name(), "labels": {"colour": value}});
            object
        };
        vec![
            apply("one", self.object(json!({"labels": {"colour": "red", "size": "big"}}))),
            apply("one", self.object(json!({"labels": {"colour": "red", "size": "big"}}))),
            apply("two", label("blue")),
            apply("two", label("red")),
            apply("one", self.object(json!({}))),
            apply("two&force=true", label("green")),
        ]
    }

    fn changed(&self) -> Vec<Step> {
        let merge = |metadata: Value, query: &str| Step {
            body: json!({"metadata": metadata}),
            media: Some("merge".to_owned()),
            ..self.one("PATCH", query)
        };
        let version = [("version".to_owned(), "/metadata/resourceVersion".to_owned())].into();
        vec![
            Step { keep: version, ..self.post() },
            merge(json!({"labels": {"colour": "red"}}), ""),
            merge(json!({"labels": {"colour": "red"}}), ""),
            merge(json!({"labels": {"colour": "blue"}, "resourceVersion": "$version"}), ""),
            merge(json!({"uid": "00000000-0000-0000-0000-000000000000"}), ""),
            self.one("DELETE", "?dryRun=All&gracePeriodSeconds=0"),
            Step { body: json!({"preconditions": {"resourceVersion": "$version"}}), ..self.one("DELETE", "") },
            self.one("DELETE", "?gracePeriodSeconds=0"),
        ]
    }
}
