//! Operators at work: what they write and what they leave alone, how they start and how they end.

mod fleet;
mod install;
mod mirror;
mod program;
mod right;
mod run;
mod tally;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    [run::cases()].into_iter().flatten().collect()
}
