//! The suites that need nothing but this workspace.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod diagnostics;
mod examples;
mod generate;
mod hygiene;
mod life;
mod metrics;
mod scaffold;
mod schema;
mod surface;
mod tidy;
mod tree;
mod ui;
