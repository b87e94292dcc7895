//! Reports objects whose Rust type keeps fields that the API server prunes because the schema doesn't name these fields.

use opgen_schema::keyword::PRESERVE_UNKNOWN_FIELDS;
use serde_json::{Map, Value, json};

use super::{CheckedValue, DecodeCheck};
use crate::manifest::crd;

/// The name of a test field that no type declares.
const UNKNOWN: &str = "opgen-unknown-field";

const FIX: &str = "add `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]` to the field, or use a map or a type with fields";

impl DecodeCheck<'_> {
    /// Reports an object whose Rust type keeps a field that the schema doesn't name, since the API server prunes the field. Also reports an
    /// object without fields in the schema, unless its type is known to be a struct without fields.
    pub(super) fn check_pruning(&mut self, target: &CheckedValue<'_>, base: &Map<String, Value>) {
        let keeps_unknown_fields = crd::flag(target.schema, PRESERVE_UNKNOWN_FIELDS);
        // The API server prunes nothing from such an object or a map, and an object that must be empty has nothing to prune.
        if keeps_unknown_fields
            || target.schema["additionalProperties"].is_object()
            || target.schema["maxProperties"] == 0
        {
            return;
        }
        let outcomes = self.outcomes(target, base);
        let fieldless = target.schema["properties"].as_object().is_none_or(Map::is_empty);
        if outcomes.contains(&Outcome::Kept) {
            let problem = "the type accepts fields that are not in the schema, and the API server drops them";
            self.findings.error(target.path, problem, FIX);
        } else if fieldless && (outcomes.iter().any(|outcome| *outcome != Outcome::Dropped) || self.has_fields(target))
        {
            let problem = "the object has no fields in the schema, so the API server drops all its content";
            self.findings.error(target.path, problem, FIX);
        }
    }

    /// Adds an unknown field to the object `base`, once with each of several contents, decodes and encodes the object, and returns for each
    /// content whether the type keeps or drops the field.
    fn outcomes(&self, target: &CheckedValue<'_>, base: &Map<String, Value>) -> Vec<Outcome> {
        let decodable = self.round_trip.filter(|_| self.decode_error(&(target.wrap)(base.clone().into())).is_none());
        let Some(round_trip) = decodable else { return vec![Outcome::Uncertain] };
        let outcome = |content: Value| {
            let mut object = base.clone();
            object.insert(UNKNOWN.into(), content);
            match round_trip.of(&(target.wrap)(object.into())) {
                Ok(encoded) if contains_unknown_field(&encoded) => Outcome::Kept,
                Ok(_) => Outcome::Dropped,
                // A type that rejects unknown fields (`deny_unknown_fields`) keeps none.
                Err(error) if error.to_string().starts_with("unknown field") => Outcome::Dropped,
                Err(_) => Outcome::Uncertain,
            }
        };
        let contents = [json!("x"), json!(1), json!(true), json!([]), json!(["x"]), json!({}), Value::Null];
        contents.into_iter().map(outcome).collect()
    }

    /// Returns whether the type of `target` is a struct with fields, by the result of decoding the list `[true]`: serde decodes a struct
    /// from a list of its fields, and a struct without fields rejects the first item.
    fn has_fields(&self, target: &CheckedValue<'_>) -> bool {
        match self.decode_error(&(target.wrap)(json!([true]))).map(|error| error.to_string()) {
            None => true,
            Some(error) => {
                // A variant of an enum rejects a list as a whole.
                let decodes_no_list = error.starts_with("invalid type: sequence");
                error.starts_with("invalid type: boolean") || error.contains("expected struct ") && !decodes_no_list
            }
        }
    }
}

/// The result for a field that the schema doesn't name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Kept,
    Dropped,
    /// The type can't decode it, or no decoder is known.
    Uncertain,
}

/// Returns whether a value contains the unknown field at any depth.
fn contains_unknown_field(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(UNKNOWN) || fields.values().any(contains_unknown_field),
        Value::Array(items) => items.iter().any(contains_unknown_field),
        _ => false,
    }
}
