//! Operators at work: what they write and what they leave alone, how they start and how they end.

pub(crate) mod install;
pub(crate) mod kinds;
pub(crate) mod log;
pub(crate) mod program;
pub(crate) mod site;

mod deletion;
mod fleet;
mod foreign;
mod group;
mod kill;
mod manifest;
mod measure;
mod mirror;
mod pass;
mod right;
mod run;
mod stop;
pub(crate) mod tally;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    let suites = [
        run::cases(),
        kill::cases(),
        stop::cases(),
        measure::cases(),
        pass::cases(),
        deletion::cases(),
        group::cases(),
        foreign::cases(),
        manifest::cases(),
    ];
    suites.into_iter().flatten().collect()
}
