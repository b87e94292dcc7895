//! Builds the table columns and cells of custom resources (`additionalPrinterColumns`).

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{columns, duration, path::JsonPath};
use crate::object;

/// One of a CRD's `additionalPrinterColumns`.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) type_: String,
    pub(super) format: String,
    pub(super) description: String,
    /// 0 for columns of the standard view; higher for `-o wide`.
    pub(super) priority: i64,
    /// The JSONPath of the value; `None` if it is invalid, which leaves the cells empty.
    path: Option<JsonPath>,
}

/// Parses the `additionalPrinterColumns` of a CRD. If it declares none, returns the age as the only column after the name.
pub(super) fn parse_columns(declared_columns: &[Value]) -> Vec<Column> {
    if declared_columns.is_empty() {
        let age = json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"});
        let mut age = parse_column(&age);
        // The age column has the same description in the tables of built-in kinds.
        age.description = columns::age_column()["description"].as_str().unwrap_or_default().to_owned();
        return vec![age];
    }
    declared_columns.iter().map(parse_column).collect()
}

/// Returns the `columnDefinitions` of a custom kind: the name, then its columns.
pub(super) fn definitions(custom: &[Column]) -> Value {
    let described = custom.iter().map(|column| {
        json!({
            "name": column.name, "type": column.type_, "format": column.format, "description": column.description,
            "priority": column.priority,
        })
    });
    std::iter::once(columns::name_column()).chain(described).collect()
}

/// Parses one of the `additionalPrinterColumns`.
fn parse_column(declared_column: &Value) -> Column {
    let text = |name| object::text(declared_column, &[name]).to_owned();
    let (path, description) = (text("jsonPath"), text("description"));
    let description = if description.is_empty() {
        format!("Custom resource definition column (in JSONPath format): {path}")
    } else {
        description
    };
    Column {
        name: text("name"),
        type_: text("type"),
        format: text("format"),
        description,
        priority: object::number(declared_column, &["priority"]).unwrap_or(0),
        path: JsonPath::parse(&path),
    }
}

/// Returns the cells of an object: its name, then for each column the first value at its path, or null if there is none.
pub(super) fn row_cells(columns: &[Column], item: &Value, now: Timestamp) -> Vec<Value> {
    let cell = |column: &Column| {
        let found = column.path.as_ref().and_then(|path| path.find(item).first().copied());
        found.map_or(Value::Null, |value| column.cell(value, now))
    };
    std::iter::once(object::name(item).into()).chain(columns.iter().map(cell)).collect()
}

impl Column {
    /// Converts a value to the column's type; null if the value does not fit.
    fn cell(&self, value: &Value, now: Timestamp) -> Value {
        match (self.type_.as_str(), value) {
            (_, Value::Null) => Value::Null,
            ("integer", Value::Number(number)) => {
                number.as_i64().or_else(|| number.as_f64().map(|float| float as i64)).into()
            }
            ("number", Value::Number(number)) => number.clone().into(),
            ("boolean", Value::Bool(flag)) => (*flag).into(),
            ("date", Value::String(time)) => match time.parse::<Timestamp>() {
                Ok(time) => duration::between(time, now).into(),
                Err(_) => "<invalid>".into(),
            },
            ("string", Value::String(text)) => text.clone().into(),
            ("string", other) => other.to_string().into(),
            _ => Value::Null,
        }
    }
}
