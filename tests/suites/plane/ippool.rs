//! The example `ippool` by nothing but the role that is generated for it; the statements are those of frameworks D2.

mod churn;
mod options;
mod pools;
mod reservations;
pub(crate) mod scene;
mod slices;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    [options::cases(), pools::cases(), reservations::cases(), slices::cases()].into_iter().flatten().collect()
}
