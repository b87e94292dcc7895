//! `opgen dev`: an operator that runs while it is written.
//!
//! # Flow
//! `sources` says that a file changed → `build` has cargo build the operator → `install` applies what the operator's binary
//! prints → `operator` runs it → `live` shows how the samples fare. `session` goes round with that; `place` is the
//! cluster that it all happens in, `recording` what the operator asked there, and `lifeline` the end of everything that was started.

mod account;
mod api;
mod build;
mod document;
mod install;
mod lifeline;
mod live;
mod operator;
mod place;
mod recording;
mod relay;
mod session;
mod sources;

pub(crate) use session::Session;
