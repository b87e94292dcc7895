//! Checks `#[kube(printcolumn(...))]`: the name, type and JSON path of each column.

use super::{json_path, subresource};
use crate::{
    diag::Diags,
    model::{
        kube::{Kube, PrintColumn},
        managed::Managed,
    },
};

const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// Checks all columns of a kind.
pub(super) fn check(model: &Managed, kube: &Kube, diags: &mut Diags) {
    for (at, column) in kube.printcolumns.iter().enumerate() {
        check_name(column, &kube.printcolumns[..at], diags);
        check_settings(column, diags);
        check_path(model, column, diags);
    }
}

/// Reports a column without a name, or with the name of an earlier one.
fn check_name(column: &PrintColumn, earlier: &[PrintColumn], diags: &mut Diags) {
    let Some(name) = &column.name else { return };
    if name.value().trim().is_empty() {
        return diags.error(name, "a column needs a name", "write the heading, for example `Replicas`");
    }
    let first = earlier.iter().filter_map(|column| column.name.as_ref()).find(|first| first.value() == name.value());
    if let Some(first) = first {
        let problem = format!("column `\"{}\"` is a duplicate", name.value());
        diags.conflict(name, problem, "keep one, or rename it", first, "first set here");
    }
}

/// Reports an unknown type or format, and a negative priority of a column.
fn check_settings(column: &PrintColumn, diags: &mut Diags) {
    if let Some(type_) = column.type_.as_ref().filter(|type_| !TYPES.contains(&type_.value().as_str())) {
        let problem = format!("`\"{}\"` is not a column type", type_.value());
        diags.error(type_, problem, format!("use one of `{}`", TYPES.join("`, `")));
    }
    if let Some(format) = column.format.as_ref().filter(|format| !FORMATS.contains(&format.value().as_str())) {
        let problem = format!("`\"{}\"` is not a column format", format.value());
        diags.error(format, problem, format!("use one of `{}`, or remove it", FORMATS.join("`, `")));
    }
    if let Some(key) =
        column.priority_key.as_ref().filter(|_| column.priority.as_deref().is_some_and(|n| n.starts_with('-')))
    {
        diags.error(key, "a column priority can't be negative", "use 0 to show it always, 1 for wide output only");
    }
}

/// Checks the JSON path of a column: its syntax, and that it names a field of the object.
fn check_path(model: &Managed, column: &PrintColumn, diags: &mut Diags) {
    let Some(path) = &column.json_path else { return };
    match json_path::parse_column(&path.value()) {
        Ok(leading) => subresource::check_field_exists(model, path, &leading, diags),
        Err(why) => {
            let problem = format!("`\"{}\"` is not a JSON path: {why}", path.value());
            diags.error(path, problem, "write a path from the object, for example `.spec.replicas`");
        }
    }
}
