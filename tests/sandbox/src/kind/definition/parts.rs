//! Validates the deprecation, subresources, printer columns and selectable fields of a version.

use serde_json::Value;

use crate::{
    failure::Cause,
    object::{at, text},
};

/// The types of printer columns.
const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];

/// The formats of printer columns.
const COLUMN_FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// The maximum number of selectable fields of a version.
const MAX_SELECTABLE_FIELDS: usize = 8;

/// Validates the deprecation warning of a version. Returns the error; `None` if the warning is valid or missing.
pub(super) fn validate_deprecation(version: &Value, field_path: &str) -> Option<Cause> {
    let warning = version["deprecationWarning"].as_str()?;
    let why = match warning {
        _ if version["deprecated"] != true => "can only be set for deprecated versions",
        "" => "must not be an empty string",
        long if long.len() > 256 => "must be <= 256 characters long",
        _ => return None,
    };
    Some(Cause::invalid(field_path, &warning.into(), why))
}

/// Validates the paths of the `scale` subresource of a version. Returns the errors; none if they are valid or if the
/// version has no `scale`.
pub(super) fn validate_scale(version: &Value, field_path: &str) -> Vec<Cause> {
    let Some(scale) = at(version, &["subresources", "scale"]) else { return Vec::new() };
    let mut causes = Vec::new();
    for (key, prefixes, detail) in [
        ("specReplicasPath", &[".spec."][..], "should be a json path under .spec"),
        ("statusReplicasPath", &[".status."], "should be a json path under .status"),
        ("labelSelectorPath", &[".spec.", ".status."], "should be a json path under either .spec or .status"),
    ] {
        let (path, field_path) = (text(scale, &[key]), format!("{field_path}.scale.{key}"));
        if path.is_empty() {
            // The path of the label selector is optional.
            if key != "labelSelectorPath" {
                causes.push(Cause::required(field_path, ""));
            }
        } else if !path.starts_with('.') {
            causes.push(not_json_path(&field_path, path));
        } else if !prefixes.iter().any(|prefix| path.starts_with(prefix)) {
            causes.push(Cause::invalid(field_path, &path.into(), detail));
        }
    }
    causes
}

/// Returns the error about a text that is no simple JSON path.
fn not_json_path(field_path: &str, path: &str) -> Cause {
    Cause::invalid(field_path, &path.into(), "must be a simple json path starting with .")
}

/// Validates the printer columns of a version: name, type, format and JSON path of each. Returns the errors.
pub(super) fn validate_columns(version: &Value, field_path: &str) -> Vec<Cause> {
    let columns = version["additionalPrinterColumns"].as_array();
    let mut causes = Vec::new();
    for (index, column) in columns.into_iter().flatten().enumerate() {
        let field_path = |key: &str| format!("{field_path}[{index}].{key}");
        let (type_, format) = (text(column, &["type"]), text(column, &["format"]));
        let types = format!("must be one of {}", COLUMN_TYPES.join(","));
        if text(column, &["name"]).is_empty() {
            causes.push(Cause::required(field_path("name"), ""));
        }
        if type_.is_empty() {
            causes.push(Cause::required(field_path("type"), &types));
        } else if !COLUMN_TYPES.contains(&type_) {
            causes.push(Cause::invalid(field_path("type"), &type_.into(), &types));
        }
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
            let formats = format!("must be one of {}", COLUMN_FORMATS.join(","));
            causes.push(Cause::invalid(field_path("format"), &format.into(), &formats));
        }
        match text(column, &["jsonPath"]) {
            "" => causes.push(Cause::required(field_path("JSONPath"), "")),
            path if !path.starts_with('.') => causes.push(not_json_path(&field_path("JSONPath"), path)),
            _ => {}
        }
    }
    causes
}

/// Validates the selectable fields of a version: distinct paths to scalars outside of the metadata, at most
/// `MAX_SELECTABLE_FIELDS`. Returns the errors.
pub(super) fn validate_selectable_fields(version: &Value, field_path: &str) -> Vec<Cause> {
    let fields = version["selectableFields"].as_array().map(Vec::as_slice).unwrap_or_default();
    let schema = &version["schema"]["openAPIV3Schema"];
    let (mut causes, mut distinct_paths) = (Vec::new(), Vec::new());
    for (index, field) in fields.iter().enumerate() {
        let (path, field_path) = (text(field, &["jsonPath"]), format!("{field_path}[{index}].jsonPath"));
        if path.is_empty() {
            causes.push(Cause::required(field_path, ""));
            continue;
        }
        let field_schema = match opgen_schema::at_path(schema, path) {
            Ok(field_schema) => field_schema,
            Err(why) => {
                causes.push(Cause::invalid(field_path, &path.into(), &format!("is an invalid path: {why}")));
                continue;
            }
        };
        if path == ".metadata" || path.starts_with(".metadata.") {
            causes.push(Cause::invalid(field_path.clone(), &path.into(), "must not point to fields in metadata"));
        }
        if !matches!(text(field_schema, &["type"]), "string" | "boolean" | "integer") {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            causes.push(Cause::invalid(field_path.clone(), &path.into(), why));
        }
        if distinct_paths.contains(&path) {
            let message = format!("Duplicate value: {path:?}");
            causes.push(Cause { reason: "FieldValueDuplicate", message, field: field_path });
        } else {
            distinct_paths.push(path);
        }
    }
    if distinct_paths.len() > MAX_SELECTABLE_FIELDS {
        let message = format!("Too many: {}: must have at most {MAX_SELECTABLE_FIELDS} items", distinct_paths.len());
        causes.push(Cause { reason: "FieldValueTooMany", message, field: field_path.to_owned() });
    }
    causes
}
