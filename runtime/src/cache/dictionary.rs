//! What objects of one kind have in common, and the compression that leaves it out.

use parking_lot::Mutex;
use std::fmt;
use zstd::zstd_safe::{self, CCtx, CDict, DCtx, DDict};

/// Measured with Pods: a larger dictionary and a higher level save some bytes in 400 an object, and cost up to a
/// megabyte of tables a kind and several times the time to write. Reading costs the same.
const DICTIONARY_BYTES: usize = 16 * 1024;
const LEVEL: i32 = 1;

/// What was learnt from samples of a kind; nothing where they are too few or have too little in common.
pub(super) struct Dictionary(Option<(CDict<'static>, DDict<'static>)>);

impl Dictionary {
    /// Trains a dictionary on samples of the given lengths, one after the other.
    pub(super) fn train(samples: &[u8], lengths: &[usize]) -> Self {
        let trained = zstd::dict::from_continuous(samples, lengths, DICTIONARY_BYTES).ok();
        Self(trained.and_then(|bytes| Some((CDict::try_create(&bytes, LEVEL)?, DDict::try_create(&bytes)?))))
    }

    pub(super) fn size(&self) -> usize {
        self.0.as_ref().map_or(0, |(encode, decode)| encode.sizeof() + decode.sizeof())
    }
}

/// zstd's working memory, some hundred KiB a piece: one for each thread at work, shared by all codecs of an operator.
#[derive(Default)]
pub struct Contexts {
    encoders: Mutex<Vec<CCtx<'static>>>,
    decoders: Mutex<Vec<DCtx<'static>>>,
}

impl Contexts {
    /// The compressed form of `plain`, if it takes less than `limit` bytes.
    pub(super) fn compress(&self, dictionary: &Dictionary, plain: &[u8], limit: usize) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(limit);
        let mut encoder = self.encoders.lock().pop().unwrap_or_default();
        let result = match &dictionary.0 {
            Some((dictionary, _)) => encoder.compress_using_cdict(&mut out, plain, dictionary),
            None => encoder.compress(&mut out, plain, LEVEL),
        };
        self.encoders.lock().push(encoder);
        result.is_ok().then_some(out)
    }

    /// The plain form of `frame`, in place of what `out` holds.
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
