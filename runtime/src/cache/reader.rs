//! `Reader`: decodes cached objects into their Rust type, and caches the recently read ones.

use super::{Codec, DecodeError, Encoded, Entry, ObjectKey, ResourceVersion, Uid};
use hashbrown::HashMap;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use std::{fmt, sync::Arc};

/// Decodes objects of one kind into `K`, and caches recently read objects.
pub struct Reader<K> {
    codec: Arc<Codec>,
    decoded_cache: Mutex<DecodedCache<K>>,
}

/// The reasons why an object could not be read as a `K`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It could not be decompressed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Its JSON does not have the form of a `K`.
    #[error("failed to decode {key}")]
    Form {
        /// The object.
        key: ObjectKey,
        /// The error of the decoder.
        #[source]
        source: serde_json::Error,
    },
}

/// A cache of decoded objects in two generations. A read moves an object to the young generation; when that is full it becomes
/// the old one, and the previous old one is dropped. So the least recently read objects are dropped first, without an ordered
/// list.
struct DecodedCache<K> {
    young: HashMap<ObjectKey, Decoded<K>>,
    old: HashMap<ObjectKey, Decoded<K>>,
    /// The JSON size of the young generation, in bytes.
    bytes: usize,
    /// The limit of `bytes`: half of the limit of the cache, which has two generations.
    limit: usize,
}

/// A decoded object with the version that it was decoded from.
struct Decoded<K> {
    uid: Uid,
    version: ResourceVersion,
    bytes: usize,
    object: Arc<K>,
}

impl<K: DeserializeOwned> Reader<K> {
    /// The default limit of the cache, as the JSON size of its objects in bytes: some hundred objects. A decoded object takes
    /// about seven times its JSON.
    pub const HOT_BYTES: usize = 512 * 1024;

    /// Returns a reader for the objects of a codec.
    pub fn new(codec: Arc<Codec>) -> Self {
        Self::with_hot_bytes(codec, Self::HOT_BYTES)
    }

    /// Returns a reader that caches decoded objects of up to `hot_bytes` of JSON; 0 caches none.
    pub fn with_hot_bytes(codec: Arc<Codec>, hot_bytes: usize) -> Self {
        let decoded_cache = DecodedCache { young: HashMap::new(), old: HashMap::new(), bytes: 0, limit: hot_bytes / 2 };
        Self { codec, decoded_cache: Mutex::new(decoded_cache) }
    }

    /// Returns the decoded object of `entry`, from the cache if it was decoded before.
    ///
    /// # Errors
    /// Fails if its JSON does not have the form of a `K`. Other objects are not affected.
    pub fn get(&self, entry: &Entry<Encoded>) -> Result<Arc<K>, ReadError> {
        if let Some(object) = self.decoded_cache.lock().get(entry) {
            return Ok(object);
        }
        let json = entry.value.decode(&self.codec)?;
        let object = serde_json::from_slice(&json);
        let object = object.map_err(|source| ReadError::Form { key: entry.header.key.clone(), source })?;
        let object = Arc::new(object);
        self.decoded_cache.lock().put(entry, json.len(), &object);
        Ok(object)
    }

    /// Removes a deleted object from the cache.
    pub fn forget(&self, key: &ObjectKey) {
        self.decoded_cache.lock().remove(key);
    }
}

impl<K> DecodedCache<K> {
    /// Returns the decoded object if the cache has it in the version of `entry`. A hit in the old generation moves it to the young one.
    fn get(&mut self, entry: &Entry<Encoded>) -> Option<Arc<K>> {
        let key = &entry.header.key;
        if let Some(decoded) = self.young.get(key) {
            return decoded.matches(entry).then(|| decoded.object.clone());
        }
        let decoded = self.old.remove(key)?;
        let object = decoded.matches(entry).then(|| decoded.object.clone())?;
        self.insert(key.clone(), decoded);
        Some(object)
    }

    /// Stores the object decoded from `entry`; `bytes` is the size of its JSON.
    fn put(&mut self, entry: &Entry<Encoded>, bytes: usize, object: &Arc<K>) {
        let (key, uid) = (entry.header.key.clone(), entry.header.uid.clone());
        let version = entry.header.resource_version.clone();
        self.remove(&key);
        self.insert(key, Decoded { uid, version, bytes, object: object.clone() });
    }

