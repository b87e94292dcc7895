//! Checks a definition against its Rust type: the type decodes what the schema admits, and keeps nothing that the schema
//! drops.

mod candidate;
mod pruned;

use serde_json::{Map, Value, json};

use super::crd::{self, value};
use super::finding::{Finding, Findings, Severity};
use super::project::{Controlled, Project, RoundTrip};
use super::sample;
use crate::manifest::crd::definition::Definition;

/// Checks the kinds that have a definition. A schema with errors is not looked at: what it admits is not certain.
pub(crate) fn check(project: &Project, definitions: &[Definition], found: &mut Vec<Finding>) {
    let mut controllers: Vec<_> = project.controllers.iter().collect();
    controllers.sort_by_key(|controlled| (&controlled.kind, controlled.round_trip.is_none()));
    controllers.dedup_by_key(|controlled| &controlled.kind);
    for controlled in controllers {
        let kind = &controlled.kind;
        let of_kind = |definition: &&Definition| definition.group == kind.group && definition.kind == kind.kind;
        let Some(definition) = definitions.iter().find(of_kind) else { continue };
        let Some(schema) = definition.schema(&kind.version) else { continue };
        let title = format!("{} {}", kind.kind, kind.version);
        if found.iter().any(|finding| finding.severity == Severity::Error && finding.kind == title) {
            continue;
        }
        let mut trial = Trial::of(project, controlled, schema, Findings::of(title));
        trial.run();
        found.extend(trial.found.into_vec());
    }
}

/// One kind, a valid object of it, and what was found.
struct Trial<'a> {
    schema: Value,
    object: Value,
    round_trip: Option<&'a RoundTrip>,
    found: Findings,
}

/// A place in the object: its schema, its path, and how a value gets there.
struct ValuePlace<'a> {
    schema: &'a Value,
    path: &'a str,
    name: &'a str,
    /// Whether CEL rules speak of the value, so that only the API server knows what is admitted.
    ruled: bool,
    embed: &'a dyn Fn(Value) -> Value,
}

impl<'a> Trial<'a> {
    fn of(project: &Project, controlled: &'a Controlled, schema: &Value, found: Findings) -> Self {
        let mut schema = schema.clone();
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|name| name != "status");
        }
        let object = sample::complete(project, controlled, &schema);
        Self { schema, object, round_trip: controlled.round_trip.as_ref(), found }
    }

    fn run(&mut self) {
        let whole = self.object.clone();
        if let Some(error) = self.refusal(&whole) {
            let error = error.to_string();
            let path = self.blamed(&whole, &error);
            let shown = path.split('.').skip(1).fold(&whole, |value, name| &value[name]);
            self.refuse(&path, shown, &error);
            return;
        }
        let schema = self.schema.clone();
        for name in ["spec", "status"] {
            let Some(part) = schema["properties"].get(name) else { continue };
            let embed = |value: Value| {
                let mut whole = whole.clone();
                whole[name] = value;
                whole
            };
            let ruled = schema["x-kubernetes-validations"].is_array();
            self.place(&ValuePlace { schema: part, path: &format!(".{name}"), name, ruled, embed: &embed });
        }
    }

    fn place(&mut self, place: &ValuePlace<'_>) {
        let ruled = place.ruled || place.schema["x-kubernetes-validations"].is_array();
        for candidate in candidate::values(place.schema, place.name, ruled) {
            let whole = (place.embed)(candidate.clone());
            if let Some(error) = self.refusal(&whole).filter(|_| self.admits(&whole)) {
                self.refuse(place.path, &candidate, &error.to_string());
                return;
            }
        }
        match crd::text(place.schema, "type") {
            "object" => self.object(place, ruled),
            "array" => {
                let least = place.schema["minItems"].as_u64().unwrap_or(1).clamp(1, 64);
                let items = &place.schema["items"];
                let embed = |value: Value| {
                    let others = (1..least).map(|_| sample::make(items, place.name));
                    (place.embed)(std::iter::once(value).chain(others).collect())
                };
                let path = crd::items(place.path);
                self.place(&ValuePlace { schema: items, path: &path, name: place.name, ruled, embed: &embed });
            }
            _ => {}
        }
    }

    fn object(&mut self, place: &ValuePlace<'_>, ruled: bool) {
        let of_sample = self.object.get(place.name).filter(|_| place.path == ".spec");
        let base = of_sample.cloned().unwrap_or_else(|| sample::make(place.schema, place.name));
        let base = base.as_object().cloned().unwrap_or_default();
        self.pruned(place, &base);
        for (name, inner) in place.schema["properties"].as_object().into_iter().flatten() {
            let with = |mut object: Map<String, Value>, value: Value| {
                object.insert(name.clone(), value);
                (place.embed)(Value::Object(object))
            };
            // Beside the fields of one variant, those of another are not admitted.
            let mut around = candidate::around(place.schema, name, &base);
            let admitted =
                around.iter().position(|object| self.admits(&with(object.clone(), sample::make(inner, name))));
            let object = admitted.map_or_else(|| base.clone(), |index| around.swap_remove(index));
            let embed = |value: Value| with(object.clone(), value);
            let path = crd::field(place.path, name);
            self.place(&ValuePlace { schema: inner, path: &path, name, ruled, embed: &embed });
        }
        let each = &place.schema["additionalProperties"];
        if each.is_object() {
            let embed = |value: Value| (place.embed)(json!({"key": value}));
            let path = crd::values(place.path);
            self.place(&ValuePlace { schema: each, path: &path, name: place.name, ruled, embed: &embed });
        }
    }

    /// Why the type can't decode an object.
    fn refusal(&self, whole: &Value) -> Option<serde_json::Error> {
        let whole = value::defaulted(whole.clone(), &self.schema);
        self.round_trip.and_then(|round_trip| round_trip.of(&whole).err())
    }

    /// Whether the schema admits an object, patterns and rules aside.
    fn admits(&self, whole: &Value) -> bool {
        let mut parts = value::defaulted(whole.clone(), &self.schema);
        if let Some(object) = parts.as_object_mut() {
            object.retain(|name, _| !["apiVersion", "kind", "metadata"].contains(&name.as_str()));
        }
        value::complaints(&parts, &self.schema).is_empty()
    }

    fn refuse(&mut self, path: &str, value: &Value, error: &str) {
        let problem = format!("the schema admits `{value}`, which the type can't decode: {error}");
        let fix = if value.is_null() {
            "take an `Option`, or take `nullable` away"
        } else {
            "restrict the field to what its type takes (`#[schemars(regex(pattern = ...))]`, `range`, or a schema of your own by `schema_with`), or take a type that decodes every such value"
        };
        self.found.error(path, problem, fix);
    }

    /// The path of the field that an object can't be decoded for. Fields are decoded in their order: the first with which
    /// the error appears is the one.
    fn blamed(&self, whole: &Value, error: &str) -> String {
        let (mut path, mut pointer) = (String::new(), String::new());
        while let Some(fields) = whole.pointer(&pointer).and_then(Value::as_object) {
            let fails = |most: &usize| {
                let mut cut = whole.clone();
                if let Some(object) = cut.pointer_mut(&pointer) {
                    *object = fields.iter().take(*most).map(|(name, value)| (name.clone(), value.clone())).collect();
                }
                self.refusal(&cut).is_some_and(|refusal| refusal.to_string() == error)
            };
            let Some(first) = (1..=fields.len()).find(fails) else { break };
            let Some((name, _)) = fields.iter().nth(first - 1) else { break };
            path = crd::field(&path, name);
            pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        }
        path
    }
}

#[cfg(test)]
mod tests;
