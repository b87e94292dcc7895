//! Validates each value against the JSON Schema keywords of its schema.

use serde_json::{Map, Value};

use super::{
    OldValue,
    outcome::{ValidationOutcome, ValuePath, float},
};
use crate::{
    cause::Cause,
    format::Format,
    keywords::{Bound, Keywords},
};

/// Returns the errors of a value that is at `base` in its object.
pub(super) fn check(keywords: &Keywords, new: &Value, old: OldValue<'_>, base: &str) -> Vec<Cause> {
    validate_value(keywords, new, old, ValuePath { base, path: "" }).causes
}

/// Validates a value and everything below it. An unchanged value has no errors, so an update may keep a value that was valid by an earlier
/// schema. `matches` counts the keywords as kube-openapi's validator does, since messages of `anyOf` and `oneOf` depend on it.
fn validate_value(keywords: &Keywords, value: &Value, old: OldValue<'_>, place: ValuePath<'_>) -> ValidationOutcome {
    if old.unchanged {
        return ValidationOutcome::default();
    }
    let mut outcome = ValidationOutcome::default();
    // Only `type`, `nullable` and `enum` apply to null.
    if value.is_null() {
        outcome.merge(validate_type(keywords, value, place));
        outcome.merge(validate_enum(keywords, value, place));
        return outcome;
    }
    if !keywords.types.is_empty() || keywords.format.is_some() {
        outcome.merge(validate_type(keywords, value, place));
        outcome.matches += 1;
    }
    outcome.merge(validate_branches(keywords, value, old, place));
    outcome.matches += 1;
    match value {
        Value::String(text) => {
            outcome.merge(validate_string(keywords, text, place));
            outcome.matches += 1;
            if let Some((name, Format::Text(has_format))) = &keywords.format {
                outcome.matches += 1;
                if !has_format(text) {
                    outcome.causes.push(place.wrong_type(text, name));
                }
            }
        }
        Value::Number(_) => {
            outcome.merge(validate_number(keywords, value, place));
            outcome.matches += 1;
        }
        Value::Array(items) => {
            outcome.merge(validate_list(keywords, items, old, place));
            outcome.matches += 1;
        }
        _ => {}
    }
    outcome.merge(validate_enum(keywords, value, place));
    outcome.matches += 1;
    if let Value::Object(map) = value {
        outcome.merge(validate_object(keywords, map, old, place));
        outcome.matches += 1;
    }
    outcome.matches += 1;
    outcome
}

/// Returns the outcome of a keyword that doesn't match.
fn mismatch(cause: Cause) -> ValidationOutcome {
    ValidationOutcome { matches: 0, causes: vec![cause] }
}

