//! The example `shop` on a real control plane, by nothing but the role that is generated for it.

mod kill;
mod life;
mod part;
mod shops;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    [life::cases(), kill::cases()].into_iter().flatten().collect()
}
