//! Checks that a Rust type decodes every value its schema admits, and keeps no field that the schema prunes.

mod candidate;
mod pruning;

use opgen_schema::Schema;
use serde_json::{Map, Value, json};

use super::crd::{self, value};
use super::lint::{Finding, Findings, Severity};
use super::project::{KindDescription, Project, RoundTrip};
use super::sample;
use crate::manifest::crd::definition::Definition;

/// The maximum number of items in the lists that the check makes, also where a schema requires more.
const MAX_ITEMS: u64 = 64;

/// Checks for each kind with a CustomResourceDefinition that its Rust type decodes what the schema admits, and adds the findings to
/// `report`. Skips a schema about which `report` already has an error, since it is uncertain which values such a schema admits.
pub(crate) fn check(project: &Project, definitions: &[Definition], report: &mut Vec<Finding>) {
    let mut controllers: Vec<_> = project.controllers.iter().collect();
    // Of several controllers of a kind, keep the first one whose type is known.
    controllers.sort_by_key(|controlled| (&controlled.kind, controlled.round_trip.is_none()));
    controllers.dedup_by_key(|controlled| &controlled.kind);
    for controlled in controllers {
        let kind = &controlled.kind;
        let of_kind = |definition: &&Definition| definition.group == kind.group && definition.kind == kind.kind;
        let Some(definition) = definitions.iter().find(of_kind) else { continue };
        let Some(schema) = definition.schema(&kind.version) else { continue };
        let title = format!("{} {}", kind.kind, kind.version);
        if report.iter().any(|finding| finding.severity == Severity::Error && finding.kind == title) {
            continue;
        }
        let mut check = DecodeCheck::new(project, controlled, schema, Findings::of(title));
        check.run();
        report.extend(check.findings.into_vec());
    }
}

/// The check of one kind: its schema as written and parsed, a valid object, its type's decoder and the findings.
struct DecodeCheck<'a> {
    schema: Value,
    parsed: Schema,
    object: Value,
    round_trip: Option<&'a RoundTrip>,
    findings: Findings,
}

/// A value inside the object: its schema, its path, and the function that puts a candidate there.
struct CheckedValue<'a> {
    schema: &'a Value,
    path: &'a str,
    name: &'a str,
    /// Whether CEL rules apply to the value. Only the API server evaluates them, so it is uncertain which values are admitted.
    has_rules: bool,
    /// Returns the whole object with a candidate in place of the value.
    wrap: &'a dyn Fn(Value) -> Value,
}

