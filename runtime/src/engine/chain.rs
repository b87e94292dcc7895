//! `Chain`: the own writes that led to a pass, each by way of another primary, and whether they run in a cycle.

/// The number of returns to the same primary from which on a chain is a cycle.
pub(super) const MAX_RETURNS: u32 = 15;

/// The number of own writes after which a chain counts the returns to another primary. A cycle of two primaries is found before.
const FIRST_LIMIT: u32 = 2 * MAX_RETURNS + 1;

/// A chain of passes that caused each other by own writes.
///
/// It counts the returns to one of its primaries. That primary may lie before the cycle, and then never returns. So after a number
/// of writes, which doubles each time, the chain counts the returns to the primary that it has reached (Brent's algorithm).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chain {
    /// The number of own writes; 0 at the start of a chain.
    pub(crate) length: u32,
    /// Hash of the primary whose returns are counted.
    primary: u64,
    /// The number of its returns.
    returns: u32,
    /// The number of own writes since the returns of this primary are counted.
    writes: u32,
    /// The number of own writes after which the returns of another primary are counted.
    limit: u32,
}

impl Chain {
    /// Returns whether the chain has returned to the same primary so often that it is a cycle.
    pub(crate) fn is_cycle(&self) -> bool {
        self.returns >= MAX_RETURNS
    }

    /// Returns the chain that starts with a pass of a primary.
    pub(super) fn start(primary: u64) -> Self {
        Self { primary, limit: FIRST_LIMIT, ..Self::default() }
    }

    /// Returns the rank among the chains that lead to the same pass: the highest counts.
    pub(super) fn rank(&self) -> (bool, u32, u32) {
        (self.is_cycle(), self.length, self.returns)
    }

    /// Returns the chain after one more own write.
    pub(super) fn after_write(self) -> Self {
        Self { length: self.length.saturating_add(1), writes: self.writes.saturating_add(1), ..self }
    }

    /// Returns the chain in the pass of a primary that it leads to.
    pub(super) fn in_pass_of(self, primary: u64) -> Self {
        if self.length == 0 {
            return Self::start(primary);
        }
        if self.primary == primary {
            return Self { returns: self.returns.saturating_add(1), ..self };
        }
        if self.is_cycle() || self.writes < self.limit {
            return self;
        }
        Self { primary, returns: 0, writes: 0, limit: self.limit.saturating_mul(2), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the length of a chain that runs through the first primaries and then round a ring of others until it is found; `None`
    /// if it is not within the limit.
    fn length_until_found(first: u32, ring: u32, limit: u32) -> Option<u32> {
        let mut chain = Chain::start(0);
        for number in 1..=limit {
            let primary = if number < first { number } else { first + (number - first) % ring };
            chain = chain.after_write().in_pass_of(u64::from(primary));
            if chain.is_cycle() {
                return Some(chain.length);
            }
        }
        None
    }

    #[test]
    fn a_ring_is_found_wherever_it_is_entered_and_a_long_chain_is_none() {
        for (first, ring) in (0..40).flat_map(|first| (1..40).map(move |ring| (first, ring))) {
            let found = length_until_found(first, ring, 64 * (first + ring));
            assert!(found.is_some(), "{ring} primaries after {first}");
        }
        assert_eq!(length_until_found(0, 2, 100), Some(2 * MAX_RETURNS));
        assert_eq!(length_until_found(10_000, 1, 10_000), None);
    }
}
