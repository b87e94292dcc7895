//! Tests that an OpenTelemetry collector gets the traces of an operator.

mod away;
mod collector;
mod edit;
mod groups;
mod program;
mod skies;

pub(crate) use program::{requested, run};

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    [away::cases(), edit::cases(), groups::cases(), skies::cases()].into_iter().flatten().collect()
}
