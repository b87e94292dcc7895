//! The process: several controllers, what they share, and how it starts and ends.

pub(crate) mod children;
pub(crate) mod command;
pub(crate) mod live;
mod mapped;
pub(crate) mod operator;
pub(crate) mod picture;
pub(crate) mod probes;
pub(crate) mod rights;
pub(crate) mod run;
pub(crate) mod signals;
mod sweep;
mod targets;
pub(crate) mod uninstall;
