//! Validates the JSON Schema keywords of each value.

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

/// What is wrong with a value that is at `base` in its object.
pub(super) fn check(keywords: &Keywords, new: &Value, old: OldValue<'_>, base: &str) -> Vec<Cause> {
    walk(keywords, new, old, ValuePath { base, path: "" }).causes
}

fn walk(keywords: &Keywords, value: &Value, old: OldValue<'_>, place: ValuePath<'_>) -> ValidationOutcome {
    if old.unchanged {
        return ValidationOutcome::default();
    }
    let mut outcome = ValidationOutcome::default();
    // `null` has a type and may be one of some values; no other keyword is about it.
    if value.is_null() {
        outcome.merge(type_of(keywords, value, place));
        outcome.merge(one_of_values(keywords, value, place));
        return outcome;
    }
    if !keywords.types.is_empty() || keywords.format.is_some() {
        outcome.merge(type_of(keywords, value, place));
        outcome.matches += 1;
    }
    outcome.merge(combined(keywords, value, old, place));
    outcome.matches += 1;
    match value {
        Value::String(text) => {
            outcome.merge(text_of(keywords, text, place));
            outcome.matches += 1;
            if let Some((name, Format::Text(takes))) = &keywords.format {
                outcome.matches += 1;
                if !takes(text) {
                    outcome.causes.push(place.wrong_type(text, name));
                }
            }
        }
        Value::Number(_) => {
            outcome.merge(number(keywords, value, place));
            outcome.matches += 1;
        }
        Value::Array(items) => {
            outcome.merge(list(keywords, items, old, place));
            outcome.matches += 1;
        }
        _ => {}
    }
    outcome.merge(one_of_values(keywords, value, place));
    outcome.matches += 1;
    if let Value::Object(map) = value {
        outcome.merge(object(keywords, map, old, place));
        outcome.matches += 1;
    }
    outcome.matches += 1;
    outcome
}

fn wrong(cause: Cause) -> ValidationOutcome {
    ValidationOutcome { matches: 0, causes: vec![cause] }
}

fn type_of(keywords: &Keywords, value: &Value, place: ValuePath<'_>) -> ValidationOutcome {
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
    let whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let fits = keywords.has_type(name)
        || name == "number" && whole && keywords.has_type("integer")
        || name == "integer" && keywords.has_type("number")
        // A format without a type is one of texts.
        || keywords.types.is_empty();
    if fits {
        ValidationOutcome { matches: 1, ..ValidationOutcome::default() }
    } else {
        wrong(place.wrong_type(name, &expected))
    }
}

fn one_of_values(keywords: &Keywords, value: &Value, place: ValuePath<'_>) -> ValidationOutcome {
    let same = |allowed: &Value| {
        allowed == value || allowed.as_f64().zip(value.as_f64()).is_some_and(|(allowed, value)| allowed == value)
    };
    if keywords.allowed.is_empty() || keywords.allowed.iter().any(same) {
        return ValidationOutcome::default();
    }
    wrong(place.unsupported(value, &keywords.allowed))
}

fn text_of(keywords: &Keywords, text: &str, place: ValuePath<'_>) -> ValidationOutcome {
    let length = text.chars().count() as u64;
    let value = || Value::String(text.to_owned());
    if let Some(most) = keywords.max_length.filter(|most| length > *most) {
        return wrong(place.too_long(most));
    }
    if let Some(least) = keywords.min_length.filter(|least| length < *least) {
        return wrong(place.invalid(&value(), &format!("should be at least {least} chars long")));
    }
    match &keywords.pattern {
        Some(pattern) if !pattern.matches(text) => {
            wrong(place.invalid(&value(), &format!("should match '{}'", pattern.written)))
        }
        _ => ValidationOutcome::default(),
    }
}

fn number(keywords: &Keywords, value: &Value, place: ValuePath<'_>) -> ValidationOutcome {
    let mut outcome = ValidationOutcome { matches: 1, ..ValidationOutcome::default() };
    let data = value.as_f64().unwrap_or_default();
    // The bounds of whole numbers are cut to whole numbers, too.
    let whole = value.is_i64() || value.is_u64();
    let cut = |bound: f64| if whole { bound.trunc() } else { bound };
    outcome.causes.extend(range(keywords, data).map(|said| place.composite(&format!("{said} in {}", place.path))));
    if let Some(factor) = keywords.multiple_of.map(cut) {
        let times = if factor < 1.0 { 1.0 / factor * data } else { data / factor };
        if factor <= 0.0 {
            let said = format!("Invalid value: 0: factor MultipleOf declared for {} must be positive: 0", place.path);
            outcome.causes.push(Cause { message: said, ..place.invalid(value, "") });
        } else if (times - times.round()).abs() > 1e-9 * times.abs().max(1.0) {
            outcome.causes.push(place.invalid(value, &format!("should be a multiple of {}", float(factor))));
        }
    }
    let beyond = |bound: &Bound, over: f64| over > 0.0 || bound.exclusive && over == 0.0;
    if let Some(least) = keywords.minimum.filter(|least| beyond(least, cut(least.value) - data)) {
        let than = if least.exclusive { "greater than" } else { "greater than or equal to" };
        outcome.causes.push(place.invalid(value, &format!("should be {than} {}", float(cut(least.value)))));
    }
    if let Some(most) = keywords.maximum.filter(|most| beyond(most, data - cut(most.value))) {
        let than = if most.exclusive { "less than" } else { "less than or equal to" };
        outcome.causes.push(place.invalid(value, &format!("should be {than} {}", float(cut(most.value)))));
    }
    outcome
}

