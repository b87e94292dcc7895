//! Cases on a real control plane. Each module has a `cases()`; add yours to the list.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod access;
mod admitted;
mod agreement;
mod chart;
mod charts;
mod checked;
mod course;
mod edits;
mod faults;
mod harness;
mod helm;
mod ippool;
mod kinds;
mod lead;
mod monitoring;
mod operator;
mod permissions;
mod reference;
mod scaffolded;
mod shards;
mod shop;
mod traces;
mod tree;
mod uninstall;
mod validation;

use std::{panic, process::ExitCode};

fn main() -> ExitCode {
    if let Some(end) = harness::victim::requested() {
        return harness::victim::run(end);
    }
    if let Some(role) = traces::requested() {
        return traces::run(role);
    }
    let suites = [
        // Their cases take minutes, so the last of them should not run alone.
        scaffolded::cases(),
        shop::cases(),
        harness::cases(),
        edits::cases(),
        access::cases(),
        admitted::cases(),
        agreement::cases(),
        chart::cases(),
        checked::cases(),
        course::cases(),
        ippool::cases(),
        kinds::cases(),
        lead::cases(),
        monitoring::cases(),
        operator::cases(),
        faults::cases(),
        helm::cases(),
        permissions::cases(),
        reference::cases(),
        shards::cases(),
        traces::cases(),
        tree::cases(),
        uninstall::cases(),
        validation::cases(),
    ];
    hush_planned_panics();
    opgen_tests::run_suites(suites.into_iter().flatten().collect())
}

/// What panics on purpose does so unsaid, so that a panic that is told is one to look at.
fn hush_planned_panics() {
    let say = panic::take_hook();
    panic::set_hook(Box::new(move |told| {
        let payload = told.payload();
        let words = payload.downcast_ref::<&str>().copied();
        let words = words.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        if words != Some(operator::kinds::SECRET_DETAIL) {
            say(told);
        }
    }));
}
