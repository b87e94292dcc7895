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

    /// Parses the content of a file: checks `apiVersion` and `kind`, refuses keys that the schema does not have, and deserializes the
    /// options.
    ///
    /// # Errors
    /// Fails if a key or a value is wrong.
    pub(super) fn parse(path: &Path, text: String) -> Result<Self, ConfigurationError> {
        let yaml = serde_saphyr::from_str::<Value>(&text)
            .map_err(|error| ConfigurationError::Yaml { path: path.to_owned(), message: error.to_string() })?;
        let mut keys = match yaml {
            Value::Object(keys) => keys,
            // An empty file.
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

/// Removes `apiVersion` or `kind` from the keys of the file, and checks that its value is the expected one.
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

/// Returns the path of the first key below `path` that the JSON schema does not have; `None` if it has all. In a map with free keys, such
/// as `kinds`, the schema in `additionalProperties` describes the value of each key.
fn unknown_key(value: &Value, schema: &Value, path: &str) -> Option<String> {
    let free_key_schema = &schema["additionalProperties"];
    value.as_object()?.iter().find_map(|(key, value)| {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match &schema["properties"][key] {
            Value::Null if free_key_schema.is_object() => unknown_key(value, free_key_schema, &path),
            // A schema without properties is that of a plain value. A mapping in its place has the wrong type, which the decoder reports.
            Value::Null if schema["properties"].is_object() => Some(path),
            key_schema => unknown_key(value, key_schema, &path),
        }
    })
}

/// Returns the path of the key that the user probably meant by an unknown key: a key with a similar name in the same mapping, else the key
/// with this name in another mapping.
fn nearest_key(path: &str) -> Option<String> {
    let (parent, name) = path.rsplit_once('.').map_or(("", path), |(parent, name)| (parent, name));
    let similar = nearest(name, keys::siblings(path));
    let similar = similar.map(|name| if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") });
    similar.or_else(|| keys::path_with_name(name).map(str::to_owned))
}