/// Validates `type` and `nullable`.
fn validate_type(keywords: &Keywords, value: &Value, place: ValuePath<'_>) -> ValidationOutcome {
    let expected = keywords.types.join(",");
    let name = match value {
        Value::Null if keywords.types.is_empty() || keywords.nullable => {
            return ValidationOutcome { matches: 1, ..ValidationOutcome::default() };
        }
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    // A float without a fraction is an integer, and every integer is a number.
    let is_whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let fits = keywords.has_type(name)
        || name == "number" && is_whole && keywords.has_type("integer")
        || name == "integer" && keywords.has_type("number")
        // Without a type, all types fit.
        || keywords.types.is_empty();
    if fits {
        ValidationOutcome { matches: 1, ..ValidationOutcome::default() }
    } else {
        mismatch(place.wrong_type(name, &expected))
    }
}

/// Validates `enum`. Numbers are equal by value: `1` and `1.0`.
fn validate_enum(keywords: &Keywords, value: &Value, place: ValuePath<'_>) -> ValidationOutcome {
    let same = |allowed: &Value| {
        allowed == value || allowed.as_f64().zip(value.as_f64()).is_some_and(|(allowed, value)| allowed == value)
    };
    if keywords.allowed.is_empty() || keywords.allowed.iter().any(same) {
        return ValidationOutcome::default();
    }
    mismatch(place.unsupported(value, &keywords.allowed))
}

/// Validates `maxLength`, `minLength` and `pattern`, in this order, and stops at the first keyword that doesn't match.
fn validate_string(keywords: &Keywords, text: &str, place: ValuePath<'_>) -> ValidationOutcome {
    let length = text.chars().count() as u64;
    let value = || Value::String(text.to_owned());
    if let Some(most) = keywords.max_length.filter(|most| length > *most) {
        return mismatch(place.too_long(most));
    }
    if let Some(least) = keywords.min_length.filter(|least| length < *least) {
        return mismatch(place.invalid(&value(), &format!("should be at least {least} chars long")));
    }
    match &keywords.pattern {
        Some(pattern) if !pattern.matches(text) => {
            mismatch(place.invalid(&value(), &format!("should match '{}'", pattern.text)))
        }
        _ => ValidationOutcome::default(),
    }
}

/// The relative difference from a whole number that `multipleOf` admits, for the rounding errors of floats.
const TOLERANCE: f64 = 1e-9;

/// Validates `multipleOf`, `minimum` and `maximum`, and the range of the format.
fn validate_number(keywords: &Keywords, value: &Value, place: ValuePath<'_>) -> ValidationOutcome {
    let mut outcome = ValidationOutcome { matches: 1, ..ValidationOutcome::default() };
    let data = value.as_f64().unwrap_or_default();
    // For an integer value, the numbers in the schema are truncated to integers.
    let is_integer = value.is_i64() || value.is_u64();
    let cut = |bound: f64| if is_integer { bound.trunc() } else { bound };
    outcome.causes.extend(
        type_range_error(keywords, data).map(|message| place.composite(&format!("{message} in {}", place.path))),
    );
    if let Some(factor) = keywords.multiple_of.map(cut) {
        let times = if factor < 1.0 { 1.0 / factor * data } else { data / factor };
        if factor <= 0.0 {
            let message =
                format!("Invalid value: 0: factor MultipleOf declared for {} must be positive: 0", place.path);
            outcome.causes.push(Cause { message, ..place.invalid(value, "") });
        } else if (times - times.round()).abs() > TOLERANCE * times.abs().max(1.0) {
            outcome.causes.push(place.invalid(value, &format!("should be a multiple of {}", float(factor))));
        }
    }
    // `excess` is the distance by which the value is beyond the bound.
    let violates = |bound: &Bound, excess: f64| excess > 0.0 || bound.exclusive && excess == 0.0;
    if let Some(least) = keywords.minimum.filter(|least| violates(least, cut(least.value) - data)) {
        let than = if least.exclusive { "greater than" } else { "greater than or equal to" };
        outcome.causes.push(place.invalid(value, &format!("should be {than} {}", float(cut(least.value)))));
    }
    if let Some(most) = keywords.maximum.filter(|most| violates(most, data - cut(most.value))) {
        let than = if most.exclusive { "less than" } else { "less than or equal to" };
        outcome.causes.push(place.invalid(value, &format!("should be {than} {}", float(cut(most.value)))));
    }
    outcome
}

/// Returns the error of a number whose schema has the type `integer`: the number has a fraction, or is out of the range of the format
/// `int32`. `None` if it is valid, and for other types.
fn type_range_error(keywords: &Keywords, data: f64) -> Option<&'static str> {
    if keywords.types != ["integer"] {
        return None;
    }
    match keywords.format.as_ref().map(|(name, format)| (name.as_str(), format)) {
        Some((_, Format::Int32)) if data.fract() != 0.0 || data < f64::from(i32::MIN) || data > f64::from(i32::MAX) => {
            Some("Checked value must be of type integer with format int32")
        }
        Some(("int64", _)) if data.fract() != 0.0 => Some("Checked value must be of type integer with format int64"),
        None if data.fract() != 0.0 => Some("Checked value must be of type integer (default format)"),
        _ => None,
    }
}

/// Validates the items of a list, `minItems`, `maxItems` and `uniqueItems`.
fn validate_list(keywords: &Keywords, items: &[Value], old: OldValue<'_>, place: ValuePath<'_>) -> ValidationOutcome {
    let mut outcome = ValidationOutcome { matches: 1, ..ValidationOutcome::default() };
    if let Some(schema) = &keywords.items {
        for (index, item) in items.iter().enumerate() {
            let path = format!("{}[{index}]", place.path);
            outcome.merge(validate_value(schema, item, old.item(keywords, item), ValuePath { path: &path, ..place }));
        }
    }
    let count = items.len() as u64;
    if let Some(least) = keywords.min_items.filter(|least| count < *least) {
        outcome.causes.push(place.invalid(&count.into(), &format!("should have at least {least} items")));
    }
    if let Some(most) = keywords.max_items.filter(|most| count > *most) {
        outcome.causes.push(place.too_many(items.len(), most));
    }
    let is_duplicate = |(index, item): (usize, &Value)| items.iter().take(index).any(|earlier| earlier == item);
    if keywords.unique_items && items.iter().enumerate().any(is_duplicate) {
        outcome.causes.push(place.invalid(&Value::String(String::new()), "shouldn't contain duplicates"));
    }
    outcome
}

