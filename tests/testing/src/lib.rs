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
//! operator has the permissions of its generated role and no others. A run that needs five minutes of real time is a finding: the
//! clock does not advance while work is queued without end.
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
//! # Other clusters
//! Each kubeconfig that a remote node of the operator names is that of a sandbox of its own, which exists a second later.
//! [`Check::RemoteClusters`] disturbs these sandboxes: connections fail, credentials change, objects vanish, an empty cluster replaces
//! another one, or a cluster is restored from a backup while the program does not run.
//!
//! # Buckets
//! The objects of kinds in buckets are in buckets of the trial, which stay when the operator stops. Their calls have the numbers and faults
//! of those to the API server: a report has `put units/shop.web`, or `put units/_claim.shop.web` for the claim of an object. These kinds
//! have no generated samples, so [`Trial::sample`] adds some. [`Check::Buckets`] disturbs the buckets as clients do that know nothing of
//! Kubernetes. Each bucket has entries of other clients, which must stay as they are.
//!
//! # External services
//! [`trial_with_service`] tries an operator with nodes of things that no API server stores, over a simulation of their service: see
//! [`external_service`].
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
//! # Drivers
//! [`driver`] is another suite, for drivers of CD systems. It needs no cluster.
//!
//! # Implementations of buckets
//! [`bucket`] is another suite, for implementations of [`Bucket`](opgen::bucket::Bucket): stores of keys and values.
//!
//! # Replay
//! A finding has the schedule of its run, such as `after:17`. `OPGEN_REPLAY=after:17 cargo test` runs only that schedule and
//! shows its whole timeline. `OPGEN_REPORT=FOLDER cargo test` also writes the report as a page: [`Report::page`].

#![warn(missing_docs)]

mod admin;
mod api_server;
pub mod bucket;
mod check;
mod cluster_disturbance;
mod diff;
pub mod driver;
pub mod external_service;
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
mod secret_data;
mod service_event;
mod simulation;
mod snapshot;
mod store_disturbance;
mod stored_kind;
mod suite;
mod target;
mod trial;
mod variant;
mod watchdog;
mod webhook_schedule;

pub use check::Check;
pub use opgen_sandbox::fault::{FaultClass, Faults, Timeline};
pub use program::{Manifests, Program, ProgramWebhooks, Respond};
pub use report::{CheckSummary, Finding, Report, TrialError};
pub use schedule::{InvalidSchedule, Schedule};
pub use stored_kind::{BUCKET_ANNOTATION, UNCONTROLLED_ANNOTATION};
pub use trial::{Trial, trial, trial_of, trial_with_service};
