//! The page of a report, in a real browser: what it shows, what it does by keys, and that nothing leaves its place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod browser;
mod careless;
mod case;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), case::cases()).exit_code()
}
