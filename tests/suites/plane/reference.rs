//! Objects that name others: what is named is held, waited for, and let go.

mod allow;
mod by_label;
mod by_node;
mod chain;
mod content;
mod cycle;
mod hold;
pub(crate) mod kinds;
mod random;
mod release;
mod ring;
mod strangers;
mod told;
mod watch;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    let all = [
        allow::cases(),
        by_label::cases(),
        by_node::cases(),
        chain::cases(),
        content::cases(),
        cycle::cases(),
        hold::cases(),
        random::cases(),
        release::cases(),
        ring::cases(),
        strangers::cases(),
        told::cases(),
        watch::cases(),
    ];
    all.into_iter().flatten().collect()
}
