//! The harness itself: what the other cases take for granted.

pub(crate) mod victim;

mod access;
mod leaders;
mod life;
mod workload;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    [access::cases(), leaders::cases(), life::cases(), workload::cases()].into_iter().flatten().collect()
}
