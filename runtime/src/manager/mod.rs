//! The process: several controllers, what they share, and how it starts and ends.

mod asked;
pub(crate) mod children;
pub(crate) mod command;
pub(crate) mod conditions;
mod connect;
mod feeds;
mod floor;
mod health;
pub(crate) mod live;
mod mapped;
pub(crate) mod operator;
mod passes;
pub(crate) mod picture;
pub(crate) mod probes;
pub(crate) mod reach;
pub(crate) mod relay;
pub(crate) mod request;
pub(crate) mod rights;
pub(crate) mod run;
pub(crate) mod signals;
mod sweep;
mod targets;
mod tasks;
pub(crate) mod uninstall;
mod views;
pub(crate) mod why;
