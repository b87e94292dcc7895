//! Correlates new values with old ones, so that unchanged values are not reported (ratcheting).

use serde_json::Value;

use crate::keywords::{Keywords, ListType};

/// The old value that corresponds to a new one.
#[derive(Clone, Copy, Debug)]
pub struct OldValue<'a> {
    /// The value; `None` if there is none, or if none corresponds for certain.
    pub value: Option<&'a Value>,
    /// Whether the new value, or the nearest around it that has an old one, is unchanged.
    pub unchanged: bool,
}

impl<'a> OldValue<'a> {
    /// The old value of a whole object or of a part.
    pub fn of(new: &Value, old: Option<&'a Value>) -> Self {
        Self { value: old, unchanged: old == Some(new) }
    }

    fn child(self, new: &Value, old: Option<&'a Value>) -> Self {
        old.map_or(Self { value: None, ..self }, |old| Self { value: Some(old), unchanged: old == new })
    }

    /// The old value of a field of an object.
    pub fn field(self, name: &str, new: &Value) -> Self {
        self.child(new, self.value.and_then(|old| old.as_object()?.get(name)))
    }

    /// The old value of an item. Only items of list maps have one.
    pub fn item(self, keywords: &Keywords, new: &Value) -> Self {
        let ListType::Map(keys) = &keywords.list else { return Self { value: None, ..self } };
        let own = key(keys, new);
        let items = self.value.and_then(Value::as_array);
        let mut found = items.into_iter().flatten().filter(|old| key(keys, old) == own);
        self.child(new, found.next())
    }
}

/// The values that tell an item apart; defaults are in them by now.
pub(super) fn key<'a>(keys: &[String], item: &'a Value) -> Vec<Option<&'a Value>> {
    keys.iter().map(|key| item.get(key)).collect()
}
