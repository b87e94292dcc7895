//! `ValidationOutcome`: the errors of a value, and the number of keywords that it matches, which selects the alternative of `anyOf` or
//! `oneOf` to report. `ValuePath` creates the errors.

use serde_json::Value;

use crate::cause::Cause;

/// The errors of a value. `matches` counts the matching keywords: a failed `anyOf` or `oneOf` reports the errors of the alternative with
/// the most matches.
#[derive(Default)]
pub(super) struct ValidationOutcome {
    pub(super) matches: usize,
    pub(super) causes: Vec<Cause>,
}

impl ValidationOutcome {
    /// Adds the errors and the matches of another outcome.
    pub(super) fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        self.causes.extend(other.causes);
    }

    pub(super) fn is_valid(&self) -> bool {
        self.causes.is_empty()
    }
}

/// The path of a value: `path` below the validated value, which is at `base` in the object.
#[derive(Clone, Copy)]
pub(super) struct ValuePath<'a> {
    pub(super) base: &'a str,
    pub(super) path: &'a str,
}

impl ValuePath<'_> {
    /// Returns the path of the value from the root of the object, for the field of an error; `<nil>` for the whole object.
    fn field(self) -> String {
        let path = self.path.trim_start_matches('.');
        match (self.base.is_empty(), path.is_empty()) {
            (true, true) => "<nil>".to_owned(),
            (true, false) => path.to_owned(),
            (false, true) => self.base.to_owned(),
            (false, false) => format!("{}.{path}", self.base),
        }
    }

    fn cause(self, reason: &'static str, message: String) -> Cause {
        Cause { reason, message, field: self.field() }
    }

    /// Returns the error `Invalid value: 0: spec.size in body should be ...`
    pub(super) fn invalid(self, value: &Value, should: &str) -> Cause {
        self.cause(
            "FieldValueInvalid",
            format!("Invalid value: {}: {} in body {should}", format_value(value), self.path),
        )
    }

    pub(super) fn wrong_type(self, value: &str, expected: &str) -> Cause {
        let message = format!("Invalid value: {value:?}: {} in body must be of type {expected}: {value:?}", self.path);
        self.cause("FieldValueTypeInvalid", message)
    }

    pub(super) fn required(self) -> Cause {
        self.cause("FieldValueRequired", "Required value".to_owned())
    }

    /// Returns the error `Unsupported value: "x": supported values: "a", "b"`
    pub(super) fn unsupported(self, value: &Value, allowed: &[Value]) -> Cause {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let allowed: Vec<_> = allowed.iter().map(|value| format!("{:?}", text(value))).collect();
        let message = format!("Unsupported value: {}: supported values: {}", format_value(value), allowed.join(", "));
        self.cause("FieldValueNotSupported", message)
    }

    pub(super) fn too_long(self, max: u64) -> Cause {
        let unit = if max == 1 { "byte" } else { "bytes" };
        self.cause("FieldValueTooLong", format!("Too long: may not be more than {max} {unit}"))
    }

    pub(super) fn too_many(self, count: usize, max: u64) -> Cause {
        let unit = if max == 1 { "item" } else { "items" };
        self.cause("FieldValueTooMany", format!("Too many: {count}: must have at most {max} {unit}"))
    }

    /// Returns an error of `anyOf`, `oneOf`, `allOf` or a number range. It names the base as its field, and the path in its
    /// message.
    pub(super) fn composite(self, message: &str) -> Cause {
        let field = if self.base.is_empty() { "<nil>" } else { self.base };
        let message = format!("Invalid value: \"\": {message}");
        Cause { reason: "FieldValueInvalid", message, field: field.to_owned() }
    }
}

/// Formats a value as kube-apiserver does in errors.
pub fn format_value(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().filter(|_| number.is_f64()).map_or_else(|| number.to_string(), float),
        other => other.to_string(),
    }
}

/// Formats a number as Go's `%v` does: without a fraction if there is none, with an exponent if it is very large or small.
pub(crate) fn float(number: f64) -> String {
    let exponent = if number == 0.0 { 0.0 } else { number.abs().log10().floor() };
    if (-4.0..21.0).contains(&exponent) {
        return number.to_string();
    }
    let written = format!("{number:e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}
