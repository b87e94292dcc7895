//! `Chain`: counts the writes of this operator that led to a pass by way of passes over other primaries, and detects cycles.

/// The number of repetitions of a step from which on a chain is a cycle.
pub(super) const MAX_REPETITIONS: u32 = 15;

/// The number of own writes after which a chain counts another step. A cycle of two primaries is found before.
const FIRST_LIMIT: u32 = 2 * MAX_REPETITIONS + 1;

/// A chain of passes that caused each other by own writes.
///
/// It counts the repetitions of one of its steps. The returns to a primary are no sign of a cycle: an object that collects the states of
/// many others returns after each of them. The counted step may lie before the cycle, and then is never repeated. So after a number of
/// writes, which doubles each time, the chain counts the step that it has reached (Brent's algorithm).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chain {
    /// The number of own writes; 0 at the start of a chain.
    pub(crate) length: u32,
    /// Hash of the primary whose pass the chain has reached.
    at: u64,
    /// The number of own writes before that pass.
    entered: u32,
    /// The step whose repetitions are counted: hashes of the primary whose pass wrote, and of the one whose pass that write led to.
    step: Option<(u64, u64)>,
    repetitions: u32,
    /// The number of own writes since this step is counted.
    writes: u32,
    /// The number of own writes after which another step is counted.
    limit: u32,
}

impl Chain {
    /// Returns whether the chain is a cycle, and the current pass is over a primary in it: the step from one primary to another that the
    /// chain counts has recurred `MAX_REPETITIONS` times, and the current primary is one of these two.
    pub(crate) fn is_cycle(&self) -> bool {
        self.is_repeated() && self.step.is_some_and(|(from, to)| self.at == from || self.at == to)
    }

    fn is_repeated(&self) -> bool {
        self.repetitions >= MAX_REPETITIONS
    }

    /// Returns the chain that starts with a pass of a primary.
    pub(super) fn start(primary: u64) -> Self {
        Self { at: primary, ..Self::default() }
    }

    /// Returns the sort key of the chains that lead to the same pass, of which the pass continues the highest: a cycle, else the longest.
    pub(super) fn rank(&self) -> (bool, u32, u32) {
        (self.is_repeated(), self.length, self.repetitions)
    }

    /// Returns the chain after one more own write.
    pub(super) fn after_write(self) -> Self {
        Self { length: self.length.saturating_add(1), writes: self.writes.saturating_add(1), ..self }
    }

    /// Returns the chain after its step to a pass of this primary. If the step equals the counted one, its repetitions increase; if it
    /// differs and the limit of writes is reached, the chain counts this step instead and doubles the limit.
    pub(super) fn in_pass_of(self, primary: u64) -> Self {
        if self.length == 0 {
            return Self::start(primary);
        }
        // No write since the last pass: that pass begins again, because the cache was behind.
        if self.entered == self.length {
            return self;
        }
        let step = Some((self.at, primary));
        let chain = Self { at: primary, entered: self.length, ..self };
        if self.step == step {
            return Self { repetitions: self.repetitions.saturating_add(1), ..chain };
        }
        // A cycle that was found keeps its counted step.
        if self.is_repeated() || self.writes < self.limit {
            return chain;
        }
        Self { step, repetitions: 0, writes: 0, limit: self.limit.saturating_mul(2).max(FIRST_LIMIT), ..chain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the length at which a chain counts as a cycle that runs through the primaries before a ring and then round the ring; `None`
    /// if it does not within `max_writes`.
    fn length_until_found(before_ring: u32, ring_size: u32, max_writes: u32) -> Option<u32> {
        let mut chain = Chain::start(0);
        for number in 1..=max_writes {
            let primary = if number < before_ring { number } else { before_ring + (number - before_ring) % ring_size };
            chain = chain.after_write().in_pass_of(u64::from(primary));
            if chain.is_cycle() {
                return Some(chain.length);
            }
        }
        None
    }

    #[test]
    fn a_ring_is_found_wherever_the_chain_enters_it_and_a_long_chain_is_no_cycle() {
        for (first, ring) in (0..40).flat_map(|first| (1..40).map(move |ring| (first, ring))) {
            let found = length_until_found(first, ring, 64 * (first + ring));
            assert!(found.is_some(), "{ring} primaries after {first}");
        }
        assert_eq!(length_until_found(0, 2, 100), Some(2 * MAX_REPETITIONS + 1));
        assert_eq!(length_until_found(10_000, 1, 10_000), None);
    }

    #[test]
    fn a_ring_is_found_if_a_teardown_starts_the_chain() {
        // A chain that a teardown starts begins with no primary.
        let mut chain = Chain::default();
        let found = (0..100).find(|number| {
            chain = chain.after_write().in_pass_of(1 + number % 2);
            chain.is_cycle()
        });
        assert!(found.is_some());
    }

    #[test]
    fn an_object_that_collects_the_states_of_many_others_is_in_no_cycle() {
        let mut chain = Chain::start(0);
        for other in 1..1000 {
            chain = chain.after_write().in_pass_of(other).after_write().in_pass_of(0);
            assert!(!chain.is_cycle(), "after {other}");
        }
    }

    #[test]
    fn a_pass_that_begins_again_repeats_no_step() {
        let mut chain = Chain::start(0);
        for primary in [0, 1].repeat(10) {
            chain = chain.after_write();
            (0..100).for_each(|_| chain = chain.in_pass_of(primary));
        }
        assert!(!chain.is_cycle());
    }

    #[test]
    fn a_pass_that_a_cycle_leads_to_from_outside_is_not_in_it() {
        let mut chain = Chain::start(0);
        (0..80).for_each(|number| chain = chain.after_write().in_pass_of(1 + number % 2));
        assert!(chain.is_cycle() && !chain.after_write().in_pass_of(3).is_cycle());
    }
}
