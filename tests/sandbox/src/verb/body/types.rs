//! Detects JSON values of a wrong type and reports them with the messages of Go's decoder.

use std::{collections::HashSet, sync::LazyLock};

use base64::{DecodeError, Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::schema::{Definition, OtherFields, Scalar, Schema, Shape, builtin};

/// Returns the first value that does not have the type of its field; `None` if there is none.
pub(super) fn type_error(definition: &'static Definition, object: &Value) -> Option<String> {
    FieldTypeCheck { owner: Some(definition), path: Vec::new(), field: "" }.check_value(definition.schema(), object)
}

/// Returns the first type error in the metadata of a custom resource, which Go decodes separately.
pub(super) fn metadata_type_error(metadata: &Value) -> Option<String> {
    type_error(builtin::definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")?, metadata)
}

/// The type check of an object at one field.
#[derive(Clone)]
struct FieldTypeCheck<'a> {
    /// The type that contains the field.
    owner: Option<&'static Definition>,
    /// The fields from the root, without list indices and map keys.
    path: Vec<&'a str>,
    field: &'a str,
}

const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
/// The error for a text that is not a quantity.
const INVALID_QUANTITY: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const INT_OR_STRING: &str = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
/// The time types, with the layout by which Go parses each.
const TIMES: [(&str, &str); 2] = [
    ("io.k8s.apimachinery.pkg.apis.meta.v1.Time", "2006-01-02T15:04:05Z07:00"),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "2006-01-02T15:04:05.000000Z07:00"),
];

impl<'a> FieldTypeCheck<'a> {
    /// Returns the first type error in a value or in the values nested in it; `None` if there is none. Null is valid for every type.
    fn check_value(&self, schema: &'a Schema, value: &'a Value) -> Option<String> {
        if value.is_null() {
            return None;
        }
        let mut definition = None;
        // Quantities, IntOrStrings and times have decoders of their own in Go, with other messages.
        if let Shape::Named(named) = &schema.shape {
            let layout = TIMES.iter().find(|(name, _)| *name == named.name).map(|(_, layout)| layout);
            match (named.name, value) {
                (QUANTITY, Value::String(text)) => return quantity_error(text),
                (QUANTITY, Value::Number(_)) => return None,
                (QUANTITY, _) => return Some(INVALID_QUANTITY.to_owned()),
                (INT_OR_STRING, Value::Number(number)) if number.is_i64() => return None,
                (INT_OR_STRING, Value::String(_)) => return None,
                (INT_OR_STRING, Value::Number(number)) => {
                    return Some(self.mismatch_message(&format!("number {number}"), "int32"));
                }
                (INT_OR_STRING, _) => return Some(self.type_mismatch(value, "int32")),
                _ => match (layout, value) {
                    (Some(layout), Value::String(text)) => return time_error(text, layout),
                    (Some(_), _) => return Some(self.type_mismatch(value, "string")),
                    (None, _) => definition = Some(*named),
                },
            }
        }
        match (&schema.resolve().shape, value) {
            (Shape::Object(fields), Value::Object(map)) => map.iter().find_map(|(name, value)| {
                if let Some(schema) = fields.known.get(name.as_str()) {
                    let path = self.path.iter().copied().chain([name.as_str()]).collect();
                    return FieldTypeCheck { owner: definition.or(self.owner), path, field: name }
                        .check_value(schema, value);
                }
                // In messages, Go names the map instead of the key of a map value.
                match &fields.others {
                    OtherFields::Each(schema) => self.check_value(schema, value),
                    OtherFields::Unknown | OtherFields::Kept => None,
                }
            }),
            (Shape::List(list), Value::Array(items)) => {
                items.iter().find_map(|item| self.check_value(&list.items, item))
            }
            (Shape::Scalar(scalar), _) => self.check_scalar(*scalar, value),
            (Shape::Object(_) | Shape::List(_), _) => Some(self.type_mismatch(value, &go_type(schema))),
            (Shape::Any | Shape::Named(_), _) => None,
        }
    }

