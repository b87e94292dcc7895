//! Cases as they are written: files of YAML in `cases`, one a theme.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;
use serde_json::{Map, Value};

/// A file of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Theme {
    /// Which room of the sandbox the theme is about, unless a case says otherwise.
    room: String,
    /// Objects that steps start from: `{$of: pod, spec: {...}}` is the value `pod` with a merge patch applied.
    #[serde(default)]
    values: BTreeMap<String, Value>,
    /// Steps that cases begin with or go through: `use: definition`.
    #[serde(default)]
    scenes: BTreeMap<String, Vec<Value>>,
    cases: Vec<Written>,
}

/// A case, or with `rows` one for each of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    room: Option<String>,
    /// What `$row` stands for, by the rest of the case's name; the members of a row stand for themselves.
    #[serde(default)]
    rows: BTreeMap<String, Value>,
    steps: Vec<Value>,
}

/// One script, for both servers.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// `theme::case` or `theme::case::row`.
    pub(crate) name: String,
    pub(crate) room: String,
    pub(crate) variables: Map<String, Value>,
    pub(crate) steps: Vec<Step>,
}

/// One request, or a look at a watch that was opened before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// `POST $core/configmaps`; of a look `READ` and the name of the watch.
    pub(crate) line: String,
    /// The body as JSON; null is none.
    pub(crate) body: Value,
    /// The body as text, for what isn't JSON.
    pub(crate) text: Option<String>,
    /// The media type of the body; `apply`, `json`, `merge` and `strategic` are those of patches.
    pub(crate) media: Option<String>,
    /// Who asks: a name, or a name and groups. The administrator, if nobody is named.
    pub(crate) user: Value,
    pub(crate) headers: BTreeMap<String, String>,
    /// Variables for later steps, by the JSON pointer of their value in the answer.
    pub(crate) keep: BTreeMap<String, String>,
    /// Asks again until the code is this number, or the body has all of this.
    pub(crate) until: Value,
    /// Reads so many events, or `all` to the end of the stream.
    pub(crate) events: Value,
    /// Leaves the watch open under this name.
    pub(crate) open: Option<String>,
    /// Compares only what is at these pointers in the body.
    pub(crate) only: Vec<String>,
}

/// All cases of the files in a folder.
pub(crate) fn all(folder: &Path) -> Vec<Case> {
    let files = fs::read_dir(folder).expect("the folder of the cases").map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    files.sort();
    files.iter().flat_map(|path| read(path)).collect()
}

fn read(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let theme: Theme = serde_saphyr::from_str_with_options(&text, serde_saphyr::options! { strict_booleans: true })
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    theme.cases.iter().flat_map(|written| theme.cases_of(&name, written)).collect()
}

impl Theme {
    fn cases_of(&self, theme: &str, written: &Written) -> Vec<Case> {
        let steps: Vec<_> = written.steps.iter().flat_map(|step| self.steps_of(step)).collect();
        let case = |name: String, variables: Map<String, Value>| Case {
            name,
            room: written.room.clone().unwrap_or_else(|| self.room.clone()),
            variables,
            steps: steps.clone(),
        };
        let name = format!("{theme}::{}", written.name);
        if written.rows.is_empty() {
            return vec![case(name, Map::new())];
        }
        let rows = written.rows.iter().map(|(row, value)| {
            let value = self.built(value);
            let mut variables = value.as_object().cloned().unwrap_or_default();
            variables.insert("row".to_owned(), value);
            case(format!("{name}::{row}"), variables)
        });
        rows.collect()
    }

    fn steps_of(&self, written: &Value) -> Vec<Step> {
        let scene = written.get("use").and_then(Value::as_str);
        match scene {
            Some(scene) => {
                let steps = self.scenes.get(scene).unwrap_or_else(|| panic!("there is no scene `{scene}`"));
                steps.iter().flat_map(|step| self.steps_of(step)).collect()
            }
            None => vec![Step::of(&self.built(written))],
        }
    }

    /// A value with what `$of` says filled in.
    fn built(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.built(item)).collect(),
            Value::Object(members) => {
                let mut own: Map<_, _> = members.iter().map(|(key, item)| (key.clone(), self.built(item))).collect();
                match own.remove("$of") {
                    Some(base) => {
                        let name = base.as_str().unwrap_or_default();
                        let base = self.values.get(name).unwrap_or_else(|| panic!("there is no value `{name}`"));
                        merged(self.built(base), Value::Object(own))
                    }
                    None => Value::Object(own),
                }
            }
            other => other.clone(),
        }
    }
}

/// A merge patch (RFC 7396), applied.
fn merged(base: Value, patch: Value) -> Value {
    match (base, patch) {
        (Value::Object(mut base), Value::Object(patch)) => {
            for (key, value) in patch {
                match value {
                    Value::Null => drop(base.remove(&key)),
                    value => {
                        let old = base.remove(&key).unwrap_or_default();
                        base.insert(key, merged(old, value));
                    }
                }
            }
            Value::Object(base)
        }
        (_, patch) => patch,
    }
}

/// How a request begins. `READ` looks at an open watch; of a `LINE` the rest is the request, method and all.
const METHODS: [&str; 9] = ["GET ", "POST ", "PUT ", "PATCH ", "DELETE ", "HEAD ", "OPTIONS ", "READ ", "LINE "];

impl Step {
    fn of(written: &Value) -> Self {
        let is_line = |text: &str| METHODS.iter().any(|method| text.starts_with(method));
        if let Some(line) = written.as_str().filter(|text| is_line(text)) {
            return Self { line: line.to_owned(), ..Self::default() };
        }
        let mut step = Self::default();
        for (key, value) in written.as_object().unwrap_or_else(|| panic!("no step: {written}")) {
            let text = || value.as_str().unwrap_or_else(|| panic!("`{key}` is no text in {written}")).to_owned();
            let texts = || serde_json::from_value(value.clone()).unwrap_or_else(|_| panic!("`{key}` in {written}"));
            match key.as_str() {
                line if is_line(line) => (step.line, step.body) = (line.to_owned(), value.clone()),
                "text" => step.text = Some(text()),
                "as" => step.media = Some(text()),
                "user" => step.user = value.clone(),
                "headers" => step.headers = texts(),
                "keep" => step.keep = texts(),
                "until" => step.until = value.clone(),
                "events" => step.events = value.clone(),
                "open" => step.open = Some(text()),
                "only" => step.only = serde_json::from_value(value.clone()).expect("`only` is a list of pointers"),
                _ => panic!("a step has no `{key}`: {written}"),
            }
        }
        assert!(!step.line.is_empty(), "a step has no request: {written}");
        step
    }
}

/// A text with the variables that it names (`$ns`, `$uid`) put in; an unknown name stays as it is.
pub(crate) fn filled(text: &str, variables: &Map<String, Value>) -> String {
    let mut pieces = text.split('$');
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        match variables.get(name) {
            // What a row stands for may name variables itself.
            Some(Value::String(value)) => whole += &filled(value, variables),
            Some(value) => whole += &value.to_string(),
            None => whole = whole + "$" + name,
        }
        whole += rest;
    }
    whole
}

/// As [`filled`], for every text and key of a value. A text that is nothing but a name becomes the variable as it is.
pub(crate) fn filled_value(value: &Value, variables: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('$').and_then(|name| variables.get(name)) {
            Some(whole) => filled_value(whole, variables),
            None => Value::String(filled(text, variables)),
        },
        Value::Array(items) => items.iter().map(|item| filled_value(item, variables)).collect(),
        Value::Object(members) => {
            let filled = members.iter().map(|(key, item)| (filled(key, variables), filled_value(item, variables)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}
