//! `Codec`: compresses the JSON of cached objects, with the first objects of their kind as the dictionary.

use super::strip::strip;
use lz4_flex::block;
use parking_lot::Mutex;
use std::{fmt, sync::OnceLock};

/// The number of objects in a dictionary. They stay uncompressed themselves.
///
/// Objects of one kind have most of their JSON in common, so one object is nearly as good a dictionary as sixteen. The others are
/// for kinds whose objects differ, for example Pods of several Deployments.
const DICTIONARY_OBJECTS: usize = 4;
/// The size limit of a dictionary. Each compression reads all of it.
const DICTIONARY_BYTES: usize = 16 * 1024;
/// Smaller objects stay uncompressed, because there is nothing to gain.
const MIN_COMPRESSED_BYTES: usize = 128;

/// Encodes the objects of one kind.
///
/// The first objects stay uncompressed and become the dictionary, with which the codec compresses all further ones. An object
/// that compression hardly shrinks stays uncompressed.
#[derive(Default)]
pub struct Codec {
    dictionary: OnceLock<Box<[u8]>>,
    samples: Mutex<Samples>,
}

/// The first objects of the kind, concatenated.
#[derive(Default)]
struct Samples {
    bytes: Vec<u8>,
    count: usize,
}

/// One encoded object.
#[derive(Clone, PartialEq, Eq)]
pub struct Encoded(
    /// The format in the first byte, then the object in that format.
    Box<[u8]>,
);

const PLAIN_FORMAT: u8 = 0;
/// A block of LZ4, after its uncompressed size as a little-endian `u32`.
const LZ4_FORMAT: u8 = 1;

/// The error of an encoded object that could not be decompressed.
#[derive(Debug, thiserror::Error)]
#[error("failed to decompress a cached object: {0}")]
pub struct DecodeError(String);

impl Codec {
    /// Encodes an object's JSON without its managedFields. Until the dictionary is complete, the object becomes a part of it and stays
    /// uncompressed.
    ///
    /// # Errors
    /// Fails if `json` is not a JSON object.
    pub fn encode(&self, json: &[u8]) -> serde_json::Result<Encoded> {
        let mut plain = vec![PLAIN_FORMAT];
        strip(json, &mut plain)?;
        let Some(dictionary) = self.dictionary.get() else {
            self.add_sample(&plain[1..]);
            return Ok(Encoded(plain.into()));
        };
        if plain.len() <= MIN_COMPRESSED_BYTES {
            return Ok(Encoded(plain.into()));
        }
        let compressed = block::compress_prepend_size_with_dict(&plain[1..], dictionary);
        // Compression has to save an eighth of the size to be worth the time of decompression.
        let is_smaller = compressed.len() < plain.len() * 7 / 8;
        Ok(Encoded(if is_smaller { [&[LZ4_FORMAT], &*compressed].concat().into() } else { plain.into() }))
    }

    /// Appends an object to the samples. After `DICTIONARY_OBJECTS` objects or `DICTIONARY_BYTES` bytes, the samples become the dictionary.
    fn add_sample(&self, plain: &[u8]) {
        let mut samples = self.samples.lock();
        let room = DICTIONARY_BYTES - samples.bytes.len();
        samples.bytes.extend_from_slice(&plain[..plain.len().min(room)]);
        samples.count += 1;
        if samples.count >= DICTIONARY_OBJECTS || samples.bytes.len() >= DICTIONARY_BYTES {
            let bytes = std::mem::take(&mut *samples).bytes;
            self.dictionary.get_or_init(|| bytes.into());
        }
    }

    /// Returns the memory size of the dictionary, in bytes.
    pub fn dictionary_bytes(&self) -> usize {
        self.dictionary.get().map_or(0, |dictionary| dictionary.len())
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
        json.clear();
        if let Some(plain) = self.plain() {
            json.extend_from_slice(plain);
            return Ok(());
        }
        let Some(dictionary) = codec.dictionary.get() else {
            return Err(DecodeError("it was encoded by another codec".to_owned()));
        };
        let decode_error = |error: block::DecompressError| DecodeError(error.to_string());
        let (size, compressed) = block::uncompressed_size(&self.0[1..]).map_err(decode_error)?;
        json.resize(size, 0);
        block::decompress_into_with_dict(compressed, json, dictionary).map_err(decode_error)?;
        Ok(())
    }