impl<'a> DecodeCheck<'a> {
    /// Prepares the check of one kind. The status is not required, since a new object has none.
    fn new(project: &Project, controlled: &'a KindDescription, schema: &Value, findings: Findings) -> Self {
        let mut schema = schema.clone();
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|name| name != "status");
        }
        let object = sample::complete(project, controlled, &schema);
        let parsed = opgen_schema::parse_schema(&schema, None);
        Self { schema, parsed, object, round_trip: controlled.round_trip.as_ref(), findings }
    }

    /// Checks that the type can decode the sample object, and copies of it in which one value below `spec` or `status` is replaced by
    /// another one that the schema allows. Reports each failure; if the sample fails, nothing else is checked.
    fn run(&mut self) {
        let whole_object = self.object.clone();
        if let Some(error) = self.decode_error(&whole_object) {
            let error = error.to_string();
            let path = self.failing_field(&whole_object, &error);
            let failing_value = path.split('.').skip(1).fold(&whole_object, |value, name| &value[name]);
            self.report(&path, failing_value, &error);
            return;
        }
        let schema = self.schema.clone();
        for name in ["spec", "status"] {
            let Some(part) = schema["properties"].get(name) else { continue };
            let wrap = |value: Value| {
                let mut whole_object = whole_object.clone();
                whole_object[name] = value;
                whole_object
            };
            let has_rules = schema["x-kubernetes-validations"].is_array();
            self.check_value(&CheckedValue { schema: part, path: &format!(".{name}"), name, has_rules, wrap: &wrap });
        }
    }

    /// Decodes the object with each candidate for the value `target` that the schema admits, and reports the first candidate that the type
    /// can't decode. If the type decodes all, continues with the fields, items or map values below `target`.
    fn check_value(&mut self, target: &CheckedValue<'_>) {
        let has_rules = target.has_rules || target.schema["x-kubernetes-validations"].is_array();
        for candidate in candidate::values(target.schema, target.name, has_rules) {
            let whole_object = (target.wrap)(candidate.clone());
            if let Some(error) = self.decode_error(&whole_object).filter(|_| self.admits(&whole_object)) {
                self.report(target.path, &candidate, &error.to_string());
                return;
            }
        }
        match crd::text(target.schema, "type") {
            "object" => self.check_object(target, has_rules),
            "array" => {
                let minimum = target.schema["minItems"].as_u64().unwrap_or(1).clamp(1, MAX_ITEMS);
                let items = &target.schema["items"];
                // A list that requires more items gets sample items behind the candidate.
                let wrap = |value: Value| {
                    let other_items = (1..minimum).map(|_| sample::make(items, target.name));
                    (target.wrap)(std::iter::once(value).chain(other_items).collect())
                };
                let path = crd::items(target.path);
                self.check_value(&CheckedValue {
                    schema: items,
                    path: &path,
                    name: target.name,
                    has_rules,
                    wrap: &wrap,
                });
            }
            _ => {}
        }
    }

    /// Checks an object of the schema. First `check_pruning` checks that the Rust type drops each unknown field, as the API server prunes
    /// it. Then `check_value` checks each field and each value of a map, inside of an object that the type can decode.
    fn check_object(&mut self, target: &CheckedValue<'_>, has_rules: bool) {
        let sample_spec = self.object.get(target.name).filter(|_| target.path == ".spec");
        let base = sample_spec.cloned().unwrap_or_else(|| sample::make(target.schema, target.name));
        let base = base.as_object().cloned().unwrap_or_default();
        self.check_pruning(target, &base);
        for (name, inner) in target.schema["properties"].as_object().into_iter().flatten() {
            let add_field = |mut object: Map<String, Value>, value: Value| {
                object.insert(name.clone(), value);
                (target.wrap)(Value::Object(object))
            };
            // The fields of two variants of an enum exclude each other, so the sibling fields have to fit the checked field.
            let mut siblings = candidate::sibling_fields(target.schema, name, &base);
            let admitted =
                siblings.iter().position(|object| self.admits(&add_field(object.clone(), sample::make(inner, name))));
            let object = admitted.map_or_else(|| base.clone(), |index| siblings.swap_remove(index));
            let wrap = |value: Value| add_field(object.clone(), value);
            let path = crd::field(target.path, name);
            self.check_value(&CheckedValue { schema: inner, path: &path, name, has_rules, wrap: &wrap });
        }
        let each = &target.schema["additionalProperties"];
        if each.is_object() {
            let wrap = |value: Value| (target.wrap)(json!({"key": value}));
            let path = crd::values(target.path);
            self.check_value(&CheckedValue { schema: each, path: &path, name: target.name, has_rules, wrap: &wrap });
        }
    }

    /// Returns the error of the Rust type when it decodes an object in which the API server has set the defaults; `None` if it decodes the
    /// object, or if the type is unknown.
    fn decode_error(&self, whole_object: &Value) -> Option<serde_json::Error> {
        let whole_object = value::defaulted(whole_object.clone(), &self.parsed);
        self.round_trip.and_then(|round_trip| round_trip.of(&whole_object).err())
    }

    /// Returns whether the schema admits an object; CEL rules are not evaluated.
    fn admits(&self, whole_object: &Value) -> bool {
        value::complaints(&value::defaulted(whole_object.clone(), &self.parsed), &self.parsed).is_empty()
    }

    /// Reports a value that the schema admits and the type can't decode.
    fn report(&mut self, path: &str, value: &Value, error: &str) {
        let problem = format!("the schema accepts `{value}`, which the type can't decode: {error}");
        let fix = if value.is_null() {
            "use an `Option`, or remove `nullable`"
        } else {
            "restrict the field to the values of its type (`#[schemars(regex(pattern = ...))]`, `range`, or your own schema with `schema_with`), or use a type that decodes every such value"
        };
        self.findings.error(path, problem, fix);
    }

    /// Returns the path of the field that causes a decode error. Descends from the root: at each level it finds the shortest prefix of the
    /// fields that fails with the same error, since types decode fields in order, and continues below the last field of the prefix.
    fn failing_field(&self, whole_object: &Value, error: &str) -> String {
        let (mut path, mut pointer) = (String::new(), String::new());
        while let Some(fields) = whole_object.pointer(&pointer).and_then(Value::as_object) {
            let prefix_fails = |count: &usize| {
                let mut shortened = whole_object.clone();
                if let Some(object) = shortened.pointer_mut(&pointer) {
                    *object = fields.iter().take(*count).map(|(name, value)| (name.clone(), value.clone())).collect();
                }
                self.decode_error(&shortened).is_some_and(|decode_error| decode_error.to_string() == error)
            };
            let Some(count) = (1..=fields.len()).find(prefix_fails) else { break };
            let Some((name, _)) = fields.iter().nth(count - 1) else { break };
            path = crd::field(&path, name);
            pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        }
        path
    }
}

#[cfg(test)]
mod tests;
