//! Test harness of the suites: starts control planes, clusters and sandboxes, runs programs, and reads their logs.
//!
//! All functions panic with the reason if the machine fails, since a test could not handle such an error in another way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod audit;
pub mod binaries;
pub mod case;
pub mod cd_systems;
pub mod credentials;
pub mod difference;
pub mod help;
pub mod kubectl;
pub mod kubelet;
pub mod leaders;
pub mod nats;
pub mod plane;
pub mod process;
pub mod proxy;
pub mod tools;
pub mod usage;
pub mod wait;

mod durations;
mod folder;
mod port;
mod server;
mod watchdog;

pub use audit::{Entries, Entry};
pub use case::{
    case, case_on, case_on_cluster, case_on_controlplane, case_on_controlplane_with, case_on_shared_cluster,
    case_served, case_with_buckets, case_with_cd_systems, case_with_tools, long, run_suites, skip_sandbox_in_both,
};
pub use credentials::Access;
pub use leaders::LeadReport;
pub use nats::{NatsCluster, NatsServer, NatsServerOptions};
pub use plane::{Form, Options, Plane};
pub use port::Port;
pub use process::Process;
pub use proxy::{Cut, Proxy};
