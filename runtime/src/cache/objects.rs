//! `PrimaryCache`: a cache of whole objects, which are compressed by the codec of their kind.

use super::{ANNOTATION_PREFIX, Change, Codec, Encoded, Entry, Header, HeaderError, Store};
use std::sync::Arc;

/// Stores whole objects, given as JSON, in encoded form.
#[derive(Debug, Default)]
pub struct PrimaryCache {
    store: Arc<Store<Encoded>>,
    codec: Arc<Codec>,
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

    /// Stores an object as [`PrimaryCache::apply`] does if `is_own` accepts its header, and otherwise removes the object from the store.
    /// With shards, `is_own` accepts the objects that this replica reconciles.
    ///
    /// # Errors
    /// As [`PrimaryCache::apply`].
    pub(crate) fn apply_own(
        &self,
        json: &[u8],
        is_own: impl Fn(&Header) -> bool,
    ) -> Result<Change<Encoded>, ObjectError> {
        let header = Header::parse(json)?;
        if !is_own(&header) {
            return Ok(self.store.delete(&header));
        }
        Ok(self.store.try_apply(header, || self.codec.encode(json))?)
    }

    /// Parses and encodes an object, and returns the entry without adding it to the store.
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
        Ok(self.store.try_apply(header, || self.codec.encode(json))?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::PrimaryCache;
    use crate::cache::{Change, ObjectKey};

    /// Returns the JSON of an object with this name and resourceVersion.
    fn object(name: &str, version: u64) -> String {
        let metadata =
            format!(r#"{{"name":"{name}","resourceVersion":"{version}","managedFields":[{{"manager":"m"}}]}}"#);
        let spec =
            r#"{"image":"registry.example.com/shop/app:1.2.3","replicas":3,"paused":false,"strategy":"Rolling"}"#;
        format!(r#"{{"metadata":{metadata},"spec":{spec}}}"#)
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
