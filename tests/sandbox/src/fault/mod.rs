//! Misbehaviour on purpose, for the calls of one client: by a plan, or by a seed.
//!
//! [`Sandbox::client_through`](crate::Sandbox::client_through) gives a client whose calls pass through [`Faults`]. Whoever
//! else calls, the sandbox's own controllers among them, is never hit. What was asked, told and done wrong is in the
//! [`Timeline`]. Every wait is on tokio's clock and every choice follows from the seed, so that a run repeats.
//!
//! # What a server never does
//! An API server may tell late, and it may end a watch and have the client list anew, so that it never learns what was in
//! between; but it tells every change of a watch that goes on. So an event that is [lost](EventFault::Lose) is followed by a
//! 410. And a read without a `resourceVersion` is of the newest state: [`Class::OlderRead`] makes only those older that
//! allow it, [`Fault::Older`] any.
//!
//! Without the feature `client` there are the words of a timeline alone, for a [page](crate::page).

#[cfg(feature = "client")]
mod answer;
#[cfg(feature = "client")]
mod body;
#[cfg(feature = "client")]
mod chance;
mod event;
#[cfg(feature = "client")]
mod faults;
#[cfg(feature = "client")]
mod layer;
#[cfg(feature = "client")]
mod older;
#[cfg(feature = "client")]
mod pass;
mod plan;
#[cfg(feature = "client")]
mod rest;
mod timeline;

#[cfg(feature = "client")]
pub use body::FaultyBody;
#[cfg(feature = "client")]
pub use chance::Class;
#[cfg(feature = "client")]
pub use faults::{Deed, Faults};
#[cfg(feature = "client")]
pub use layer::Broken;
#[cfg(feature = "client")]
pub(crate) use layer::call;
pub use plan::{EventFault, Fault};
pub use timeline::{CallSeen, ConditionSeen, EventSeen, Happening, Moment, PassPart, PassSeen, Timeline};