    /// Returns the error for a value that does not have the scalar type of its field; `None` if it has.
    fn check_scalar(&self, scalar: Scalar, value: &Value) -> Option<String> {
        let integer_type = || if self.format() == "int32" { "int32" } else { "int64" };
        match (scalar, value) {
            (Scalar::Text, Value::String(text)) => self.holds_bytes().then(|| base64_error(text)).flatten(),
            (Scalar::Boolean, Value::Bool(_)) => None,
            (Scalar::Number, Value::Number(_)) | (Scalar::IntOrText, Value::Number(_) | Value::String(_)) => None,
            (Scalar::Integer, Value::Number(number)) => {
                let fits = |number: i64| integer_type() == "int64" || i32::try_from(number).is_ok();
                let is_valid = number.as_i64().is_some_and(fits);
                (!is_valid).then(|| self.mismatch_message(&format!("number {number}"), integer_type()))
            }
            (Scalar::Text, _) => Some(self.type_mismatch(value, if self.holds_bytes() { "[]uint8" } else { "string" })),
            (Scalar::Boolean, _) => Some(self.type_mismatch(value, "bool")),
            (Scalar::Integer, _) => Some(self.type_mismatch(value, integer_type())),
            (Scalar::Number, _) => Some(self.type_mismatch(value, "float64")),
            (Scalar::IntOrText, _) => Some(self.type_mismatch(value, "int32")),
        }
    }

    /// Returns whether the field contains bytes, or is a map of bytes.
    fn holds_bytes(&self) -> bool {
        self.owner.is_some_and(|owner| BYTES.contains(&(owner.name, self.field)))
    }

    /// Returns the format of the field, which the parsed schema does not contain.
    fn format(&self) -> &str {
        self.owner.map_or("", |owner| owner.format(self.field))
    }

    /// Returns the error for a JSON value in a field of the Go type `go_type`.
    fn type_mismatch(&self, value: &Value, go_type: &str) -> String {
        let json_type = match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        self.mismatch_message(json_type, go_type)
    }

    /// Returns the message of Go's `json.UnmarshalTypeError`.
    fn mismatch_message(&self, json_type: &str, go_type: &str) -> String {
        let owner = self.owner.map(type_name).unwrap_or_default();
        let path = self.path.join(".");
        format!("json: cannot unmarshal {json_type} into Go struct field {owner}.{path} of type {go_type}")
    }
}

/// The byte fields of all definitions, which JSON encodes as base64.
static BYTES: LazyLock<HashSet<(&'static str, &'static str)>> = LazyLock::new(|| {
    let with_bytes = builtin::definitions().filter(|definition| definition.text.contains("\"format\":\"byte\""));
    let fields = |definition: &'static Definition| {
        let written: Value = serde_json::from_str(definition.text).unwrap_or_default();
        let known = definition.schema().fields().into_iter().flat_map(|fields| fields.known.keys());
        known
            .map(|name| &**name)
            .filter(move |name| {
                let field = &written["properties"][*name];
                field["format"] == "byte" || field["additionalProperties"]["format"] == "byte"
            })
            .map(|name| (definition.name, name))
    };
    with_bytes.flat_map(fields).collect()
});

/// Returns the error of Go's base64 decoder; `None` if the text is valid.
fn base64_error(text: &str) -> Option<String> {
    let offset = match STANDARD.decode(text) {
        Ok(_) => return None,
        Err(DecodeError::InvalidByte(offset, _) | DecodeError::InvalidLastSymbol(offset, _)) => offset,
        Err(DecodeError::InvalidLength(_) | DecodeError::InvalidPadding) => text.len(),
    };
    Some(format!("illegal base64 data at input byte {offset}"))
}

/// Returns the name without the package: `DeploymentSpec`.
fn type_name(definition: &Definition) -> &'static str {
    definition.name.rsplit('.').next().unwrap_or_default()
}

/// Returns the Go type of a schema: `map[string]string`, `[]v1.Container`, `v1.DeploymentSpec`.
fn go_type(schema: &Schema) -> String {
    match &schema.shape {
        Shape::Named(definition) => {
            let mut words = definition.name.rsplit('.');
            let (name, package) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            format!("{package}.{name}")
        }
        Shape::List(list) => format!("[]{}", go_type(&list.items)),
        Shape::Object(fields) => match &fields.others {
            OtherFields::Each(each) => format!("map[string]{}", go_type(each)),
            OtherFields::Unknown | OtherFields::Kept => "map[string]interface {}".to_owned(),
        },
        Shape::Scalar(Scalar::Text) => "string".to_owned(),
        Shape::Scalar(Scalar::Boolean) => "bool".to_owned(),
        Shape::Scalar(Scalar::Integer) => "int32".to_owned(),
        Shape::Scalar(Scalar::Number) => "float64".to_owned(),
        Shape::Scalar(Scalar::IntOrText) | Shape::Any => "interface {}".to_owned(),
    }
}

