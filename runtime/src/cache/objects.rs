//! A store of whole objects: JSON in, encoded entries out.

use super::{ANNOTATION_PREFIX, Change, Codec, Encoded, Entry, Header, HeaderError, Store};
use parking_lot::Mutex;
use std::sync::Arc;

/// Entries encoded again with each object that comes in, once there is a dictionary.
const AGAIN: usize = 4;

/// Takes in whole objects as JSON, and keeps them encoded in a [`Store`].
#[derive(Debug, Default)]
pub struct Objects {
    store: Arc<Store<Encoded>>,
    codec: Arc<Codec>,
    /// Entries from before the dictionary.
    plain: Mutex<Vec<Arc<Entry<Encoded>>>>,
}

/// Why an object was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// Its metadata could not be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The rest of it is not JSON.
    #[error("failed to read an object")]
    Json(#[from] serde_json::Error),
}

impl Objects {
    /// An empty store with a codec of its own.
    pub fn new(codec: Codec) -> Self {
        Self { store: Arc::default(), codec: Arc::new(codec), plain: Mutex::default() }
    }

    /// Where the objects are.
    pub fn store(&self) -> &Arc<Store<Encoded>> {
        &self.store
    }

    /// What decodes them.
    pub fn codec(&self) -> &Arc<Codec> {
        &self.codec
    }

    /// Takes in an object as the watch or a listing shows it, with the annotations of [`Header::parse`].
    ///
    /// # Errors
    /// When `json` is not an object with a name; the store then keeps what it had.
    pub fn apply(&self, json: &[u8]) -> Result<Change<Encoded>, ObjectError> {
        self.apply_keeping(json, &[ANNOTATION_PREFIX])
    }

    /// As [`Objects::apply`], with the annotations under `prefixes` in the header.
    ///
    /// # Errors
    /// As [`Objects::apply`].
    pub fn apply_keeping(&self, json: &[u8], prefixes: &[&str]) -> Result<Change<Encoded>, ObjectError> {
        let header = Header::parse_keeping(json, prefixes)?;
        let change = self.store.try_apply(header, || self.codec.encode(json))?;
        self.improve(change.new_entry());
        Ok(change)
    }

    /// Trains the codec when it can be, and encodes some older entries again: a bounded piece of work with each object.
    fn improve(&self, new: Option<&Arc<Entry<Encoded>>>) {
        if !self.codec.trained() {
            self.plain.lock().extend(new.cloned());
            if !self.codec.can_train() {
                return;
            }
            self.codec.train();
        }
        for _ in 0..AGAIN {
            let Some(entry) = self.plain.lock().pop() else { return };
            self.store.replace_value(&entry, self.codec.encode_again(&entry.value));
        }
    }
}
