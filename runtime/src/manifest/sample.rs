//! Samples: one object per kind and version that can be applied as it is.

use serde_json::{Map, Value, json};

use super::crd::{self, value};
use super::finding::{Finding, Findings};
use super::project::{Controlled, Project};
use crate::manifest::crd::definition::Definition;

mod pattern;

/// The samples with their paths.
pub(crate) fn objects(project: &Project, definitions: &[Definition], found: &mut Vec<Finding>) -> Vec<(String, Value)> {
    let mut controllers: Vec<_> = project.controllers.iter().collect();
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
        found.extend(findings.into_vec());
        samples.push((format!("samples/{}_{}_{}.yaml", kind.group, kind.version, kind.kind.to_lowercase()), sample));
    }
    samples
}

/// The user's sample or one from the schema, with the names every object has.
pub(crate) fn complete(project: &Project, controlled: &Controlled, schema: &Value) -> Value {
    let kind = &controlled.kind;
    let made = || json!({"spec": make(&schema["properties"]["spec"], "spec")});
    let mut sample = controlled.sample.clone().unwrap_or_else(made);
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

fn check(controlled: &Controlled, sample: &Value, schema: &Value, found: &mut Findings) {
    let mut spec = sample.clone();
    if let Some(object) = spec.as_object_mut() {
        for own in ["apiVersion", "kind", "metadata"] {
            object.remove(own);
        }
    }
    let mut schema = schema.clone();
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| name != "status");
    }
    let complaints = value::complaints(&value::defaulted(spec, &schema), &schema);
    for complaint in complaints {
        match controlled.sample {
            Some(_) => found.error("sample", format!("the sample is not valid: {complaint}"), "change the sample"),
            None => found.warning(
                "sample",
                format!("no valid sample can be made: {complaint}"),
                "give the controller a sample",
            ),
        }
    }
}

/// The smallest value that `schema` takes: what is required, and of that the default, the first of an enum, the least.
pub(crate) fn make(schema: &Value, name: &str) -> Value {
    for said in ["default", "example"] {
        if let Some(value) = schema.get(said) {
            return value.clone();
        }
    }
    if let Some(first) = crd::list(schema, "enum").first() {
        return first.clone();
    }
    match crd::text(schema, "type") {
        "object" => object(schema, name),
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or_default();
            (0..least).map(|_| make(&schema["items"], name)).collect()
        }
        "integer" | "number" => number(schema),
        "boolean" => json!(false),
        "string" => text(schema, name),
        _ if crd::flag(schema, "x-kubernetes-int-or-string") => number(schema),
        _ => json!({}),
    }
}

fn object(schema: &Value, name: &str) -> Value {
    let mut made = Map::new();
    for field in value::required(schema) {
        let inner = &schema["properties"][&field];
        // A default is filled in by the API server.
        if inner.get("default").is_none() {
            made.insert(field.clone(), make(inner, &field));
        }
    }
    let least = schema["minProperties"].as_u64().unwrap_or_default();
    if schema["additionalProperties"].is_object() {
        for index in 0..least {
            made.insert(format!("{name}-{index}"), make(&schema["additionalProperties"], name));
        }
    }
    Value::Object(made)
}

/// The number nearest to zero within the bounds.
fn number(schema: &Value) -> Value {
    let step = schema["multipleOf"].as_f64().filter(|step| *step > 0.0);
    let whole = schema["type"] != "number";
    let least = schema["minimum"].as_f64().map_or(f64::NEG_INFINITY, |least| {
        if !crd::flag(schema, "exclusiveMinimum") {
            least
        } else {
            least + step.unwrap_or(if whole { 1.0 } else { 0.5 })
        }
    });
    let most = schema["maximum"].as_f64().map_or(f64::INFINITY, |most| {
        if !crd::flag(schema, "exclusiveMaximum") { most } else { most - step.unwrap_or(if whole { 1.0 } else { 0.5 }) }
    });
    let mut number = 0.0_f64.max(least).min(most);
    if let Some(step) = step {
        number = if number >= 0.0 { (number / step).ceil() * step } else { (number / step).floor() * step };
    }
    if whole || number.fract() == 0.0 {
        #[allow(clippy::cast_possible_truncation)]
        let whole = number.ceil() as i64;
        json!(whole)
    } else {
        json!(number)
    }
}

fn text(schema: &Value, name: &str) -> Value {
    // A pattern beside one of these formats takes a part of what the format takes; it says less than the format.
    let formed = ["byte", "date-time", "ipv4", "ipv6"].contains(&crd::text(schema, "format"));
    let pattern = schema["pattern"].as_str().filter(|_| !formed);
    if let Some(made) = pattern.and_then(|pattern| pattern::matching(pattern, least_length(schema))) {
        return json!(made);
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
        _ => return json!(named(schema, name)),
    };
    json!(by_format)
}

/// The field's own name, cut or stretched to the length wanted.
fn named(schema: &Value, name: &str) -> String {
    let most = schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let mut made: String = name.to_lowercase().chars().take(most).collect();
    let missing = least_length(schema).saturating_sub(made.chars().count());
    made.extend(std::iter::repeat_n('x', missing));
    made
}

fn least_length(schema: &Value) -> usize {
    schema["minLength"].as_u64().and_then(|least| usize::try_from(least).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
