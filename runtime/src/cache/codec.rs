//! `Codec`: compresses the JSON of cached objects with a dictionary trained on their kind.

use super::{
    dictionary::{Contexts, Dictionary},
    strip::strip,
};
use parking_lot::Mutex;
use std::{
    fmt,
    sync::{Arc, OnceLock},
};

/// The limits of the samples for a dictionary: training starts when one of them is reached. Until then objects stay uncompressed.
const MAX_SAMPLES: usize = 128;
const MAX_SAMPLE_BYTES: usize = 512 * 1024;
/// Smaller objects stay uncompressed, because the overhead of a frame exceeds the gain.
const MIN_COMPRESSED_BYTES: usize = 128;

/// Encodes the objects of one kind.
///
/// The first objects stay uncompressed and serve as samples. [`Codec::train`] creates a dictionary from them, and the codec then
/// compresses further objects with it. An object that compression hardly shrinks stays uncompressed.
pub struct Codec {
    dictionary: OnceLock<Dictionary>,
    samples: Mutex<Samples>,
    contexts: Arc<Contexts>,
}

/// The first objects of the kind, concatenated, with their lengths.
#[derive(Default)]
struct Samples {
    bytes: Vec<u8>,
    lengths: Vec<usize>,
}

/// One encoded object.
#[derive(Clone, PartialEq, Eq)]
pub struct Encoded(
    /// The format in the first byte, then the object in that format.
    Box<[u8]>,
);

const PLAIN_FORMAT: u8 = 0;
const ZSTD_FORMAT: u8 = 1;

/// The error of an encoded object that could not be decompressed.
#[derive(Debug, thiserror::Error)]
#[error("failed to decompress a cached object: {0}")]
pub struct DecodeError(String);

impl Default for Codec {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Codec {
    /// Returns a codec for one kind. Codecs with the same `contexts` share their working memory.
    pub fn new(contexts: Arc<Contexts>) -> Self {
        Self { dictionary: OnceLock::new(), samples: Mutex::default(), contexts }
    }

    /// Encodes an object's JSON without its managedFields.
    ///
    /// # Errors
    /// Fails if `json` is not a JSON object.
    pub fn encode(&self, json: &[u8]) -> serde_json::Result<Encoded> {
        let mut plain = vec![PLAIN_FORMAT];
        strip(json, &mut plain)?;
        if self.dictionary.get().is_none() {
            self.samples.lock().add(&plain[1..]);
        }
        Ok(self.compress(plain))
    }

    /// Encodes an object again that was encoded before the training.
    pub fn encode_again(&self, encoded: &Encoded) -> Encoded {
        match encoded.plain() {
            Some(_) => self.compress(encoded.0.to_vec()),
            None => encoded.clone(),
        }
    }

    /// Compresses an object if there is a dictionary and compression saves enough.
    fn compress(&self, plain: Vec<u8>) -> Encoded {
        let frame = match self.dictionary.get() {
            // Compression has to save an eighth of the size to be worth the time of decompression.
            Some(dictionary) if plain.len() > MIN_COMPRESSED_BYTES => {
                self.contexts.compress(dictionary, &plain[1..], plain.len() * 7 / 8)
            }
            _ => None,
        };
        match frame {
            Some(frame) => Encoded([&[ZSTD_FORMAT], &*frame].concat().into()),
            None => Encoded(plain.into()),
        }
    }

    /// Whether there are enough samples for [`Codec::train`].
    pub fn can_train(&self) -> bool {
        self.dictionary.get().is_none() && self.samples.lock().is_full()
    }

    /// Whether [`Codec::train`] was called; objects encoded after it need not be encoded again.
    pub fn trained(&self) -> bool {
        self.dictionary.get().is_some()
    }

    /// Creates the dictionary from the samples so far; takes about 25 ms, once.
    pub fn train(&self) {
        let samples = std::mem::take(&mut *self.samples.lock());
        self.dictionary.get_or_init(|| Dictionary::train(&samples.bytes, &samples.lengths));
    }

    /// Returns the memory size of the dictionary, in bytes.
    pub fn dictionary_bytes(&self) -> usize {
        self.dictionary.get().map_or(0, Dictionary::size)
    }
}

impl Samples {
    /// Adds an object, unless there are enough samples.
    fn add(&mut self, plain: &[u8]) {
        if !self.is_full() {
            self.bytes.extend_from_slice(plain);
            self.lengths.push(plain.len());
        }
    }

