//! `PerObject`: a map that keeps a value for each reconciled object between passes. An object that is created again has another uid, and
//! starts without a value.

use super::{ObjectKey, Uid};
use hashbrown::HashMap;

/// A value of `T` for each object, which ends with the object.
///
/// A value is stored under the key and the uid of its object. An object that is created again under the same name has another
/// uid, so it starts with `T::default()` and never gets the state of its predecessor. Values equal to `T::default()` take no
/// memory.
///
/// All state that the runtime keeps per object is in a `PerObject`; a tidy test refuses other maps by [`ObjectKey`].
#[derive(Debug, PartialEq)]
pub(crate) struct PerObject<T>(
    /// The values are boxed, because a map that has just grown is half empty.
    HashMap<ObjectKey, Box<(Uid, T)>>,
);

impl<T> Default for PerObject<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Default + PartialEq> PerObject<T> {
    /// Returns the value of an object; `None` if it equals the default.
    pub(crate) fn get(&self, key: &ObjectKey, uid: &Uid) -> Option<&T> {
        self.0.get(key).filter(|stored| stored.0 == *uid).map(|stored| &stored.1)
    }

    /// Returns the uid of the object with this key; `None` if its value equals the default.
    pub(crate) fn uid_of(&self, key: &ObjectKey) -> Option<&Uid> {
        self.0.get(key).map(|stored| &stored.0)
    }

    /// Iterates over the values that differ from the default, in no order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.values().map(|stored| &stored.1)
    }

    /// Calls `change` with the value of an object, and returns its result. Without a value, or with the value of another object of the same
    /// name, `change` gets the default. A value that equals the default afterwards is not stored.
    pub(crate) fn update<R>(&mut self, key: &ObjectKey, uid: &Uid, change: impl FnOnce(&mut T) -> R) -> R {
        let stored = self.0.entry(key.clone()).or_insert_with(|| Box::new((uid.clone(), T::default())));
        let (stored_uid, value) = &mut **stored;
        if stored_uid != uid {
            (*stored_uid, *value) = (uid.clone(), T::default());
        }
        let result = change(value);
        if *value == T::default() {
            self.0.remove(key);
        }
        result
    }

    /// Removes the value of the object with this key, for any uid.
    pub(crate) fn forget(&mut self, key: &ObjectKey) {
        self.0.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, uid: &str) -> (ObjectKey, Uid) {
        (ObjectKey::namespaced("shop", name), Uid::from(uid))
    }

    #[test]
    fn an_object_created_again_under_its_name_begins_with_the_default() {
        let mut counts = PerObject::<u32>::default();
        let ((key, first_uid), (_, second_uid)) = (object("a", "1"), object("a", "2"));
        assert_eq!(
            counts.update(&key, &first_uid, |count| {
                *count += 3;
                *count
            }),
            3
        );
        assert_eq!((counts.get(&key, &first_uid), counts.get(&key, &second_uid)), (Some(&3), None));
        assert_eq!(
            counts.update(&key, &second_uid, |count| {
                *count += 1;
                *count
            }),
            1
        );
        assert_eq!((counts.get(&key, &first_uid), counts.get(&key, &second_uid)), (None, Some(&1)));
    }

    #[test]
    fn default_values_take_no_memory() {
        let mut counts = PerObject::<u32>::default();
        let (key, uid) = object("a", "1");
        counts.update(&key, &uid, |count| *count = 1);
        counts.update(&key, &uid, |count| *count = 0);
        counts.update(&key, &Uid::from("2"), |_| ());
        assert!(counts.0.is_empty());
    }

    #[test]
    fn a_value_is_dropped_with_its_object() {
        let mut counts = PerObject::<u32>::default();
        let ((key, uid), (other, _)) = (object("a", "1"), object("b", "1"));
        counts.update(&key, &uid, |count| *count = 1);
        counts.update(&other, &uid, |count| *count = 1);
        counts.forget(&key);
        assert_eq!((counts.get(&key, &uid), counts.get(&other, &uid)), (None, Some(&1)));
    }
}
