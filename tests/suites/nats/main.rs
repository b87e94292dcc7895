//! Buckets in NATS on real servers: the rules of buckets, outages, changes of the leader, permissions, TLS, and whole operators.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod barrel;
mod case;
mod cluster;
mod conformance;
mod differential;
mod disturbances;
mod editor;
mod lives;
mod loss;
mod outage;
mod recording;
mod replicas;
mod terms;
mod tls;
mod watched;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Most of the time a case waits.
    arguments.test_threads.get_or_insert(4);
    libtest_mimic::run(&arguments, case::cases()).exit_code()
}
