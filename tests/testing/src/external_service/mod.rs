//! Simulation of an external service, such as a DNS service, for tests of operators that manage what the service stores.
//!
//! A [`SimulatedService`] stores things of a type `T` by their ids, with the token of their creation. A test implements the functions of
//! an [`ExternalResource`](opgen::external::ExternalResource) over it, in place of the real client of the service. Clones share the
//! things.
//!
//! # Trials
//! [`trial_with_service`](crate::trial_with_service) gives each run a service of its own. The calls to it are numbered, recorded and
//! disturbed together with the calls to the API server: a stop at every call, random faults and a deletion at every call include
//! them. The things are a part of the compared state, so that a leaked thing, a second one or one that differs is a finding.
//! [`Check::ExternalService`](crate::Check::ExternalService) adds what only a service has: lost things, changes by other clients, an
//! exhausted quota.
//!
//! # Unit tests
//! [`SimulatedService::new`] needs no trial. [`SimulatedService::with_faults`] takes the faults of a test, chosen or by a seed.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), opgen_testing::external_service::ServiceError> {
//! use opgen_testing::external_service::{ServiceSettings, SimulatedService};
//!
//! let service = SimulatedService::new(ServiceSettings::<String>::new("DNS record"));
//! let id = service.create("5e1f", "192.0.2.7".to_owned()).await?;
//! let found = service.find("5e1f").await?;
//! assert_eq!(found.map(|thing| thing.id), Some(id));
//! assert_eq!(service.creations("5e1f"), 1);
//! # Ok(())
//! # }
//! ```

mod contents;
mod error;
mod running;
mod service;
mod settings;
mod thing;

pub use error::ServiceError;
pub(crate) use running::{OperatorWithService, ProgramWithService, RunningService};
pub use service::SimulatedService;
pub use settings::ServiceSettings;
pub use thing::{ServiceCall, Thing};
