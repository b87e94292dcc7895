//! `ConfigurationFile`: the configuration file of an operator, with checked keys and values.

use super::{
    error::ConfigurationError,
    group::ManagerOptions,
    keys,
    schema::{API_VERSION, KIND, configuration_schema},
};
use crate::nearest::nearest;
use serde_json::{Map, Value};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A configuration file that was read.
#[derive(Clone, Debug)]
pub(super) struct ConfigurationFile {
    pub(super) path: PathBuf,
    /// The content, by which a change of the file is noticed.
    pub(super) text: String,
    pub(super) options: ManagerOptions,
}

impl ConfigurationFile {
    /// Reads a file.
    ///
    /// # Errors
    /// Fails if the file can't be read, or if a key or a value is wrong.
    pub(super) fn read(path: &Path) -> Result<Self, ConfigurationError> {
        Self::parse(path, read_text(path)?)
    }

    /// Parses the content of a file.
    ///
    /// # Errors
    /// Fails if a key or a value is wrong.
    pub(super) fn parse(path: &Path, text: String) -> Result<Self, ConfigurationError> {
        let yaml = serde_saphyr::from_str::<Value>(&text)
            .map_err(|error| ConfigurationError::Yaml { path: path.to_owned(), message: error.to_string() })?;
        let mut keys = match yaml {
            Value::Object(keys) => keys,
            Value::Null => Map::new(),
            _ => {
                return Err(ConfigurationError::Yaml {
                    path: path.to_owned(),
                    message: "the file is not a mapping".to_owned(),
                });
            }
        };
        check_header(path, &mut keys, "apiVersion", API_VERSION)?;
        check_header(path, &mut keys, "kind", KIND)?;
        let keys = Value::Object(keys);
        if let Some(key) = unknown_key(&keys, &configuration_schema(), "") {
            return Err(ConfigurationError::UnknownKey { path: path.to_owned(), nearest: nearest_key(&key), key });
        }
        let options = serde_path_to_error::deserialize(keys).map_err(|error| ConfigurationError::Value {
            path: path.to_owned(),
            key: error.path().to_string(),
            message: error.inner().to_string(),
        })?;
        Ok(Self { path: path.to_owned(), text, options })
    }
}

/// Reads the content of a file.
///
/// # Errors
/// Fails if the operating system does.
pub(super) fn read_text(path: &Path) -> Result<String, ConfigurationError> {
    fs::read_to_string(path).map_err(|source| ConfigurationError::Read { path: path.to_owned(), source })
}

/// Removes the key `apiVersion` or `kind`, and checks that its value is the expected one.
fn check_header(
    path: &Path,
    keys: &mut Map<String, Value>,
    key: &'static str,
    expected: &'static str,
) -> Result<(), ConfigurationError> {
    let found = keys.remove(key);
    if found.as_ref().is_some_and(|found| found == expected) {
        return Ok(());
    }
    let found = found.map(|found| found.as_str().map_or_else(|| found.to_string(), str::to_owned));
    Err(ConfigurationError::Header { path: path.to_owned(), key, expected, found })
}

/// Returns the path of the first key that the schema does not have.
fn unknown_key(value: &Value, schema: &Value, path: &str) -> Option<String> {
    let other_keys = &schema["additionalProperties"];
    value.as_object()?.iter().find_map(|(key, value)| {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match &schema["properties"][key] {
            Value::Null if other_keys.is_object() => unknown_key(value, other_keys, &path),
            // A mapping in place of a plain value is of the wrong type, which the decoder reports.
            Value::Null if schema["properties"].is_object() => Some(path),
            known => unknown_key(value, known, &path),
        }
    })
}

/// Returns the path of the key that is probably meant: a similar one in the same place, or one of this name in another place.
fn nearest_key(path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('.').map_or(("", path), |(folder, name)| (folder, name));
    let beside = nearest(name, keys::siblings(path));
    let beside = beside.map(|name| if folder.is_empty() { name.to_owned() } else { format!("{folder}.{name}") });
    beside.or_else(|| keys::elsewhere(name).map(str::to_owned))
}