/// Validates the fields of an object, `minProperties`, `maxProperties` and `required`.
fn validate_object(
    keywords: &Keywords,
    map: &Map<String, Value>,
    old: OldValue<'_>,
    place: ValuePath<'_>,
) -> ValidationOutcome {
    let mut outcome = ValidationOutcome::default();
    let count = map.len() as u64;
    if let Some(least) = keywords.min_properties.filter(|least| count < *least) {
        outcome.causes.push(place.invalid(&count.into(), &format!("should have at least {least} properties")));
    }
    if let Some(most) = keywords.max_properties.filter(|most| count > *most) {
        outcome.causes.push(place.too_many(map.len(), most));
    }
    for (name, value) in map {
        let Some(schema) = keywords.field(name) else { continue };
        // A field of the root has no dot before its name, but a value of a map at the root has one. Errors show neither.
        let dot = if place.path.is_empty() && keywords.properties.contains_key(name) { "" } else { "." };
        let path = format!("{}{dot}{name}", place.path);
        outcome.merge(validate_value(schema, value, old.field(name, value), ValuePath { path: &path, ..place }));
    }
    for name in keywords.required.iter().filter(|name| !map.contains_key(*name)) {
        let path = format!("{}.{name}", place.path);
        outcome.causes.push(ValuePath { path: &path, ..place }.required());
    }
    outcome
}

/// Validates `anyOf`, `oneOf`, `allOf` and `not`. If no alternative of `anyOf` or `oneOf` is valid, reports the errors of the alternative
/// that matches best.
fn validate_branches(keywords: &Keywords, value: &Value, old: OldValue<'_>, place: ValuePath<'_>) -> ValidationOutcome {
    let mut outcome = ValidationOutcome { matches: 1, ..ValidationOutcome::default() };
    let validate_all = |schemas: &[Keywords]| -> Vec<ValidationOutcome> {
        schemas.iter().map(|schema| validate_value(schema, value, old, place)).collect()
    };
    if !keywords.any_of.is_empty() {
        let mut outcomes = validate_all(&keywords.any_of);
        match outcomes.iter().position(ValidationOutcome::is_valid) {
            Some(index) => outcome.merge(outcomes.swap_remove(index)),
            None => {
                let message = format!("{:?} must validate at least one schema (anyOf)", place.path);
                outcome.causes.push(place.composite(&message));
                outcome.merge(best_alternative(outcomes));
            }
        }
    }
    if !keywords.one_of.is_empty() {
        let mut outcomes = validate_all(&keywords.one_of);
        let valid = outcomes.iter().filter(|outcome| outcome.is_valid()).count();
        let message = |found: &str| format!("{:?} must validate one and only one schema (oneOf). {found}", place.path);
        match (valid, outcomes.iter().position(ValidationOutcome::is_valid)) {
            (1, Some(index)) => outcome.merge(outcomes.swap_remove(index)),
            (0, _) => {
                outcome.causes.push(place.composite(&message("Found none valid")));
                outcome.merge(best_alternative(outcomes));
            }
            (valid, _) => outcome.causes.push(place.composite(&message(&format!("Found {valid} valid alternatives")))),
        }
    }
    if !keywords.all_of.is_empty() {
        let outcomes = validate_all(&keywords.all_of);
        let (valid, all) = (outcomes.iter().filter(|outcome| outcome.is_valid()).count(), outcomes.len());
        outcomes.into_iter().for_each(|branch| outcome.merge(branch));
        if valid < all {
            let none = if valid == 0 { ". None validated" } else { "" };
            outcome
                .causes
                .push(place.composite(&format!("{:?} must validate all the schemas (allOf){none}", place.path)));
        }
    }
    if let Some(not) = &keywords.not
        && validate_value(not, value, old, place).is_valid()
    {
        outcome.causes.push(place.composite(&format!("{:?} must not validate the schema (not)", place.path)));
    }
    outcome
}

/// Returns the outcome with the most matching keywords; the first one of several.
fn best_alternative(outcomes: Vec<ValidationOutcome>) -> ValidationOutcome {
    outcomes.into_iter().reduce(|best, next| if next.matches > best.matches { next } else { best }).unwrap_or_default()
}

/// Returns the errors of a value that has no old value and is at `path` in its object.
pub(crate) fn validate_part(keywords: &Keywords, value: &Value, path: &str) -> Vec<Cause> {
    check(keywords, value, OldValue::of(value, None), path)
}
