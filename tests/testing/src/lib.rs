//! Fault-injection tests of Kubernetes operators without a cluster.
//!
//! A trial stops the operator at every call, injects every fault, and edits and deletes its objects. After each run it compares
//! the final state with that of an undisturbed run.
//!
//! ```no_run
//! # mod webapp_controller { pub fn operator() -> opgen::Operator { opgen::Operator::new("webapp") } }
//! # #[allow(dead_code)]
//! #[test]
//! fn the_trial_finds_no_defect() -> Result<(), opgen_testing::TrialError> {
//!     opgen_testing::trial(webapp_controller::operator).run().verdict()
//! }
//! ```
//!
//! A run uses an in-process [sandbox](opgen_sandbox) and a paused clock: waiting costs nothing, and a run is deterministic. The
//! operator has the permissions of its generated role and no others.
//!
//! # Upgrades
//! `trial(v2::operator).upgrades_from(v1::operator)` runs the older release until it is at rest, then the newer one, stopped
//! after each of its first calls. The objects that both releases want keep their UIDs; see [`Trial::upgrades_from`].
//!
//! # Webhooks
//! The API server calls the webhooks of the operator in the process: admission webhooks for each write, and the conversion of kinds with
//! several versions. After an upgrade those of the newer release, after the downgrade those of the older one.
//!
//! Their calls have faults, too ([`Check::Webhooks`]): the connection is refused, the call times out, or the response is invalid, for one
//! call or for a minute. Meanwhile the API server rejects writes as the failure policy of the webhook says. The program must retry
//! its own writes.
//!
//! # Invariants
//! Each run also checks these invariants; a finding names the object that violates one:
//!
//! - No task of the program panics, even if the program catches the panic.
//! - An object that the program still wants keeps its UID. The program recreates it only if the server rejects the update, and
//!   never if the object holds data, as a PersistentVolumeClaim does.
//! - A random value, such as a password, stays the same as long as its object exists.
//! - Foreign objects stay unchanged. Each namespace with samples or their children, and one more, has a foreign object of each
//!   kind that the role can change, and foreign objects with the common labels (`app`, `app.kubernetes.io/name`) of the
//!   program's objects.
//! - Children belong to one owner: a second object is created and deleted beside each sample.
//! - After an edit that the schema allows, no rejected call is repeated and no pass fails forever. An object that waits for
//!   another one says so in its status, as a new object does.
//! - No client writes one path more than 500 times before the program is at rest; the report has the path and the last response.
//!
//! A program may poll: at rest it may read each path once a second.
//!
//! # Replay
//! A finding has the schedule of its run, such as `after:17`. `OPGEN_REPLAY=after:17 cargo test` runs only that schedule and
//! shows its whole timeline. `OPGEN_REPORT=FOLDER cargo test` also writes the report as a page: [`Report::page`].

#![warn(missing_docs)]

mod admin;
mod check;
mod diff;
mod footprint;
mod object;
mod oracle;
mod page;
mod path;
mod permission;
mod pool;
mod program;
mod report;
mod scenario;
mod schedule;
mod simulation;
mod snapshot;
mod suite;
mod target;
mod trial;
mod variant;
mod webhook_schedule;

pub use check::Check;
pub use opgen_sandbox::fault::{FaultClass, Timeline};
pub use program::{Manifests, Program, ProgramWebhooks, Respond};
pub use report::{CheckSummary, Finding, Report, TrialError};
pub use schedule::{InvalidSchedule, Schedule};
pub use trial::{Trial, trial, trial_of};
