//! Simulation of a service outside of the cluster, such as a DNS service, for trials and unit tests.
//!
//! A [`World`] stores things of a type `T` by their ids, with the token of their creation. A test implements the functions of an
//! [`ExternalResource`](opgen::external::ExternalResource) over it, in place of the real client of the service. Clones of a world share its
//! things.
//!
//! # Trials
//! [`trial_with_world`](crate::trial_with_world) gives each run a world of its own. The calls to the world are numbered, recorded and
//! disturbed together with the calls to the API server: a stop at every call, random faults and a deletion at every call include
//! them. The things are a part of the compared state, so that a leaked thing, a second one or one that differs is a finding.
//! [`Check::Outside`](crate::Check::Outside) adds what only a service has: lost things, changes by other clients, an exhausted quota.
//!
//! # Unit tests
//! [`World::new`] needs no trial. [`World::with_faults`] takes the faults of a test, chosen or by a seed.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), opgen_testing::external_service::WorldError> {
//! use opgen_testing::external_service::{World, WorldSettings};
//!
//! let world = World::new(WorldSettings::<String>::new("DNS record"));
//! let id = world.create("5e1f", "192.0.2.7".to_owned()).await?;
//! let found = world.find("5e1f").await?;
//! assert_eq!(found.map(|thing| thing.id), Some(id));
//! assert_eq!(world.creations("5e1f"), 1);
//! # Ok(())
//! # }
//! ```

mod contents;
mod error;
mod running;
mod service;
mod settings;
mod thing;

pub use error::WorldError;
pub(crate) use running::{RunningWorld, SimulatedWorld, WorldProgram};
pub use service::World;
pub use settings::WorldSettings;
pub use thing::{Thing, WorldCall};