    /// Returns the size of the encoded form, in bytes.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// Returns the object's JSON if it is stored uncompressed; `None` if it is compressed.
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
        f.debug_struct("Codec").field("dictionary_bytes", &self.dictionary_bytes()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Codec, DICTIONARY_BYTES, DICTIONARY_OBJECTS, Encoded};

    /// Returns the JSON of an object that differs from others only in a few values.
    fn object(number: usize) -> String {
        let spec = format!(r#"{{"image":"registry.example.com/app:{number}","replicas":{number},"paused":false}}"#);
        format!(r#"{{"metadata":{{"name":"app-{number}","labels":{{"app.kubernetes.io/name":"app"}}}},"spec":{spec}}}"#)
    }

    fn encode(codec: &Codec, number: usize) -> Encoded {
        codec.encode(object(number).as_bytes()).unwrap()
    }

    /// Returns a codec whose dictionary is complete, and the encoded objects that the dictionary consists of.
    fn with_dictionary() -> (Codec, Vec<Encoded>) {
        let codec = Codec::default();
        let samples = (0..DICTIONARY_OBJECTS).map(|number| encode(&codec, number)).collect();
        assert!(codec.dictionary_bytes() > 0);
        (codec, samples)
    }

    #[test]
    fn each_object_decodes_to_its_json() {
        let (codec, mut encoded) = with_dictionary();
        encoded.extend((encoded.len()..200).map(|number| encode(&codec, number)));
        for (number, encoded) in encoded.iter().enumerate() {
            assert_eq!(encoded.decode(&codec).unwrap(), object(number).as_bytes());
        }
    }

    #[test]
    fn the_text_that_a_kind_has_in_common_is_not_stored_again() {
        let (codec, samples) = with_dictionary();
        let encoded = encode(&codec, 77);
        assert!(encoded.plain().is_none() && samples.iter().all(|sample| sample.plain().is_some()));
        assert!(encoded.size() * 3 < object(77).len(), "{} of {}", encoded.size(), object(77).len());
    }

    #[test]
    fn an_object_that_compression_does_not_shrink_stays_uncompressed() {
        let (codec, _) = with_dictionary();
        let small = r#"{"metadata":{"name":"a"}}"#;
        assert_eq!(codec.encode(small.as_bytes()).unwrap().plain(), Some(small.as_bytes()));
        let random: String = (0..200).map(|_| fastrand::alphanumeric()).collect();
        let random = format!(r#"{{"{random}":1}}"#);
        assert!(codec.encode(random.as_bytes()).unwrap().plain().is_some());
    }

    #[test]
    fn a_large_object_fills_the_dictionary_alone() {
        let codec = Codec::default();
        let large = format!(r#"{{"metadata":{{"name":"a"}},"data":{{"text":"{}"}}}}"#, "line of text ".repeat(50_000));
        codec.encode(large.as_bytes()).unwrap();
        assert_eq!(codec.dictionary_bytes(), DICTIONARY_BYTES);
        let encoded = codec.encode(large.as_bytes()).unwrap();
        assert!(encoded.size() * 10 < large.len());
        assert_eq!(encoded.decode(&codec).unwrap(), large.as_bytes());
    }

    #[test]
    fn another_codec_is_an_error() {
        let (codec, _) = with_dictionary();
        let encoded = encode(&codec, 9);
        assert!(encoded.decode(&Codec::default()).is_err());
    }

    #[test]
    fn debug_output_omits_the_content() {
        let encoded = Codec::default().encode(br#"{"data":{"password":"hunter2"}}"#).unwrap();
        assert_eq!(format!("{encoded:?}"), "Encoded { size: 32, .. }");
    }
}
