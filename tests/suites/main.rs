//! The fast suites: they need nothing but this workspace and end within seconds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod diagnostics;
mod examples;
mod hygiene;
mod metrics;
mod process;
mod schema;
mod surface;
mod tidy;
mod tree;
mod watchdog;
mod webhooks;
