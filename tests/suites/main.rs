//! The suites that need nothing but this workspace.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod diagnostics;
mod generate;
mod hygiene;
mod scaffold;
mod schema;
mod tidy;
mod tree;
mod ui;
