//! What objects of one kind have in common, and the compression that leaves it out.

use parking_lot::Mutex;
use std::fmt;
use zstd::zstd_safe::{self, CCtx, CDict, DCtx, DDict};

/// More does not make the objects smaller by what it costs itself; zstd suggests about 100 KiB.
const DICTIONARY_BYTES: usize = 64 * 1024;

/// A dictionary trained on samples of a kind.
pub(super) struct Dictionary {
    encode: CDict<'static>,
    decode: DDict<'static>,
}

impl Dictionary {
    /// Trains a dictionary; `None` where the samples have too little in common or are too few.
    pub(super) fn train(samples: &[u8], lengths: &[usize], level: i32) -> Option<Self> {
        let bytes = zstd::dict::from_continuous(samples, lengths, DICTIONARY_BYTES).ok()?;
        Some(Self { encode: CDict::try_create(&bytes, level)?, decode: DDict::try_create(&bytes)? })
    }

    pub(super) fn size(&self) -> usize {
        self.encode.sizeof() + self.decode.sizeof()
    }
}

/// zstd's working memory, some hundred KiB a piece: shared by the codecs of an operator, one for each thread at work.
#[derive(Default)]
pub struct Contexts {
    encoders: Mutex<Vec<CCtx<'static>>>,
    decoders: Mutex<Vec<DCtx<'static>>>,
}

impl Contexts {
    /// Appends the compressed `plain` to `out`; false where zstd could not.
    pub(super) fn compress(&self, dictionary: &Dictionary, plain: &[u8], out: &mut Vec<u8>) -> bool {
        let mut encoder = self.encoders.lock().pop().unwrap_or_default();
        let done = encoder.compress_using_cdict(out, plain, &dictionary.encode).is_ok();
        self.encoders.lock().push(encoder);
        done
    }

    pub(super) fn decompress(&self, dictionary: &Dictionary, frame: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let size = zstd_safe::get_frame_content_size(frame).ok().flatten().unwrap_or_default();
        out.clear();
        out.reserve(usize::try_from(size).unwrap_or_default());
        let mut decoder = self.decoders.lock().pop().unwrap_or_default();
        let result = decoder.decompress_using_ddict(out, frame, &dictionary.decode);
        self.decoders.lock().push(decoder);
        result.map(drop).map_err(|code| zstd_safe::get_error_name(code).to_owned())
    }
}

impl fmt::Debug for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contexts").finish_non_exhaustive()
    }
}
