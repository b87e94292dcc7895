//! The suites that run the program `opgen` or cargo.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod check;
mod generate;
mod project;
mod scaffold;
