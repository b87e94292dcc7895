//! Answers without what can't be equal: names by order of appearance stand for uids, versions and generated names, so
//! that what was the same value stays the same value; times near now are all `now`.

use std::{collections::HashMap, sync::LazyLock};

use jiff::{SignedDuration, Timestamp};
use regex::{Captures, Regex};
use serde_json::{Map, Value};

static UUID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").expect("an expression")
});

/// A version in a sentence: `resource version: 12`, `ResourceVersion in object meta: 12`, `too old … 1 (12)`.
static VERSION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?i)(resource ?version[^0-9\n]{0,24}"?)(\d+)( \(\d+\))?"#).expect("an expression"));

/// The volume of a Pod's token, whose name ends by chance.
static TOKEN_VOLUME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bkube-api-access-[a-z0-9]{5}\b").expect("an expression"));

/// An address of a Service, which is given by chance.
static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b10\.(?:9[6-9]|10\d|11[01])\.\d+\.\d+\b").expect("an expression"));

/// How old something is, as a table shows it.
static AGE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\d+[smh](\d+[sm])?$").expect("an expression"));

/// What a millisecond more or less changes in a sentence.
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)").expect("an expression"));

/// How far from now a time may be and still be what the clock said.
const NEAR: SignedDuration = SignedDuration::from_hours(48);

/// The names that one server's answers were given so far.
#[derive(Debug, Default)]
pub(crate) struct Names {
    uids: HashMap<String, usize>,
    versions: HashMap<String, usize>,
    generated: Vec<(String, String)>,
}

impl Names {
    /// The answer with names in it.
    pub(crate) fn normal(&mut self, value: &Value) -> Value {
        self.learn(value);
        self.value("", value)
    }

    /// Finds the names that were generated, wherever they stand, before the first of them is replaced.
    fn learn(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Object(members) => {
                let text = |key: &str| members.get(key).and_then(Value::as_str);
                if let (Some(prefix), Some(name)) = (text("generateName"), text("name"))
                    && name.len() > prefix.len()
                    && name.starts_with(prefix)
                    && !self.generated.iter().any(|(known, _)| known == name)
                {
                    let number = self.generated.len() + 1;
                    self.generated.push((name.to_owned(), format!("{prefix}(generated {number})")));
                }
                members.values().for_each(|item| self.learn(item));
            }
            _ => {}
        }
    }

    fn value(&mut self, key: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(key, text)),
            Value::Number(number) if key.ends_with("odePort") && number.as_u64() >= Some(30_000) => "a port".into(),
            Value::Array(items) if key == "managedFields" => self.managed_fields(items),
            Value::Array(items) if matches!(key, "resourceRules" | "nonResourceRules") => self.rules(items),
            Value::Array(items) if key == "causes" => self.causes(items),
            Value::Array(items) => items.iter().map(|item| self.value(key, item)).collect(),
            Value::Object(members) => Value::Object(self.members(members)),
            other => other.clone(),
        }
    }

    fn members(&mut self, members: &Map<String, Value>) -> Map<String, Value> {
        let has_uid = members.contains_key("uid");
        // The keys of managed fields tell of uids that are known from elsewhere, in an order of their own.
        let (later, first): (Vec<_>, Vec<_>) = members.iter().partition(|(key, _)| *key == "managedFields");
        let named = first.into_iter().chain(later).map(|(key, value)| {
            let named = match (key.as_str(), value) {
                // Of a list or a bookmark: what else is written meanwhile counts there.
                ("resourceVersion", Value::String(version)) if !version.is_empty() && version != "0" => {
                    Value::String(if has_uid { self.version(version) } else { "a version".to_owned() })
                }
                (_, value) => self.value(key, value),
            };
            (self.uids_of(key), named)
        });
        named.collect()
    }

    /// Entries of the same second stand in the order of their managers, others in that of time: here always the former.
    fn managed_fields(&mut self, items: &[Value]) -> Value {
        let mut items: Vec<_> = items.iter().collect();
        let text = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        items.sort_by_key(|item| ["operation", "manager", "subresource", "apiVersion"].map(|key| text(item, key)));
        items.into_iter().map(|item| self.value("", item)).collect()
    }

    /// Whose fields an apply wants is told in the order of a map of Go, which is another each time: here in that of managers.
    fn causes(&mut self, items: &[Value]) -> Value {
        let mut items: Vec<_> = items.iter().collect();
        if items.iter().all(|item| item["reason"] == "FieldManagerConflict") {
            items.sort_by_key(|item| item["message"].as_str().unwrap_or_default().to_owned());
        }
        items.into_iter().map(|item| self.value("", item)).collect()
    }

    /// The rules that give a user rights are told in the order of a map of Go, too.
    fn rules(&mut self, items: &[Value]) -> Value {
        let mut items: Vec<_> = items.iter().map(|item| self.value("", item)).collect();
        items.sort_by_key(Value::to_string);
        items.into()
    }

    fn text(&mut self, key: &str, text: &str) -> String {
        match key {
            "continue" | "token" if text.len() > 16 => return format!("a {key} token"),
            "storageVersionHash" => return "a hash".to_owned(),
            "serverAddress" => return "an address and a port".to_owned(),
            "cells" if AGE.is_match(text) => return "an age".to_owned(),
            _ => {}
        }
        let mut whole = text.to_owned();
        for (name, known) in &self.generated {
            whole = whole.replace(name, known);
        }
        whole = self.uids_of(&whole);
        whole = TOKEN_VOLUME.replace_all(&whole, "kube-api-access-(by chance)").into_owned();
        whole = ADDRESS.replace_all(&whole, "(an address)").into_owned();
        whole = VERSION.replace_all(&whole, "${1}N").into_owned();
        TIME.replace_all(&whole, |found: &Captures<'_>| time(&found[0])).into_owned()
    }

    fn uids_of(&mut self, text: &str) -> String {
        UUID.replace_all(text, |found: &Captures<'_>| numbered(&mut self.uids, "uid", &found[0])).into_owned()
    }

    fn version(&mut self, version: &str) -> String {
        numbered(&mut self.versions, "version", version)
    }
}

fn numbered(known: &mut HashMap<String, usize>, word: &str, value: &str) -> String {
    let next = known.len() + 1;
    format!("{word} {}", known.entry(value.to_owned()).or_insert(next))
}

fn time(text: &str) -> String {
    let written = text.replace(" +0000 UTC", "Z").replace(' ', "T");
    match written.parse::<Timestamp>() {
        Ok(time) if time.duration_since(Timestamp::now()).abs() < NEAR => {
            if text.contains('.') {
                "now (to the microsecond)".to_owned()
            } else {
                "now".to_owned()
            }
        }
        _ => text.to_owned(),
    }
}
