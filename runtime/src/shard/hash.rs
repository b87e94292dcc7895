//! `ShardCount` divides the hashes of uids into equal ranges, one for each shard.

use crate::cache::Uid;
use std::fmt::{self, Write as _};

/// The number of shards. Each shard has the objects whose hash is in its range.
///
/// The hash is FNV-1a with 64 bits of the uid, as the API server computes it for the parameter `shardSelector` of lists and watches
/// (KEP-5866). So the server can select the objects of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardCount(u16);

impl ShardCount {
    /// The largest number: each shard has a Lease that its holder renews.
    pub(crate) const MAX: u16 = 256;

    /// Returns the number, at most [`ShardCount::MAX`]; `None` for zero.
    pub(crate) fn new(count: u16) -> Option<Self> {
        (count > 0).then(|| Self(count.min(Self::MAX)))
    }

    pub(crate) fn get(self) -> u16 {
        self.0
    }

    /// Returns the shard of the object with this uid.
    pub(crate) fn shard_of(self, uid: &Uid) -> u16 {
        let mut hash = Fnv1a::new();
        // Writing to a hash can't fail.
        let _ = write!(hash, "{uid}");
        self.shard_of_hash(hash.0)
    }

    /// Returns the shard whose range has this hash: the ranges divide the 64 bits into equal parts.
    fn shard_of_hash(self, hash: u64) -> u16 {
        let shard = (u128::from(hash) * u128::from(self.0)) >> 64;
        u16::try_from(shard).unwrap_or_default()
    }

    /// Returns the first hash in the range of a shard. For the shard number that equals the count, this is 2^64, the end of the last range.
    pub(super) fn first_hash(self, shard: u16) -> u128 {
        (u128::from(shard) << 64).div_ceil(u128::from(self.0))
    }
}

/// The FNV-1a hash with 64 bits of the bytes that are written to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fnv1a(u64);

impl Fnv1a {
    /// Returns the hash of no bytes, the 64-bit offset basis of FNV.
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes to the hash. The factor is the 64-bit prime of FNV.
    pub(crate) fn add(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Write for Fnv1a {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        *self = self.add(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The values are those of the reference implementation of FNV.
    #[test]
    fn the_hash_is_fnv_1a_of_64_bits() {
        for (text, hash) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(Fnv1a::new().add(text.as_bytes()).value(), hash, "{text:?}");
        }
        let (uid, text) = (Uid::from("0a1b2c3d-0e4f-5061-7283-94a5b6c7d8e9"), b"0a1b2c3d-0e4f-5061-7283-94a5b6c7d8e9");
        let count = ShardCount::new(7).unwrap();
        assert_eq!(count.shard_of(&uid), count.shard_of_hash(Fnv1a::new().add(text).value()));
    }

    #[test]
    fn the_ranges_of_the_shards_divide_the_hashes() {
        for count in [1, 2, 3, 5, 7, 64, 255, 256] {
            let count = ShardCount::new(count).unwrap();
            assert_eq!((count.first_hash(0), count.first_hash(count.get())), (0, 1 << 64));
            for shard in 0..count.get() {
                let (first, end) = (count.first_hash(shard), count.first_hash(shard + 1));
                for hash in [first, end - 1] {
                    assert_eq!(count.shard_of_hash(u64::try_from(hash).unwrap()), shard, "{hash:x} of {count:?}");
                }
            }
        }
    }

    #[test]
    fn a_number_has_a_maximum_and_zero_is_none() {
        assert_eq!((ShardCount::new(0), ShardCount::new(1000)), (None, ShardCount::new(256)));
    }
}
