//! Typed reads of encoded objects.

use super::{Codec, DecodeError, Encoded, Entry, ObjectKey, ResourceVersion, Uid};
use hashbrown::HashMap;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use std::{fmt, sync::Arc};

/// Decodes objects of one kind into `K`, and keeps those read lately.
pub struct Reader<K> {
    codec: Arc<Codec>,
    hot: Mutex<Hot<K>>,
}

/// Why an object could not be read as a `K`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It could not be decompressed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Its JSON has not the form of a `K`.
    #[error("failed to decode {key}")]
    Form {
        /// The object.
        key: ObjectKey,
        /// Where it differs.
        #[source]
        source: serde_json::Error,
    },
}

/// Decoded objects in two generations: what is read moves to the young one; when that is full the old one goes and the
/// young one becomes old. So the least recently read go first, without a list to keep in order.
struct Hot<K> {
    young: HashMap<ObjectKey, Decoded<K>>,
    old: HashMap<ObjectKey, Decoded<K>>,
    /// JSON bytes of the young ones.
    bytes: usize,
    limit: usize,
}

struct Decoded<K> {
    uid: Uid,
    version: ResourceVersion,
    bytes: usize,
    object: Arc<K>,
}

impl<K: DeserializeOwned> Reader<K> {
    /// JSON bytes of the objects kept decoded, unless said otherwise: some hundred objects. A decoded object takes
    /// about seven times its JSON.
    pub const HOT_BYTES: usize = 512 * 1024;

    /// A reader of what `codec` encodes.
    pub fn new(codec: Arc<Codec>) -> Self {
        Self::with_hot_bytes(codec, Self::HOT_BYTES)
    }

    /// A reader that keeps objects of up to `hot_bytes` of JSON decoded; 0 keeps none.
    pub fn with_hot_bytes(codec: Arc<Codec>, hot_bytes: usize) -> Self {
        let hot = Hot { young: HashMap::new(), old: HashMap::new(), bytes: 0, limit: hot_bytes / 2 };
        Self { codec, hot: Mutex::new(hot) }
    }

    /// The object of `entry`, decoded.
    ///
    /// # Errors
    /// When its JSON has not the form of a `K`; nothing is kept then, other objects are not concerned.
    pub fn get(&self, entry: &Entry<Encoded>) -> Result<Arc<K>, ReadError> {
        if let Some(object) = self.hot.lock().get(entry) {
            return Ok(object);
        }
        let json = entry.value.decode(&self.codec)?;
        let object = serde_json::from_slice(&json);
        let object = object.map_err(|source| ReadError::Form { key: entry.header.key.clone(), source })?;
        let object = Arc::new(object);
        self.hot.lock().put(entry, json.len(), &object);
        Ok(object)
    }

    /// Forgets the decoded form of an object, when it is gone.
    pub fn forget(&self, key: &ObjectKey) {
        self.hot.lock().remove(key);
    }
}

impl<K> Hot<K> {
    fn get(&mut self, entry: &Entry<Encoded>) -> Option<Arc<K>> {
        let key = &entry.header.key;
        if let Some(decoded) = self.young.get(key) {
            return decoded.is_of(entry).then(|| decoded.object.clone());
        }
        let decoded = self.old.remove(key)?;
        let object = decoded.is_of(entry).then(|| decoded.object.clone())?;
        self.insert(key.clone(), decoded);
        Some(object)
    }

    fn put(&mut self, entry: &Entry<Encoded>, bytes: usize, object: &Arc<K>) {
        let (key, uid) = (entry.header.key.clone(), entry.header.uid.clone());
        let version = entry.header.resource_version.clone();
        self.remove(&key);
        self.insert(key, Decoded { uid, version, bytes, object: object.clone() });
    }

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

    fn remove(&mut self, key: &ObjectKey) {
        self.old.remove(key);
        if let Some(decoded) = self.young.remove(key) {
            self.bytes -= decoded.bytes;
        }
    }
}

impl<K> Decoded<K> {
    fn is_of(&self, entry: &Entry<Encoded>) -> bool {
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

    fn put(objects: &PrimaryCache, name: &str, version: u64, spec: &str) -> Arc<Entry<Encoded>> {
        let metadata = format!(r#"{{"name":"{name}","uid":"u-{name}","resourceVersion":"{version}"}}"#);
        let json = format!(r#"{{"metadata":{metadata},"spec":{spec}}}"#);
        objects.apply(json.as_bytes()).unwrap().new_entry().unwrap().clone()
    }

    #[test]
    fn object_is_decoded_once_for_each_version() {
        let objects = PrimaryCache::default();
        let reader = Reader::<Widget>::new(objects.codec().clone());
        let first = put(&objects, "a", 1, "10");
        let decoded = reader.get(&first).unwrap();
        assert!(Arc::ptr_eq(&decoded, &reader.get(&first).unwrap()));
        let second = put(&objects, "a", 2, "20");
        assert_eq!((decoded.spec, reader.get(&second).unwrap().spec, reader.get(&first).unwrap().spec), (10, 20, 10));
    }

    #[test]
    fn least_recently_read_go_first_and_the_size_is_bounded() {
        let objects = PrimaryCache::default();
        let entries: Vec<_> = (0..100).map(|number| put(&objects, &format!("w-{number:03}"), 1, "1")).collect();
        let size = entries[0].value.decode(objects.codec()).unwrap().len();
        let reader = Reader::<Widget>::with_hot_bytes(objects.codec().clone(), size * 10);
        let kept = reader.get(&entries[0]).unwrap();
        for entry in &entries {
            reader.get(entry).unwrap();
            assert!(Arc::ptr_eq(&kept, &reader.get(&entries[0]).unwrap()), "what is read all the time stays");
            let hot = reader.hot.lock();
            assert!(hot.young.len() + hot.old.len() <= 10);
        }
        assert!(!reader.hot.lock().young.contains_key(&entries[50].header.key));
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
        assert_eq!(reader.hot.lock().bytes, entry.value.decode(objects.codec()).unwrap().len());
    }
}
