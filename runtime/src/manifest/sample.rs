//! Generates one sample object per kind and version, ready for `kubectl apply`.

use opgen_schema::keyword::INT_OR_STRING;
use serde_json::{Map, Value, json};

use super::crd::{self, value};
use super::lint::{Finding, Findings};
use super::project::{KindDescription, Project};
use crate::manifest::crd::definition::Definition;

mod pattern;

/// Returns one sample object per kind and version with the path of its file, and reports samples that their schema doesn't admit. Returns
/// none for a kind in a NATS bucket, whose sample is a script, since kubectl can't create it.
pub(crate) fn objects(
    project: &Project,
    definitions: &[Definition],
    report: &mut Vec<Finding>,
) -> Vec<(String, Value)> {
    let mut controllers: Vec<_> = project.controllers.iter().collect();
    // Of several controllers of a kind, keep the first one with a sample.
    controllers.sort_by_key(|controlled| (&controlled.kind, controlled.sample.is_none(), &controlled.finalizer));
    controllers.dedup_by_key(|controlled| &controlled.kind);
    let mut samples = Vec::new();
    for controlled in controllers {
        let kind = &controlled.kind;
        let definition =
            definitions.iter().find(|definition| definition.group == kind.group && definition.kind == kind.kind);
        let Some(schema) = definition.and_then(|definition| definition.schema(&kind.version)) else { continue };
        let mut findings = Findings::of(format!("{} {}", kind.kind, kind.version));
        let sample = complete(project, controlled, schema);
        check(controlled, &sample, schema, &mut findings);
        report.extend(findings.into_vec());
        if controlled.bucket.is_some() {
            continue;
        }
        samples.push((format!("samples/{}_{}_{}.yaml", kind.group, kind.version, kind.kind.to_lowercase()), sample));
    }
    samples
}

/// Returns the sample that the user set on the controller, or else a sample from the schema, without a status and with `apiVersion`, `kind`
/// and `metadata` filled in.
pub(crate) fn complete(project: &Project, controlled: &KindDescription, schema: &Value) -> Value {
    let kind = &controlled.kind;
    let from_schema = || json!({"spec": make(&schema["properties"]["spec"], "spec")});
    let mut sample = controlled.sample.clone().unwrap_or_else(from_schema);
    if let Some(object) = sample.as_object_mut() {
        object.remove("status");
        object.retain(|key, _| key != "spec" || !schema["properties"]["spec"].is_null());
        object.insert("apiVersion".into(), json!(kind.api_version()));
        object.insert("kind".into(), json!(kind.kind));
        let metadata = object.entry("metadata").or_insert_with(|| json!({}));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.entry("name").or_insert_with(|| json!(format!("{}-sample", kind.kind.to_lowercase())));
            if project.namespaced && kind.namespaced {
                metadata.entry("namespace").or_insert_with(|| json!(project.namespace));
            }
            metadata.retain(|_, value| !value.is_null());
        }
    }
    sample
}

/// Reports each part of a sample that the schema doesn't admit: as an error in the user's sample, as a warning in a generated sample. The
/// schema doesn't require a status, since a new object has none.
fn check(controlled: &KindDescription, sample: &Value, schema: &Value, findings: &mut Findings) {
    let mut schema = schema.clone();
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| name != "status");
    }
    let schema = opgen_schema::parse_schema(&schema, None);
    for complaint in value::complaints(&value::defaulted(sample.clone(), &schema), &schema) {
        match controlled.sample {
            Some(_) => findings.error("sample", format!("the sample is invalid: {complaint}"), "fix the sample"),
            None => findings.warning(
                "sample",
                format!("failed to generate a valid sample: {complaint}"),
                "set a sample on the controller",
            ),
        }
    }
}

/// Returns a small value that `schema` should admit: the default, the example, the first value of an enum, or the smallest value of the
/// type, with required fields only. `name`, the name of the field, becomes the value of a string without a pattern or format, and the
/// prefix of generated map keys.
pub(crate) fn make(schema: &Value, name: &str) -> Value {
    for keyword in ["default", "example"] {
        if let Some(value) = schema.get(keyword) {
            return value.clone();
        }
    }
    if let Some(first) = crd::list(schema, "enum").first() {
        return first.clone();
    }
    match crd::text(schema, "type") {
        "object" => object(schema, name),
        "array" => {
            let minimum = schema["minItems"].as_u64().unwrap_or_default();
            (0..minimum).map(|_| make(&schema["items"], name)).collect()
        }
        "integer" | "number" => number(schema),
        "boolean" => json!(false),
        "string" => text(schema, name),
        _ if crd::flag(schema, INT_OR_STRING) => number(schema),
        _ => json!({}),
    }
}

