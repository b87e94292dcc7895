//! The example `shop` on a real control plane, by nothing but the role that is generated for it.

mod kill;
mod life;
pub(crate) mod part;
pub(crate) mod shops;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    [life::cases(), kill::cases()].into_iter().flatten().collect()
}
