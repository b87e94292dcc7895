//! The whole life of an operator as a test, without a cluster: it is stopped at every call, hit by every fault, its objects
//! are edited and deleted, and each time the end must be the same as if nothing had happened.
//!
//! ```no_run
//! # mod webapp_controller { pub fn operator() -> opgen::Operator { opgen::Operator::new("webapp") } }
//! # #[allow(dead_code)]
//! #[test]
//! fn it_lives_through_everything() -> Result<(), opgen_testing::Failed> {
//!     opgen_testing::trial(webapp_controller::operator).run().verdict()
//! }
//! ```
//!
//! A run happens on a [sandbox](opgen_sandbox) in the process, on a paused clock: waiting is free, and the same course gives
//! the same calls. The operator has the rights of its generated role and no others.
//!
//! # Upgrades
//! `trial(v2::operator).upgrades_from(v1::operator)` runs the older release until it is at rest, then the newer one, stopped
//! after each of its first calls: what both want keeps its uid; see [`Trial::upgrades_from`].
//!
//! # Invariants
//! Beside the comparison of ends, each run holds these, and names the object that breaks one:
//!
//! - No task of the program panics, also where the program contains the panic.
//! - An object that stays wanted keeps its uid: it is deleted and made anew only where the server takes no such change, and
//!   never if it holds data, as a claim does.
//! - A value that chance decides, such as a password, stays the same while its object does.
//! - Objects of somebody else are left alone. There is one of each kind that the role lets the program change in each namespace
//!   of the samples and of what is made of them, and in another one; and some with the labels by which applications are known
//!   (`app`, `app.kubernetes.io/name`) that objects of the program carry.
//! - What is made of an object is made of that object alone: a second object comes and goes beside each sample.
//! - After an edit that the schema admits no call is repeated that the server refuses, and no pass fails for ever. Who waits for
//!   somebody else says so in the status, as a new object's does.
//! - Nobody writes one path more than 500 times between two rests; the report has the path and the server's last answer.
//!
//! A program may poll: a read that it repeats is no unrest, as long as it reads one path at most once a second.
//!
//! # Replay
//! What fails says its course, such as `after:17`. `OPGEN_REPLAY=after:17 cargo test` runs that alone and shows all that was
//! asked and told. `OPGEN_REPORT=FOLDER cargo test` writes the report as a page, too: [`Report::page`].

mod again;
mod beside;
mod bystander;
mod course;
mod difference;
mod edit;
mod failing;
mod hold;
mod idle;
mod install;
mod life;
mod lived;
mod observer;
mod page;
mod panics;
mod pool;
mod prepared;
mod program;
mod remade;
mod report;
mod rights;
mod state;
mod step;
mod surroundings;
mod trial;
mod writes;

pub use course::{Course, NoCourse};
pub use opgen_sandbox::fault::{Class, Timeline};
pub use program::{Manifests, Program};
pub use report::{Check, Failed, Finding, Report, Step};
pub use trial::{Trial, trial, trial_of};
