//! `opgen new` as a person or a script meets it: what it writes, what it says, what it refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub(crate) mod command;

mod dev;
mod edges;
mod golden;
mod output;
mod pins;
mod refusal;
mod sandbox;
mod terminal;
