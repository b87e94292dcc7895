//! Objects that name others: what is named is held, waited for, and let go.

mod hold;
mod kinds;
mod release;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    [hold::cases(), release::cases()].into_iter().flatten().collect()
}