/// Why a number is none of its type and format.
fn range(keywords: &Keywords, data: f64) -> Option<&'static str> {
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

fn list(keywords: &Keywords, items: &[Value], old: OldValue<'_>, place: ValuePath<'_>) -> ValidationOutcome {
    let mut outcome = ValidationOutcome { matches: 1, ..ValidationOutcome::default() };
    if let Some(schema) = &keywords.items {
        for (index, item) in items.iter().enumerate() {
            let path = format!("{}[{index}]", place.path);
            outcome.merge(walk(schema, item, old.item(keywords, item), ValuePath { path: &path, ..place }));
        }
    }
    let count = items.len() as u64;
    if let Some(least) = keywords.min_items.filter(|least| count < *least) {
        outcome.causes.push(place.invalid(&count.into(), &format!("should have at least {least} items")));
    }
    if let Some(most) = keywords.max_items.filter(|most| count > *most) {
        outcome.causes.push(place.too_many(items.len(), most));
    }
    let twice = |(index, item): (usize, &Value)| items.iter().take(index).any(|earlier| earlier == item);
    if keywords.unique_items && items.iter().enumerate().any(twice) {
        outcome.causes.push(place.invalid(&Value::String(String::new()), "shouldn't contain duplicates"));
    }
    outcome
}

fn object(keywords: &Keywords, map: &Map<String, Value>, old: OldValue<'_>, place: ValuePath<'_>) -> ValidationOutcome {
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
        // The root has no name; a value of a map has a dot before its name all the same.
        let dot = if place.path.is_empty() && keywords.properties.contains_key(name) { "" } else { "." };
        let path = format!("{}{dot}{name}", place.path);
        outcome.merge(walk(schema, value, old.field(name, value), ValuePath { path: &path, ..place }));
    }
    for name in keywords.required.iter().filter(|name| !map.contains_key(*name)) {
        let path = format!("{}.{name}", place.path);
        outcome.causes.push(ValuePath { path: &path, ..place }.required());
    }
    outcome
}

/// `anyOf`, `oneOf`, `allOf` and `not`.
fn combined(keywords: &Keywords, value: &Value, old: OldValue<'_>, place: ValuePath<'_>) -> ValidationOutcome {
    let mut outcome = ValidationOutcome { matches: 1, ..ValidationOutcome::default() };
    let tried = |schemas: &[Keywords]| -> Vec<ValidationOutcome> {
        schemas.iter().map(|schema| walk(schema, value, OldValue { unchanged: false, ..old }, place)).collect()
    };
    if !keywords.any_of.is_empty() {
        let mut tried = tried(&keywords.any_of);
        match tried.iter().position(ValidationOutcome::is_valid) {
            Some(index) => outcome.merge(tried.swap_remove(index)),
            None => {
                let said = format!("{:?} must validate at least one schema (anyOf)", place.path);
                outcome.causes.push(place.composite(&said));
                outcome.merge(best(tried));
            }
        }
    }
    if !keywords.one_of.is_empty() {
        let mut tried = tried(&keywords.one_of);
        let valid = tried.iter().filter(|outcome| outcome.is_valid()).count();
        let said = |found: &str| format!("{:?} must validate one and only one schema (oneOf). {found}", place.path);
        match (valid, tried.iter().position(ValidationOutcome::is_valid)) {
            (1, Some(index)) => outcome.merge(tried.swap_remove(index)),
            (0, _) => {
                outcome.causes.push(place.composite(&said("Found none valid")));
                outcome.merge(best(tried));
            }
            (valid, _) => outcome.causes.push(place.composite(&said(&format!("Found {valid} valid alternatives")))),
        }
    }
    if !keywords.all_of.is_empty() {
        let tried = tried(&keywords.all_of);
        let (valid, all) = (tried.iter().filter(|outcome| outcome.is_valid()).count(), tried.len());
        tried.into_iter().for_each(|tried| outcome.merge(tried));
        if valid < all {
            let none = if valid == 0 { ". None validated" } else { "" };
            outcome
                .causes
                .push(place.composite(&format!("{:?} must validate all the schemas (allOf){none}", place.path)));
        }
    }
    if let Some(not) = &keywords.not
        && walk(not, value, OldValue { unchanged: false, ..old }, place).is_valid()
    {
        outcome.causes.push(place.composite(&format!("{:?} must not validate the schema (not)", place.path)));
    }
    outcome
}

/// The failed alternative that fits most; the first of those.
fn best(tried: Vec<ValidationOutcome>) -> ValidationOutcome {
    tried.into_iter().reduce(|best, next| if next.matches > best.matches { next } else { best }).unwrap_or_default()
}

/// What is wrong with a value by itself, which is blamed at `place`.
pub(crate) fn part(keywords: &Keywords, value: &Value, place: &str) -> Vec<Cause> {
    check(keywords, value, OldValue::of(value, None), place)
}
