//! Chance that repeats itself.

/// Numbers that a seed decides (SplitMix64).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `sides`.
    pub(super) fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides.max(1) as u64) as usize
    }

    /// One of these.
    pub(super) fn one_of<'a, T>(&mut self, choice: &'a [T]) -> &'a T {
        &choice[self.below(choice.len())]
    }
}