/// Returns the error of Go's time parser; `None` if the text is a valid time. `layout` is the Go layout of the type.
fn time_error(text: &str, layout: &str) -> Option<String> {
    if text.parse::<jiff::Timestamp>().is_ok() {
        return None;
    }
    // After a valid year, Go expects a hyphen; without one, it expects the year.
    let has_year = text.get(..4).is_some_and(|year| year.bytes().all(|byte| byte.is_ascii_digit()));
    let (remainder, expected) = if has_year { (text.get(4..).unwrap_or_default(), "-") } else { (text, "2006") };
    Some(format!("parsing time {text:?} as {layout:?}: cannot parse {remainder:?} as {expected:?}"))
}

/// Returns the error for a text that is not a quantity; `None` if it is one: a decimal number with an optional sign, and a suffix or an
/// exponent.
fn quantity_error(text: &str) -> Option<String> {
    let number = text.trim_start_matches(['+', '-']);
    let end = number.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(number.len());
    let (digits, suffix) = number.split_at(end);
    let exponent = || {
        let exponent = suffix.strip_prefix(['e', 'E'])?;
        exponent.strip_prefix(['+', '-']).unwrap_or(exponent).parse::<u8>().ok()
    };
    let suffixes = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let is_number = digits.bytes().any(|byte| byte.is_ascii_digit()) && digits.matches('.').count() < 2;
    let has_one_sign_at_most = text.len() - number.len() < 2;
    let is_valid = is_number && has_one_sign_at_most && (suffixes.contains(&suffix) || exponent().is_some());
    (!is_valid).then(|| INVALID_QUANTITY.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn type_errors_have_the_messages_of_go() {
        let message_about = |kind: (&str, &str, &str), object: Value| {
            type_error(builtin::of_kind(kind.0, kind.1, kind.2).unwrap(), &object).unwrap_or_default()
        };
        let (config_map, deployment, pod) = (("", "v1", "ConfigMap"), ("apps", "v1", "Deployment"), ("", "v1", "Pod"));
        let into = "json: cannot unmarshal";
        let cases = [
            (
                config_map,
                json!({"data": 5}),
                format!("{into} number into Go struct field ConfigMap.data of type map[string]string"),
            ),
            (
                config_map,
                json!({"data": {"a": 5}}),
                format!("{into} number into Go struct field ConfigMap.data of type string"),
            ),
            (
                config_map,
                json!({"metadata": {"name": 5}}),
                format!("{into} number into Go struct field ObjectMeta.metadata.name of type string"),
            ),
            (
                deployment,
                json!({"spec": {"replicas": "a"}}),
                format!("{into} string into Go struct field DeploymentSpec.spec.replicas of type int32"),
            ),
            (
                deployment,
                json!({"spec": {"replicas": 1.5}}),
                format!("{into} number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32"),
            ),
            (
                deployment,
                json!({"spec": []}),
                format!("{into} array into Go struct field Deployment.spec of type v1.DeploymentSpec"),
            ),
            (
                deployment,
                json!({"spec": {"paused": "yes"}}),
                format!("{into} string into Go struct field DeploymentSpec.spec.paused of type bool"),
            ),
            (
                deployment,
                json!({"spec": {"template": {"spec": {"containers": {}}}}}),
                format!(
                    "{into} object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container"
                ),
            ),
            (
                pod,
                json!({"metadata": {"creationTimestamp": "abc"}}),
                "parsing time \"abc\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"abc\" as \"2006\"".to_owned(),
            ),
            (pod, json!({"spec": {"containers": [{"resources": {"limits": {"cpu": "1e3"}}}]}}), String::new()),
            (
                config_map,
                json!({"binaryData": {"a": 5}}),
                format!("{into} number into Go struct field ConfigMap.binaryData of type []uint8"),
            ),
            (
                ("coordination.k8s.io", "v1", "Lease"),
                json!({"spec": {"renewTime": "abc"}}),
                "parsing time \"abc\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"abc\" as \"2006\""
                    .to_owned(),
            ),
        ];
        for (kind, object, expected) in cases {
            assert_eq!(message_about(kind, object.clone()), expected, "{object}");
        }
        let wrong = json!({"spec": {"containers": [{"resources": {"limits": {"cpu": "abc"}}}]}});
        assert!(message_about(pod, wrong).starts_with("quantities must match"));
    }
}
