//! Prints objects as a `meta.k8s.io/v1 Table`, as `kubectl get` shows them.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{failure::Failure, object, request::ResourceRequest, strategy::daemon_set};

mod cells;
mod columns;
mod custom;
mod duration;
mod path;

/// Returns the table of the objects, as the options of the request require; `metadata` is the metadata of the list.
///
/// # Errors
/// `BadRequest` if `includeObject` has an unknown value.
pub(crate) fn table(request: ResourceRequest<'_>, objects: &[Value], metadata: &Value) -> Result<Value, Failure> {
    let printer = Printer::of(request)?;
    Ok(printer.table(objects, metadata, true, request.server.environment.now()))
}

/// Prints the objects of a kind as rows. A watch sends the column definitions only once.
#[derive(Debug)]
pub(crate) struct Printer {
    columns: Columns,
    definitions: Value,
    /// The part of each object that its row contains.
    include_object: IncludeObject,
    /// Whether the objects are DaemonSets, whose generation annotation is left out of the metadata.
    is_daemon_set: bool,
}

/// How the cells of a row are printed.
#[derive(Debug)]
enum Columns {
    /// Built-in kinds: a function that prints the cells.
    Table(cells::Cells),
    /// Custom kinds: the columns of the CRD.
    Custom(Vec<custom::Column>),
}

/// The part of the object that a row includes (`includeObject`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IncludeObject {
    Nothing,
    Metadata,
    Object,
}

impl Printer {
    /// Returns the printer for the kind and the options of a request.
    ///
    /// # Errors
    /// `BadRequest` if `includeObject` has an unknown value.
    pub(crate) fn of(request: ResourceRequest<'_>) -> Result<Self, Failure> {
        let include_object = match request.call.options.raw("includeObject").unwrap_or_default() {
            "" | "Metadata" => IncludeObject::Metadata,
            "Object" => IncludeObject::Object,
            "None" => IncludeObject::Nothing,
            other => {
                let why = "must be 'Metadata', 'Object', 'None', or empty";
                let field_error = format!("includeObject: Invalid value: {other:?}: {why}");
                return Err(Failure::bad_request(format!("Unable to convert to Table as requested: {field_error}")));
            }
        };
        let kind = request.kind;
        let (columns, definitions) = match kind.custom() {
            Some(custom) => {
                let columns = custom::parse_columns(&custom.columns);
                let definitions = custom::definitions(&columns);
                (Columns::Custom(columns), definitions)
            }
            None => (
                Columns::Table(cells::printer_for(&kind.group, &kind.plural)),
                columns::builtin(&kind.group, &kind.version, &kind.plural),
            ),
        };
        Ok(Self { columns, definitions, include_object, is_daemon_set: kind.is("apps", "daemonsets") })
    }

    /// Returns the table of the objects, with or without the column definitions.
    pub(crate) fn table(&self, objects: &[Value], metadata: &Value, with_columns: bool, now: Timestamp) -> Value {
        let definitions = if with_columns { self.definitions.clone() } else { Value::Null };
        let rows: Vec<Value> = objects.iter().map(|object| self.row(object, now)).collect();
        json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": definitions, "rows": rows})
    }

    /// Returns the `TableRow` of an object: its cells, the requested part of the object, and its conditions.
    fn row(&self, object: &Value, now: Timestamp) -> Value {
        let cells = match &self.columns {
            Columns::Table(cells) => cells(object, now),
            Columns::Custom(columns) => custom::row_cells(columns, object, now),
        };
        let include_object = match self.include_object {
            IncludeObject::Nothing => Value::Null,
            IncludeObject::Object => object.clone(),
            IncludeObject::Metadata => {
                let mut metadata = object::at(object, &["metadata"]).cloned().unwrap_or_default();
                if self.is_daemon_set {
                    daemon_set::remove_template_generation(&mut metadata);
                }
                json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
            }
        };
        let mut row = json!({"cells": cells, "object": include_object});
        if let Some(conditions) = cells::conditions(object) {
            row["conditions"] = conditions;
        }
        row
    }
}
