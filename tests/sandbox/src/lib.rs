//! A Kubernetes API server that runs inside the calling process, for tests of operators and for running operators without a cluster.
//!
//! As a `kube::Client` (feature `client`) it needs no socket and runs on tokio's clock, so that a test with a paused
//! clock and a [seed](Builder::seed) repeats bit by bit.

#![warn(missing_docs)]

mod admission;
mod audit;
mod authentication;
mod authorization;
mod bootstrap;
mod call;
#[cfg(feature = "client")]
mod client;
mod condition;
mod controller;
mod convert;
mod discovery;
mod encoding;
mod environment;
mod failure;
pub mod fault;
mod fields;
mod handler;
mod json;
mod kind;
mod listener;
mod object;
#[cfg(feature = "page")]
pub mod page;
mod patch;
pub mod pod_status;
mod quantity;
mod request;
mod response;
mod sandbox;
mod schedule;
mod schema;
mod server;
mod snapshot;
mod store;
mod strategy;
mod user;
mod validation;
mod verb;
mod webhook;

pub use audit::Record;
pub use listener::{ServeOptions, Serving};
pub use response::{Body, Never};
pub use sandbox::{Builder, Sandbox};
pub use user::User;