    fn is_full(&self) -> bool {
        self.lengths.len() >= MAX_SAMPLES || self.bytes.len() >= MAX_SAMPLE_BYTES
    }
}

impl Encoded {
    /// Returns the object's JSON.
    ///
    /// # Errors
    /// Fails if `codec` is not the one that encoded it.
    pub fn decode(&self, codec: &Codec) -> Result<Vec<u8>, DecodeError> {
        let mut json = Vec::new();
        self.decode_into(codec, &mut json).map(|()| json)
    }

    /// Replaces the content of `json` by the object's JSON.
    ///
    /// # Errors
    /// As [`Encoded::decode`].
    pub fn decode_into(&self, codec: &Codec, json: &mut Vec<u8>) -> Result<(), DecodeError> {
        if let Some(plain) = self.plain() {
            json.clear();
            json.extend_from_slice(plain);
            return Ok(());
        }
        let Some(dictionary) = codec.dictionary.get() else {
            return Err(DecodeError("it was encoded by another codec".to_owned()));
        };
        codec.contexts.decompress(dictionary, &self.0[1..], json).map_err(DecodeError)
    }

    /// Returns the size of the encoded form, in bytes.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// Returns the JSON if the object is not compressed.
    pub fn plain(&self) -> Option<&[u8]> {
        self.0.split_first().filter(|(format, _)| **format == PLAIN_FORMAT).map(|(_, json)| json)
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The output omits the content, which may be a Secret's.
        f.debug_struct("Encoded").field("size", &self.size()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec").field("trained", &self.trained()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Codec, Encoded, MAX_SAMPLES};

    fn object(number: usize) -> String {
        let spec = format!(r#"{{"image":"registry.example.com/app:{number}","replicas":{number},"paused":false}}"#);
        format!(r#"{{"metadata":{{"name":"app-{number}","labels":{{"app.kubernetes.io/name":"app"}}}},"spec":{spec}}}"#)
    }

    fn trained() -> (Codec, Vec<Encoded>) {
        let codec = Codec::default();
        let samples = (0..MAX_SAMPLES).map(|number| codec.encode(object(number).as_bytes()).unwrap()).collect();
        assert!(codec.can_train());
        codec.train();
        (codec, samples)
    }

    #[test]
    fn every_object_comes_back_as_it_was() {
        let (codec, samples) = trained();
        let fresh: Vec<_> = (0..MAX_SAMPLES).map(|number| codec.encode(object(number).as_bytes()).unwrap()).collect();
        let again: Vec<_> = samples.iter().map(|sample| codec.encode_again(sample)).collect();
        for forms in [&samples, &fresh, &again] {
            for (number, encoded) in forms.iter().enumerate() {
                assert_eq!(encoded.decode(&codec).unwrap(), object(number).as_bytes());
            }
        }
    }

    #[test]
    fn what_the_kind_has_in_common_takes_no_room() {
        let (codec, samples) = trained();
        let encoded = codec.encode(object(7).as_bytes()).unwrap();
        assert!(encoded.plain().is_none() && samples[7].plain().is_some());
        assert!(encoded.size() * 3 < object(7).len(), "{} of {}", encoded.size(), object(7).len());
        assert_eq!(codec.encode_again(&samples[7]), encoded);
    }

    #[test]
    fn object_that_compression_does_not_shrink_is_held_plain() {
        let (codec, _) = trained();
        let small = r#"{"metadata":{"name":"a"}}"#;
        assert_eq!(codec.encode(small.as_bytes()).unwrap().plain(), Some(small.as_bytes()));
    }

    #[test]
    fn few_large_objects_are_compressed_without_a_dictionary() {
        let codec = Codec::default();
        let large = format!(r#"{{"metadata":{{"name":"a"}},"data":{{"text":"{}"}}}}"#, "line of text ".repeat(50_000));
        codec.encode(large.as_bytes()).unwrap();
        assert!(codec.can_train());
        codec.train();
        let encoded = codec.encode(large.as_bytes()).unwrap();
        assert!(encoded.size() * 10 < large.len());
        assert_eq!(encoded.decode(&codec).unwrap(), large.as_bytes());
    }

    #[test]
    fn another_codec_is_an_error_and_no_nonsense() {
        let (codec, _) = trained();
        let encoded = codec.encode(object(1).as_bytes()).unwrap();
        assert!(encoded.decode(&Codec::default()).is_err());
    }

    #[test]
    fn content_is_not_shown() {
        let encoded = Codec::default().encode(br#"{"data":{"password":"hunter2"}}"#).unwrap();
        assert_eq!(format!("{encoded:?}"), "Encoded { size: 32, .. }");
    }
}