/// Returns an object with the required fields, or a map with the minimum number of entries.
fn object(schema: &Value, name: &str) -> Value {
    let mut fields = Map::new();
    for field in required(schema) {
        let inner = &schema["properties"][&field];
        // The API server fills in defaults.
        if inner.get("default").is_none() {
            fields.insert(field.clone(), make(inner, &field));
        }
    }
    let minimum = schema["minProperties"].as_u64().unwrap_or_default();
    if schema["additionalProperties"].is_object() {
        for index in 0..minimum {
            fields.insert(format!("{name}-{index}"), make(&schema["additionalProperties"], name));
        }
    }
    Value::Object(fields)
}

/// Returns the names of the fields that the sample of an object has: the required fields that the schema defines.
fn required(schema: &Value) -> Vec<String> {
    let mut names = required_by(schema);
    names.retain(|name| schema["properties"].get(name).is_some());
    names
}

/// Returns the names in `required` of a schema and of the branches that the sample satisfies: the first branch of `anyOf` and of `oneOf`,
/// and all branches of `allOf`.
fn required_by(schema: &Value) -> Vec<String> {
    let mut names: Vec<String> =
        crd::list(schema, "required").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let first_branches = [crd::list(schema, "anyOf").first(), crd::list(schema, "oneOf").first()].into_iter().flatten();
    names.extend(first_branches.chain(crd::list(schema, "allOf")).flat_map(required_by));
    names
}

/// Returns the number nearest to zero within the bounds of the schema, as a multiple of its `multipleOf`. A value that an exclusive bound
/// excludes is avoided by a step of `multipleOf`, of 1 for integers, or of 0.5.
fn number(schema: &Value) -> Value {
    let step = schema["multipleOf"].as_f64().filter(|step| *step > 0.0);
    let is_integer = schema["type"] != "number";
    let minimum = schema["minimum"].as_f64().map_or(f64::NEG_INFINITY, |minimum| {
        if !crd::flag(schema, "exclusiveMinimum") {
            minimum
        } else {
            minimum + step.unwrap_or(if is_integer { 1.0 } else { 0.5 })
        }
    });
    let maximum = schema["maximum"].as_f64().map_or(f64::INFINITY, |maximum| {
        if !crd::flag(schema, "exclusiveMaximum") {
            maximum
        } else {
            maximum - step.unwrap_or(if is_integer { 1.0 } else { 0.5 })
        }
    });
    let mut number = 0.0_f64.max(minimum).min(maximum);
    if let Some(step) = step {
        number = if number >= 0.0 { (number / step).ceil() * step } else { (number / step).floor() * step };
    }
    if is_integer || number.fract() == 0.0 {
        #[allow(clippy::cast_possible_truncation)]
        let integer = number.ceil() as i64;
        json!(integer)
    } else {
        json!(number)
    }
}

/// Returns a string that matches the pattern or has the format of the schema; otherwise the name of the field, with the length that the
/// schema allows.
fn text(schema: &Value, name: &str) -> Value {
    // A pattern beside one of these formats only excludes rare values, so the value for the format is better.
    let has_format = ["byte", "date-time", "ipv4", "ipv6"].contains(&crd::text(schema, "format"));
    let pattern = schema["pattern"].as_str().filter(|_| !has_format);
    if let Some(text) = pattern.and_then(|pattern| pattern::matching(pattern, least_length(schema))) {
        return json!(text);
    }
    let format =
        [schema].into_iter().chain(crd::list(schema, "anyOf").first()).map(|schema| crd::text(schema, "format"));
    let by_format = match format.collect::<String>().replace('-', "").as_str() {
        "datetime" => "2026-01-01T00:00:00Z",
        "date" => "2026-01-01",
        "duration" => "1h",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "cidr" => "192.0.2.0/24",
        "mac" => "00:00:5e:00:53:01",
        "uri" => "https://example.com",
        "email" => "someone@example.com",
        "hostname" | "k8slongname" => "example.com",
        "uuid" => "00000000-0000-0000-0000-000000000000",
        "uuid4" => "00000000-0000-4000-8000-000000000000",
        "byte" => "",
        _ => return json!(name_of_allowed_length(schema, name)),
    };
    json!(by_format)
}

/// Returns `name` in lower case, cut to the maximum length of the schema or filled up with `x` to the minimum length.
fn name_of_allowed_length(schema: &Value, name: &str) -> String {
    let maximum = schema["maxLength"].as_u64().and_then(|maximum| usize::try_from(maximum).ok()).unwrap_or(usize::MAX);
    let mut text: String = name.to_lowercase().chars().take(maximum).collect();
    let missing = least_length(schema).saturating_sub(text.chars().count());
    text.extend(std::iter::repeat_n('x', missing));
    text
}

fn least_length(schema: &Value) -> usize {
    schema["minLength"].as_u64().and_then(|minimum| usize::try_from(minimum).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
