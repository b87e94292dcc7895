//! Finds content that a type keeps and the API server drops, since the schema doesn't name it.

use serde_json::{Map, Value, json};

use super::{Trial, ValuePlace};
use crate::manifest::crd;

/// A field that no type has.
const UNKNOWN: &str = "opgen-unknown-field";

const FIX: &str = "add `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]` to the field, or take a type with fields or a map";

impl Trial<'_> {
    /// Refuses an object of which the API server drops something that the type keeps. An object without fields in the
    /// schema is refused unless its type is known to have none either.
    pub(super) fn pruned(&mut self, place: &ValuePlace<'_>, base: &Map<String, Value>) {
        let open = crd::flag(place.schema, "x-kubernetes-preserve-unknown-fields");
        if open || place.schema["additionalProperties"].is_object() || place.schema["maxProperties"] == 0 {
            return;
        }
        let outcomes = self.outcomes(place, base);
        let fieldless = place.schema["properties"].as_object().is_none_or(Map::is_empty);
        if outcomes.contains(&Outcome::Kept) {
            let problem = "the type keeps fields that the schema doesn't name, and the API server drops them";
            self.found.error(place.path, problem, FIX);
        } else if fieldless && (outcomes.iter().any(|outcome| *outcome != Outcome::Dropped) || self.has_fields(place)) {
            let problem =
                "the object has no fields in the schema, so the API server drops everything that is stored in it";
            self.found.error(place.path, problem, FIX);
        }
    }

    /// What becomes of an unknown field with each kind of content.
    fn outcomes(&self, place: &ValuePlace<'_>, base: &Map<String, Value>) -> Vec<Outcome> {
        let asked = self.round_trip.filter(|_| self.refusal(&(place.embed)(base.clone().into())).is_none());
        let Some(round_trip) = asked else { return vec![Outcome::Uncertain] };
        let outcome = |content: Value| {
            let mut object = base.clone();
            object.insert(UNKNOWN.into(), content);
            match round_trip.of(&(place.embed)(object.into())) {
                Ok(encoded) if is_in(&encoded) => Outcome::Kept,
                Ok(_) => Outcome::Dropped,
                // A type that refuses every other field keeps none.
                Err(error) if error.to_string().starts_with("unknown field") => Outcome::Dropped,
                Err(_) => Outcome::Uncertain,
            }
        };
        let contents = [json!("x"), json!(1), json!(true), json!([]), json!(["x"]), json!({}), Value::Null];
        contents.into_iter().map(outcome).collect()
    }

    /// Whether the type is a struct with fields. Serde decodes a struct from a list of its fields, too: a struct without
    /// fields refuses the first item as one too many.
    fn has_fields(&self, place: &ValuePlace<'_>) -> bool {
        match self.refusal(&(place.embed)(json!([true]))).map(|error| error.to_string()) {
            None => true,
            Some(error) => {
                // In a variant of an enum a list is refused as a whole.
                let decodes_no_list = error.starts_with("invalid type: sequence");
                error.starts_with("invalid type: boolean") || error.contains("expected struct ") && !decodes_no_list
            }
        }
    }
}

/// What a type does with a field that the schema doesn't name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Kept,
    Dropped,
    /// It can't be decoded, or there is no type to ask.
    Uncertain,
}

/// Whether the unknown field is anywhere in a value.
fn is_in(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(UNKNOWN) || fields.values().any(is_in),
        Value::Array(items) => items.iter().any(is_in),
        _ => false,
    }
}
