//! Trials of the examples' operators: whole lives with injected faults.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod life;
