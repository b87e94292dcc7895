//! Provides the column definitions of built-in kinds.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::{Value, json};

/// The tables that kube-apiserver returns, compressed: group, version, plural, and `columnDefinitions`.
const COMPRESSED: &[u8] = include_bytes!("../../../table/columns.json.zst");

/// Group, version, plural and column definitions.
type ColumnRow = (String, String, String, Value);

static COLUMNS: LazyLock<HashMap<(String, String, String), Value>> = LazyLock::new(|| {
    let text = zstd::decode_all(COMPRESSED).unwrap_or_default();
    let rows: Vec<ColumnRow> = serde_json::from_slice(&text).unwrap_or_default();
    rows.into_iter().map(|(group, version, plural, columns)| ((group, version, plural), columns)).collect()
});

/// Returns the column definitions of a built-in kind; name and creation time if the table has none for the kind.
pub(super) fn builtin(group: &str, version: &str, plural: &str) -> Value {
    let columns = COLUMNS.get(&(group.to_owned(), version.to_owned(), plural.to_owned()));
    columns.cloned().unwrap_or_else(|| json!([name_column(), created_column()]))
}

/// Returns the name column, which is the same for all kinds.
pub(super) fn name_column() -> Value {
    config_map_columns().map_or(Value::Null, |columns| columns[0].clone())
}

/// Returns the age column, which is the same for all kinds that have one.
pub(super) fn age_column() -> Value {
    config_map_columns().map_or(Value::Null, |columns| columns[2].clone())
}

/// Returns the columns of ConfigMaps: name, data and age.
fn config_map_columns() -> Option<&'static Value> {
    COLUMNS.get(&(String::new(), "v1".to_owned(), "configmaps".to_owned()))
}

/// Returns the column of the creation time, for kinds without a printer.
fn created_column() -> Value {
    json!({"name": "Created At", "type": "date", "format": "", "description": "", "priority": 0})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_that_is_listed_has_its_columns() {
        for kind in crate::kind::builtin::kinds() {
            if kind.verbs.iter().any(|verb| verb == "list") {
                let key = (kind.group.clone(), kind.version.clone(), kind.plural.clone());
                assert!(COLUMNS.contains_key(&key), "{key:?}");
            }
        }
    }
}
