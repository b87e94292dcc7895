//! Cases on a real control plane. Each module has a `cases()`; add yours to the list.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod access;
mod edits;
mod faults;
mod harness;
mod ippool;
mod kinds;
mod operator;
mod permissions;
mod reference;
mod scaffolded;
mod shop;
mod table;
mod tree;
mod uninstall;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(end) = harness::victim::requested() {
        return harness::victim::run(end);
    }
    let suites = [
        harness::cases(),
        edits::cases(),
        access::cases(),
        ippool::cases(),
        kinds::cases(),
        operator::cases(),
        faults::cases(),
        permissions::cases(),
        reference::cases(),
        scaffolded::cases(),
        shop::cases(),
        table::cases(),
        tree::cases(),
        uninstall::cases(),
    ];
    opgen_tests::run_suites(suites.into_iter().flatten().collect())
}
