//! `Cause`: an error about one field, with the reason and the message of kube-apiserver.

use serde_json::Value;

/// An error about one field, as `details.causes` of a `Status` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The reason: `FieldValueRequired`, `FieldValueInvalid`, ...
    pub reason: &'static str,
    /// The message, without the field.
    pub message: String,
    /// The JSON path of the field, `spec.replicas`; `<nil>` for the whole object.
    pub field: String,
}

impl Cause {
    /// Returns the error of a field without a required value. An empty `detail` is left out of the message.
    pub fn required(field: impl Into<String>, detail: &str) -> Self {
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        Self { reason: "FieldValueRequired", message: format!("Required value{detail}"), field: field.into() }
    }

    /// Returns the error of a field whose value is not valid.
    pub fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self { reason: "FieldValueInvalid", message: format!("Invalid value: {value}: {detail}"), field: field.into() }
    }

    /// Returns the error of a field that must not have a value.
    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self { reason: "FieldValueForbidden", message: format!("Forbidden: {detail}"), field: field.into() }
    }

    /// Returns the error of a field whose value is none of `supported`.
    pub fn unsupported(field: impl Into<String>, value: &Value, supported: &[&str]) -> Self {
        let supported = supported.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
        let message = format!("Unsupported value: {value}: supported values: {supported}");
        Self { reason: "FieldValueNotSupported", message, field: field.into() }
    }
}
