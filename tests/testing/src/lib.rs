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
//! # Replay
//! What fails says its course, such as `after:17`. `OPGEN_REPLAY=after:17 cargo test` runs that alone and shows all that was
//! asked and told. `OPGEN_REPORT=FOLDER cargo test` writes the report as a page, too: [`Report::page`].

mod course;
mod difference;
mod edit;
mod hold;
mod install;
mod life;
mod page;
mod pool;
mod prepared;
mod program;
mod report;
mod rights;
mod state;
mod step;
mod trial;

pub use course::{Course, NoCourse};
pub use opgen_sandbox::fault::{Class, Timeline};
pub use program::{Manifests, Program};
pub use report::{Check, Failed, Finding, Report, Step};
pub use trial::{Trial, trial, trial_of};
