//! Correlates new values with old ones, so that unchanged values are not reported (ratcheting).

use serde_json::Value;

use crate::keywords::{Keywords, ListType};

/// The old value that corresponds to a new one.
#[derive(Clone, Copy, Debug)]
pub struct OldValue<'a> {
    /// The value; `None` if there is none, or if none corresponds for certain.
    pub value: Option<&'a Value>,
    /// Whether the new value is unchanged; if it has no old value, whether the nearest value around it with one is.
    pub unchanged: bool,
}

impl<'a> OldValue<'a> {
    /// Returns the old value of a whole object or of a part.
    pub fn of(new: &Value, old: Option<&'a Value>) -> Self {
        Self { value: old, unchanged: old == Some(new) }
    }

    /// Returns the old value `old` of a part of this value. A part without an old value counts as unchanged if this value is unchanged.
    fn child(self, new: &Value, old: Option<&'a Value>) -> Self {
        old.map_or(Self { value: None, ..self }, |old| Self { value: Some(old), unchanged: old == new })
    }

    /// Returns the old value of a field of an object.
    pub fn field(self, name: &str, new: &Value) -> Self {
        self.child(new, self.value.and_then(|old| old.as_object()?.get(name)))
    }

    /// Returns the old value of an item. Only items of list maps have one: the item with the same keys.
    pub fn item(self, keywords: &Keywords, new: &Value) -> Self {
        let ListType::Map(keys) = &keywords.list else { return Self { value: None, ..self } };
        let new_key = key_values(keys, new);
        let items = self.value.and_then(Value::as_array);
        let mut matching = items.into_iter().flatten().filter(|old| key_values(keys, old) == new_key);
        self.child(new, matching.next())
    }
}

/// Returns the values of the key fields of an item. Their defaults are already set.
pub(super) fn key_values<'a>(keys: &[String], item: &'a Value) -> Vec<Option<&'a Value>> {
    keys.iter().map(|key| item.get(key)).collect()
}
