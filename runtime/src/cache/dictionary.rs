//! `Dictionary`: a zstd dictionary trained on objects of one kind, and the shared zstd contexts.

use parking_lot::Mutex;
use std::fmt;
use zstd::zstd_safe::{self, CCtx, CDict, DCtx, DDict};

/// Measured with Pods: a larger dictionary and a higher level save some bytes per object of 400 bytes, and cost up to a megabyte
/// of tables per kind and several times the time to compress. Decompression costs the same.
const DICTIONARY_BYTES: usize = 16 * 1024;
const COMPRESSION_LEVEL: i32 = 1;

/// A trained dictionary; `None` if the samples are too few or have too little in common.
pub(super) struct Dictionary(Option<(CDict<'static>, DDict<'static>)>);

impl Dictionary {
    /// Trains a dictionary on concatenated samples of the given lengths.
    pub(super) fn train(samples: &[u8], lengths: &[usize]) -> Self {
        let trained = zstd::dict::from_continuous(samples, lengths, DICTIONARY_BYTES).ok();
        Self(
            trained.and_then(|bytes| Some((CDict::try_create(&bytes, COMPRESSION_LEVEL)?, DDict::try_create(&bytes)?))),
        )
    }

    /// Returns the size of the dictionary in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        self.0.as_ref().map_or(0, |(encode, decode)| encode.sizeof() + decode.sizeof())
    }
}

/// The working memory of zstd, some hundred KiB per context: one for each active thread, shared by all codecs of an operator.
#[derive(Default)]
pub struct Contexts {
    encoders: Mutex<Vec<CCtx<'static>>>,
    decoders: Mutex<Vec<DCtx<'static>>>,
}

impl Contexts {
    /// Returns the compressed form of `plain` if it takes less than `limit` bytes.
    pub(super) fn compress(&self, dictionary: &Dictionary, plain: &[u8], limit: usize) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(limit);
        let mut encoder = self.encoders.lock().pop().unwrap_or_default();
        let result = match &dictionary.0 {
            Some((dictionary, _)) => encoder.compress_using_cdict(&mut out, plain, dictionary),
            None => encoder.compress(&mut out, plain, COMPRESSION_LEVEL),
        };
        self.encoders.lock().push(encoder);
        result.is_ok().then_some(out)
    }

    /// Replaces the content of `out` by the decompressed `frame`.
    pub(super) fn decompress(&self, dictionary: &Dictionary, frame: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let size = zstd_safe::get_frame_content_size(frame).ok().flatten().unwrap_or_default();
        out.clear();
        out.reserve(usize::try_from(size).unwrap_or_default());
        let mut decoder = self.decoders.lock().pop().unwrap_or_default();
        let result = match &dictionary.0 {
            Some((_, dictionary)) => decoder.decompress_using_ddict(out, frame, dictionary),
            None => decoder.decompress(out, frame),
        };
        self.decoders.lock().push(decoder);
        result.map(drop).map_err(|code| zstd_safe::get_error_name(code).to_owned())
    }
}

impl fmt::Debug for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contexts").finish_non_exhaustive()
    }
}
