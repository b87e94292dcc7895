//! Runs nats-server with JetStream: one server, or a cluster of three.
//!
//! The servers keep their stores in a temporary folder, listen on reserved ports of the loopback address, and end with the test process.

mod binary;
mod cluster;
mod foreign;
mod server;
mod shared_server;

pub use binary::find;
pub use cluster::NatsCluster;
pub use foreign::{ForeignClient, StreamMessage};
pub use server::{NatsServer, NatsServerOptions};
pub use shared_server::shared_address;

pub(crate) use shared_server::stop_shared;

use binary::availability;
use libtest_mimic::Trial;

/// The environment variable that makes cases fail, instead of being ignored, if there is no nats-server.
pub const REQUIRE: &str = "OPGEN_REQUIRE_NATS";

/// Returns a trial in place of the test case `name` if nats-server does not exist and can't be built; otherwise `None`. The trial is
/// ignored, or fails if [`REQUIRE`] is set. Its kind, which the list of cases shows, is the reason.
pub fn case_without_server(name: &str) -> Option<Trial> {
    let why = availability().err()?.to_string();
    let kind = why.clone();
    Some(Trial::test(name, move || Err(why.into())).with_kind(kind).with_ignored_flag(!is_required()))
}

/// Returns whether cases fail without nats-server, by [`REQUIRE`].
pub(crate) fn is_required() -> bool {
    std::env::var_os(REQUIRE).is_some_and(|value| value != "0")
}
