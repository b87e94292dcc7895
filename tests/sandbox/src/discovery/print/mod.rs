//! Prints objects as a `meta.k8s.io/v1 Table`, as `kubectl get` shows them.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{failure::Failure, object, request::ResourceRequest, strategy::daemon_set};

mod cells;
mod columns;
mod custom;
mod duration;
mod path;

/// Returns the table of some objects; `metadata` is the list's.
pub(crate) fn table(request: ResourceRequest<'_>, objects: &[Value], metadata: &Value) -> Result<Value, Failure> {
    let printer = Printer::of(request)?;
    Ok(printer.table(objects, metadata, true, request.server.environment.now()))
}

/// Prints the objects of a kind as rows. A watch sends the column definitions only once.
#[derive(Debug)]
pub(crate) struct Printer {
    columns: Columns,
    definitions: Value,
    shown: IncludeObject,
    of_daemon_sets: bool,
}

#[derive(Debug)]
enum Columns {
    Table(cells::Cells),
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
    pub(crate) fn of(request: ResourceRequest<'_>) -> Result<Self, Failure> {
        let shown = match request.call.options.raw("includeObject").unwrap_or_default() {
            "" | "Metadata" => IncludeObject::Metadata,
            "Object" => IncludeObject::Object,
            "None" => IncludeObject::Nothing,
            other => {
                let why = "must be 'Metadata', 'Object', 'None', or empty";
                let what = format!("includeObject: Invalid value: {other:?}: {why}");
                return Err(Failure::bad_request(format!("Unable to convert to Table as requested: {what}")));
            }
        };
        let kind = request.kind;
        let (columns, definitions) = match kind.custom() {
            Some(custom) => {
                let columns = custom::columns(&custom.columns);
                let definitions = custom::definitions(&columns);
                (Columns::Custom(columns), definitions)
            }
            None => (
                Columns::Table(cells::of(&kind.group, &kind.plural)),
                columns::of(&kind.group, &kind.version, &kind.plural),
            ),
        };
        Ok(Self { columns, definitions, shown, of_daemon_sets: kind.is("apps", "daemonsets") })
    }

    /// Returns the table of some objects, with or without the column definitions.
    pub(crate) fn table(&self, objects: &[Value], metadata: &Value, with_columns: bool, now: Timestamp) -> Value {
        let definitions = if with_columns { self.definitions.clone() } else { Value::Null };
        let rows: Vec<Value> = objects.iter().map(|object| self.row(object, now)).collect();
        json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": definitions, "rows": rows})
    }

    fn row(&self, object: &Value, now: Timestamp) -> Value {
        let cells = match &self.columns {
            Columns::Table(cells) => cells(object, now),
            Columns::Custom(columns) => custom::cells(columns, object, now),
        };
        let shown = match self.shown {
            IncludeObject::Nothing => Value::Null,
            IncludeObject::Object => object.clone(),
            IncludeObject::Metadata => {
                let mut metadata = object::at(object, &["metadata"]).cloned().unwrap_or_default();
                if self.of_daemon_sets {
                    daemon_set::remove_template_generation(&mut metadata);
                }
                json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
            }
        };
        let mut row = json!({"cells": cells, "object": shown});
        if let Some(conditions) = cells::conditions(object) {
            row["conditions"] = conditions;
        }
        row
    }
}
