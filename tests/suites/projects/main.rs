//! The suites that run the program `opgen`, cargo or the compiler.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod check;
mod generate;
mod scaffold;
mod ui;
