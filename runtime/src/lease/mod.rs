//! Elects a leader by a Lease: one replica of an operator writes, and the others wait with warm caches.
//!
//! # Flow
//! 1. A [`Candidate`](candidate::Candidate) reads and watches the Lease. It takes the Lease if nobody holds it, or if its record
//!    did not change for the lease duration, measured by the candidate's own monotonic clock.
//! 2. A renewal is valid from the moment when it was sent: the [`Lead`](lead::Lead) is a deadline, the renew deadline after the
//!    last renewal that the API server confirmed.
//! 3. The lowest layer of the operator's client checks the deadline before each write ([`guard`]), and gives up a write that is in
//!    flight before another candidate can take the Lease. A [`connection`] of opgen's own client checks it again before it writes
//!    to its socket, since the process may be stopped in between.
//! 4. The loss of the lead ends the run. After a clean stop the Lease is released, so that the next candidate need not wait.
//!
//! # Guarantees
//! Two replicas don't write at the same time as long as their monotonic clocks run at nearly the same rate. Their wall clocks may be
//! wrong, stand still, and be set at any time: no time of a Lease is compared with them, and each renewal has another time.
//!
//! The limits:
//! - The API server does not know the lead, so a write that was sent in time and is held up in the network, while its sender is stopped,
//!   is executed when it arrives. The same holds for a write in the process itself, if the client is one that the caller created
//!   ([`run_with`](crate::Operator::run_with)) or connects through a proxy.
//! - For kinds in buckets, a request is sent over the connection that existed when it was made, or never: the queue of the client of NATS
//!   ends with its connection. A connection that stays open may still deliver a request late, if the server takes no data for a time, or
//!   if the process is stopped between the check and the socket. Each such write is a compare-and-swap, so it changes nothing that
//!   another replica has written since, and the search for orphans removes a child that it creates too late.
//! - A deleted Lease, or one that somebody edits by hand, protects nobody.

pub(crate) mod candidate;
pub(crate) mod connection;
pub(crate) mod election;
pub(crate) mod elector;
pub(crate) mod guard;
pub(crate) mod identity;
pub(crate) mod lead;
pub(crate) mod leads;
pub(crate) mod options;
pub(crate) mod record;
#[cfg(test)]
mod simulation;
