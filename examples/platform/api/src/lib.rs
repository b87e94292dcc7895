//! The kinds of platform. Their objects are entries of buckets in NATS.

mod route;
mod tier;
mod workload;

pub use route::{Route, RouteSpec};
pub use tier::{Tier, TierSpec};
pub use workload::{Workload, WorkloadSpec};
