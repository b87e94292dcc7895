//! `PrimaryCache`: a store of whole objects, encoded by a codec that it trains.

use super::{ANNOTATION_PREFIX, Change, Codec, Encoded, Entry, Header, HeaderError, Store};
use parking_lot::Mutex;
use std::sync::Arc;

/// The number of older entries that are encoded again for each new object, once there is a dictionary.
const REENCODED_PER_OBJECT: usize = 4;

/// Stores whole objects, given as JSON, in encoded form.
#[derive(Debug, Default)]
pub struct PrimaryCache {
    store: Arc<Store<Encoded>>,
    codec: Arc<Codec>,
    /// The entries from before the training.
    uncompressed: Mutex<Vec<Arc<Entry<Encoded>>>>,
}

/// The reasons why an object could not be stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// Its metadata could not be parsed.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The rest of the object is not JSON.
    #[error("failed to read an object")]
    Json(#[from] serde_json::Error),
}

impl PrimaryCache {
    /// Returns an empty cache with its own codec.
    pub fn new(codec: Codec) -> Self {
        Self { store: Arc::default(), codec: Arc::new(codec), uncompressed: Mutex::default() }
    }

    /// Returns the store of the objects.
    pub fn store(&self) -> &Arc<Store<Encoded>> {
        &self.store
    }

    /// Returns the codec of the objects.
    pub fn codec(&self) -> &Arc<Codec> {
        &self.codec
    }

    /// Stores an object that a watch or a listing reports, with the annotations of [`Header::parse`].
    ///
    /// # Errors
    /// Fails if `json` is not an object with a name; the store then keeps its entry.
    pub fn apply(&self, json: &[u8]) -> Result<Change<Encoded>, ObjectError> {
        self.apply_keeping(json, &[ANNOTATION_PREFIX])
    }

    /// Returns an object as an entry of its own, without storing it.
    ///
    /// # Errors
    /// As [`PrimaryCache::apply`].
    pub fn separate_entry(&self, json: &[u8]) -> Result<Entry<Encoded>, ObjectError> {
        Ok(Entry::new(Header::parse(json)?, self.codec.encode(json)?))
    }

    /// Does the same as [`PrimaryCache::apply`], with the annotations under `prefixes` in the header.
    ///
    /// # Errors
    /// As [`PrimaryCache::apply`].
    pub fn apply_keeping(&self, json: &[u8], prefixes: &[&str]) -> Result<Change<Encoded>, ObjectError> {
        let header = Header::parse_keeping(json, prefixes)?;
        let change = self.store.try_apply(header, || self.codec.encode(json))?;
        self.train_and_reencode(change.new_entry());
        Ok(change)
    }

    /// Trains the codec once there are enough samples, and encodes some older entries again. The work per object is bounded.
    fn train_and_reencode(&self, new: Option<&Arc<Entry<Encoded>>>) {
        if !self.codec.trained() {
            self.uncompressed.lock().extend(new.cloned());
            if !self.codec.can_train() {
                return;
            }
            self.codec.train();
        }
        for _ in 0..REENCODED_PER_OBJECT {
            let Some(entry) = self.uncompressed.lock().pop() else { return };
            self.store.replace_value(&entry, self.codec.encode_again(&entry.value));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::PrimaryCache;
    use crate::cache::{Change, ObjectKey};

    fn object(name: &str, version: u64) -> String {
        let metadata =
            format!(r#"{{"name":"{name}","resourceVersion":"{version}","managedFields":[{{"manager":"m"}}]}}"#);
        let spec =
            r#"{"image":"registry.example.com/shop/app:1.2.3","replicas":3,"paused":false,"strategy":"Rolling"}"#;
        format!(r#"{{"metadata":{metadata},"spec":{spec}}}"#)
    }

    #[test]
    fn first_objects_are_encoded_again_once_there_is_a_dictionary() {
        let objects = PrimaryCache::default();
        for number in 0..400 {
            objects.apply(object(&format!("w-{number}"), 1).as_bytes()).unwrap();
        }
        assert!(objects.uncompressed.lock().is_empty());
        for entry in objects.store().entries() {
            assert!(entry.value.plain().is_none(), "{} is plain", entry.header.key);
            let json = String::from_utf8(entry.value.decode(objects.codec()).unwrap()).unwrap();
            let wanted = object(entry.header.key.name(), 1).replace(r#","managedFields":[{"manager":"m"}]"#, "");
            assert_eq!(json, wanted);
        }
    }

    #[test]
    fn object_that_changed_meanwhile_is_not_set_back() {
        let objects = PrimaryCache::default();
        for number in 0..400 {
            objects.apply(object(&format!("w-{}", number % 100), number).as_bytes()).unwrap();
        }
        let versions = objects.store().entries().into_iter().filter_map(|entry| entry.header.resource_version.number());
        assert!(versions.into_iter().all(|version| version >= 300));
    }

    #[test]
    fn object_that_cannot_be_read_leaves_the_others_alone() {
        let objects = PrimaryCache::default();
        objects.apply(object("good", 1).as_bytes()).unwrap();
        for json in ["{}", r#"{"metadata":{"name":"good","resourceVersion":"2"}"#, "nonsense"] {
            assert!(objects.apply(json.as_bytes()).is_err(), "{json}");
        }
        let good = objects.store().get(&ObjectKey::cluster("good")).unwrap();
        assert_eq!(good.header.resource_version.number(), Some(1));
        assert!(matches!(objects.apply(object("good", 1).as_bytes()).unwrap(), Change::Unchanged));
    }
}
