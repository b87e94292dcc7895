//! Correlates new values with old ones, so that unchanged values are not reported (ratcheting).

use serde_json::Value;

use crate::schema::keywords::{Keywords, ListType};

/// The old state of a value.
#[derive(Clone, Copy)]
pub(crate) struct Old<'a> {
    /// `None` if there is none, or it can't be told which one it is.
    pub(crate) value: Option<&'a Value>,
    /// Whether this, or the nearest that can be told, is as it was.
    pub(crate) unchanged: bool,
}

impl<'a> Old<'a> {
    pub(crate) fn of(new: &Value, old: Option<&'a Value>) -> Self {
        Self { value: old, unchanged: old == Some(new) }
    }

    fn child(self, new: &Value, old: Option<&'a Value>) -> Self {
        old.map_or(Self { value: None, ..self }, |old| Self { value: Some(old), unchanged: old == new })
    }

    /// Of a field of an object.
    pub(crate) fn field(self, name: &str, new: &Value) -> Self {
        self.child(new, self.value.and_then(|old| old.as_object()?.get(name)))
    }

    /// Of an item: only those of maps are known again.
    pub(crate) fn item(self, keywords: &Keywords, new: &Value) -> Self {
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
