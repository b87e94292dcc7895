//! Injects faults into the calls of one client: by a plan, or at random by a seed.
//!
//! [`Sandbox::client_through`](crate::Sandbox::client_through) returns a client whose calls pass through [`Faults`].
//! Calls of other clients and of the sandbox's own controllers are not affected. The [`Timeline`] records all calls,
//! events and faults. Every wait is on tokio's clock and every choice follows from the seed, so that a run repeats.
//!
//! A *life* of the client lasts from a start of its process to the end of that process. A restart begins the next one.
//!
//! Calls of the client to external services can pass through the same faults: [`Faults::external_calls`].
//!
//! The calls of the server to webhooks can have a [`WebhookFault`], see
//! [`Builder::webhook_faults`](crate::Builder::webhook_faults).
//!
//! # Faults that a real server cannot have
//!
//! An API server may deliver events late, and it may end a watch, so that the client lists again and misses the changes
//! in between. But it delivers every change on a watch that continues. Therefore a 410 follows an event that is
//! [lost](EventFault::Lose). A read without a `resourceVersion` returns the newest state: [`FaultClass::OlderRead`]
//! makes only those reads older that allow it, [`Fault::Older`] any.
//!
//! # Stores
//! A client may also call a store of keys and values. [`Faults::store_calls`] gives these calls numbers, faults and a place in the
//! timeline as those of the API server have.
//!
//! Without the feature `client` only the types of a timeline are available, for a [page](crate::page).

#[cfg(feature = "client")]
mod activity;
#[cfg(feature = "client")]
mod body;
#[cfg(feature = "client")]
mod connection;
#[cfg(feature = "client")]
mod error_response;
mod event;
#[cfg(feature = "client")]
mod external_call;
#[cfg(feature = "client")]
mod faults;
#[cfg(feature = "client")]
mod faulty_call;
#[cfg(feature = "client")]
mod idle;
#[cfg(feature = "client")]
mod inject;
#[cfg(feature = "client")]
mod pass;
mod plan;
#[cfg(feature = "client")]
mod random;
#[cfg(feature = "client")]
mod stale_read;
#[cfg(feature = "client")]
mod store_call;
mod timeline;
#[cfg(feature = "client")]
mod webhook_call;
mod webhook_fault;
#[cfg(feature = "client")]
mod webhook_plan;

#[cfg(feature = "client")]
pub use body::FaultyBody;
#[cfg(feature = "client")]
pub use connection::ConnectionFault;
#[cfg(feature = "client")]
pub use external_call::{ExternalCalls, ExternalFault};
#[cfg(feature = "client")]
pub use faults::{FaultAction, Faults};
#[cfg(feature = "client")]
pub(crate) use inject::call;
pub use plan::{EventFault, Fault};
#[cfg(feature = "client")]
pub use random::FaultClass;
#[cfg(feature = "client")]
pub use store_call::{NoAnswer, OpenStoreCall, StoreCalls};
pub use timeline::{
    ObservedCall, ObservedCondition, ObservedEvent, ObservedPass, ObservedWebhookCall, PassPhase, Timeline,
    TimelineEntry, TimelineEvent,
};
pub use webhook_fault::WebhookFault;