    /// Adds an object to the young generation. If that is full, it first becomes the old one. An object larger than the limit is not
    /// cached.
    fn insert(&mut self, key: ObjectKey, decoded: Decoded<K>) {
        if self.bytes + decoded.bytes > self.limit {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        if decoded.bytes <= self.limit {
            self.bytes += decoded.bytes;
            self.young.insert(key, decoded);
        }
    }

    /// Removes an object from both generations.
    fn remove(&mut self, key: &ObjectKey) {
        self.old.remove(key);
        if let Some(decoded) = self.young.remove(key) {
            self.bytes -= decoded.bytes;
        }
    }
}

impl<K> Decoded<K> {
    /// Returns whether this value was decoded from the version that the entry holds.
    fn matches(&self, entry: &Entry<Encoded>) -> bool {
        self.version == entry.header.resource_version && self.uid == entry.header.uid
    }
}

impl<K> fmt::Debug for Reader<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("codec", &self.codec).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{ReadError, Reader};
    use crate::cache::{Encoded, Entry, PrimaryCache};
    use serde::Deserialize;
    use std::sync::Arc;

    #[derive(Debug, Deserialize)]
    struct Widget {
        spec: u32,
    }

    /// Stores a Widget with this name, version and spec, and returns its entry.
    fn put(objects: &PrimaryCache, name: &str, version: u64, spec: &str) -> Arc<Entry<Encoded>> {
        let metadata = format!(r#"{{"name":"{name}","uid":"u-{name}","resourceVersion":"{version}"}}"#);
        let json = format!(r#"{{"metadata":{metadata},"spec":{spec}}}"#);
        objects.apply(json.as_bytes()).unwrap().new_entry().unwrap().clone()
    }

    #[test]
    fn object_is_decoded_once_for_each_version() {
        let objects = PrimaryCache::default();
        let reader = Reader::<Widget>::new(objects.codec().clone());
        let old_entry = put(&objects, "a", 1, "10");
        let decoded = reader.get(&old_entry).unwrap();
        assert!(Arc::ptr_eq(&decoded, &reader.get(&old_entry).unwrap()));
        let new_entry = put(&objects, "a", 2, "20");
        assert_eq!(
            (decoded.spec, reader.get(&new_entry).unwrap().spec, reader.get(&old_entry).unwrap().spec),
            (10, 20, 10)
        );
    }

    #[test]
    fn least_recently_read_go_first_and_the_size_is_bounded() {
        let objects = PrimaryCache::default();
        let entries: Vec<_> = (0..100).map(|number| put(&objects, &format!("w-{number:03}"), 1, "1")).collect();
        let size = entries[0].value.decode(objects.codec()).unwrap().len();
        let reader = Reader::<Widget>::with_hot_bytes(objects.codec().clone(), size * 10);
        let first_object = reader.get(&entries[0]).unwrap();
        for entry in &entries {
            reader.get(entry).unwrap();
            assert!(Arc::ptr_eq(&first_object, &reader.get(&entries[0]).unwrap()), "what is read all the time stays");
            let decoded_cache = reader.decoded_cache.lock();
            assert!(decoded_cache.young.len() + decoded_cache.old.len() <= 10);
        }
        assert!(!reader.decoded_cache.lock().young.contains_key(&entries[50].header.key));
    }

    #[test]
    fn object_of_another_form_is_an_error_and_named() {
        let objects = PrimaryCache::default();
        let reader = Reader::<Widget>::new(objects.codec().clone());
        let bad = put(&objects, "bad", 1, r#""text""#);
        let error = reader.get(&bad).unwrap_err();
        assert!(matches!(&error, ReadError::Form { key, .. } if key.name() == "bad"));
        assert_eq!(reader.get(&put(&objects, "good", 1, "1")).unwrap().spec, 1);
    }

    #[test]
    fn forgotten_object_is_decoded_again() {
        let objects = PrimaryCache::default();
        let reader = Reader::<Widget>::new(objects.codec().clone());
        let entry = put(&objects, "a", 1, "1");
        let decoded = reader.get(&entry).unwrap();
        reader.forget(&entry.header.key);
        assert!(!Arc::ptr_eq(&decoded, &reader.get(&entry).unwrap()));
        assert_eq!(reader.decoded_cache.lock().bytes, entry.value.decode(objects.codec()).unwrap().len());
    }
}
