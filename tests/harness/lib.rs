//! What the suites stand on: a control plane, the real one, a whole cluster or the sandbox, started as often as a test likes, and the means to ask it questions.
//!
//! Everything here panics with the reason when the machine lets it down: a test could do nothing else with an error.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod audit;
pub mod binaries;
pub mod case;
pub mod credentials;
pub mod difference;
pub mod kubectl;
pub mod kubelet;
pub mod plane;
pub mod process;
pub mod proxy;
pub mod wait;

mod folder;
mod port;
mod server;

pub use audit::{Entries, Entry};
pub use case::{case, case_on, case_on_cluster, case_on_controlplane, case_on_shared_cluster, case_served, run_suites};
pub use credentials::Access;
pub use plane::{Form, Options, Plane};
pub use port::Port;
pub use process::Process;
pub use proxy::Proxy;
