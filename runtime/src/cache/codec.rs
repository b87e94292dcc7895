//! Objects as the cache holds them: stripped JSON, compressed with what their kind has in common.

use super::{
    dictionary::{Contexts, Dictionary},
    strip::strip,
};
use parking_lot::Mutex;
use std::{
    fmt,
    sync::{Arc, OnceLock},
};

/// Samples a dictionary is trained on, whichever limit comes first.
const SAMPLES: usize = 256;
const SAMPLE_BYTES: usize = 1024 * 1024;
/// Below this a frame's own overhead eats what compression gains.
const SMALL: usize = 128;

/// Encodes the objects of one kind.
///
/// The first objects are kept plain and serve as samples; [`Codec::train`] makes a dictionary of them, and from then on
/// objects are compressed with it. Where that does not pay, an object stays plain.
pub struct Codec {
    level: i32,
    dictionary: OnceLock<Option<Dictionary>>,
    samples: Mutex<Samples>,
    contexts: Arc<Contexts>,
}

#[derive(Default)]
struct Samples {
    bytes: Vec<u8>,
    lengths: Vec<usize>,
}

/// One object, encoded.
#[derive(Clone, PartialEq, Eq)]
pub struct Encoded(
    /// The form in the first byte, then the object in it.
    Box<[u8]>,
);

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

/// Why an encoded object could not be read.
#[derive(Debug, thiserror::Error)]
#[error("failed to decompress a cached object: {0}")]
pub struct DecodeError(String);

impl Default for Codec {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Codec {
    /// zstd's usual level.
    pub const LEVEL: i32 = 3;

    /// A codec for one kind; codecs that share `contexts` share their working memory.
    pub fn new(contexts: Arc<Contexts>) -> Self {
        Self { level: Self::LEVEL, dictionary: OnceLock::new(), samples: Mutex::default(), contexts }
    }

    /// With another level of zstd: higher is smaller and slower to write, about the same to read.
    #[must_use]
    pub fn level(mut self, level: i32) -> Self {
        self.level = level;
        self
    }

    /// Encodes an object's JSON without its managedFields.
    ///
    /// # Errors
    /// When `json` is not a JSON object.
    pub fn encode(&self, json: &[u8]) -> serde_json::Result<Encoded> {
        let mut plain = vec![PLAIN];
        strip(json, &mut plain)?;
        if self.dictionary.get().is_none() {
            self.samples.lock().take(&plain[1..]);
        }
        Ok(self.compress(plain))
    }

    /// Encodes again what was encoded before there was a dictionary.
    pub fn encode_again(&self, encoded: &Encoded) -> Encoded {
        match encoded.plain() {
            Some(_) => self.compress(encoded.0.to_vec()),
            None => encoded.clone(),
        }
    }

    fn compress(&self, plain: Vec<u8>) -> Encoded {
        let (Some(Some(dictionary)), true) = (self.dictionary.get(), plain.len() > SMALL) else {
            return Encoded(plain.into());
        };
        let mut out = Vec::with_capacity(plain.len() * 7 / 8);
        match self.contexts.compress(dictionary, &plain[1..], &mut out) {
            true => Encoded([&[ZSTD], &*out].concat().into()),
            false => Encoded(plain.into()),
        }
    }

    /// Whether there are samples enough for [`Codec::train`].
    pub fn can_train(&self) -> bool {
        self.dictionary.get().is_none() && self.samples.lock().is_full()
    }

    /// Whether there will be no other dictionary than there is.
    pub fn trained(&self) -> bool {
        self.dictionary.get().is_some()
    }

    /// Makes the dictionary from the samples so far: some tens of milliseconds of work, once.
    pub fn train(&self) {
        let samples = std::mem::take(&mut *self.samples.lock());
        self.dictionary.get_or_init(|| Dictionary::train(&samples.bytes, &samples.lengths, self.level));
    }

    /// Bytes that the dictionary takes in memory.
    pub fn dictionary_bytes(&self) -> usize {
        self.dictionary.get().and_then(Option::as_ref).map_or(0, Dictionary::size)
    }
}

impl Samples {
    fn take(&mut self, plain: &[u8]) {
        if !self.is_full() {
            self.bytes.extend_from_slice(plain);
            self.lengths.push(plain.len());
        }
    }

    fn is_full(&self) -> bool {
        self.lengths.len() >= SAMPLES || self.bytes.len() >= SAMPLE_BYTES
    }
}

impl Encoded {
    /// The object's JSON.
    ///
    /// # Errors
    /// When `codec` is not the one that encoded it.
    pub fn decode(&self, codec: &Codec) -> Result<Vec<u8>, DecodeError> {
        let mut json = Vec::new();
        self.decode_into(codec, &mut json).map(|()| json)
    }

    /// The object's JSON in place of what `json` holds.
    ///
    /// # Errors
    /// As [`Encoded::decode`].
    pub fn decode_into(&self, codec: &Codec, json: &mut Vec<u8>) -> Result<(), DecodeError> {
        if let Some(plain) = self.plain() {
            json.clear();
            json.extend_from_slice(plain);
            return Ok(());
        }
        let Some(Some(dictionary)) = codec.dictionary.get() else {
            return Err(DecodeError("it was encoded by another codec".to_owned()));
        };
        codec.contexts.decompress(dictionary, &self.0[1..], json).map_err(DecodeError)
    }

    /// Bytes of the encoded form.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// The JSON itself, where the object is not compressed.
    pub fn plain(&self) -> Option<&[u8]> {
        self.0.split_first().filter(|(form, _)| **form == PLAIN).map(|(_, json)| json)
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content may be a Secret's.
        f.debug_struct("Encoded").field("size", &self.size()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec").field("level", &self.level).field("trained", &self.trained()).finish_non_exhaustive()
    }
}
