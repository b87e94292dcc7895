//! One suite, two servers: scripts of requests are played on the sandbox and on the real kube-apiserver, and the answers
//! are compared field by field. What may differ stands in `allowed.yaml`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod allowed;
mod comparison;
mod difference;
mod kinds;
mod normal;
mod real;
mod script;
mod side;
mod transcript;

use std::{
    hash::{BuildHasher as _, RandomState},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use libtest_mimic::{Arguments, Trial};
use opgen_tests::{Form, case::trial};
use tokio::runtime::{Builder, Runtime};

use self::{allowed::Allowed, comparison::Comparison, real::Real, script::Case, side::Server};

/// A folder for what differs, one file a room.
const DIFFERENCES: &str = "OPGEN_CONFORMANCE_DIFFERENCES";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = [script::all(&folder.join("cases")), kinds::all(&folder.join("kinds.yaml"))].concat();
    let mut rooms: Vec<_> = cases.iter().map(|case| case.room.clone()).collect();
    rooms.sort();
    rooms.dedup();
    let run = Arc::new(Run {
        runtime: Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a tokio runtime"),
        real: Real::default(),
        comparison: Comparison::new(Allowed::read(&folder.join("allowed.yaml"))),
        // Another cluster than our own has the namespaces of earlier runs.
        prefix: format!("c{:06x}", RandomState::new().hash_one(0) & 0xff_ffff),
    });
    let trials = cases.into_iter().enumerate().map(|(at, case)| run.clone().trial(at, case)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    run.real.stop();
    if let Some(folder) = std::env::var_os(DIFFERENCES).map(PathBuf::from) {
        run.comparison.write(&folder, &rooms);
    }
    let complete = conclusion.num_filtered_out == 0 && conclusion.num_ignored == 0 && !arguments.list;
    if complete && !every_row_was_needed(&run.comparison.allowed) {
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// What all cases share.
struct Run {
    runtime: Runtime,
    real: Real,
    comparison: Comparison,
    prefix: String,
}

impl Run {
    fn trial(self: Arc<Self>, at: usize, case: Case) -> Trial {
        trial(Form::ControlPlane, &case.name.clone(), move || {
            let namespace = format!("{}-{at}", self.prefix);
            self.runtime.block_on(async {
                let real = Server::Real(self.real.client().await?);
                self.comparison.of(real, &case, &namespace).await.map_err(Into::into)
            })
        })
    }
}

/// A row that nothing needs hides what goes wrong later.
#[allow(clippy::print_stderr)]
fn every_row_was_needed(allowed: &Allowed) -> bool {
    let unused: Vec<_> = allowed.unused().collect();
    for row in &unused {
        eprintln!("allowed.yaml: no case needed `{}` at `{}` ({}); remove the row", row.case, row.path, row.reason);
    }
    unused.is_empty()
}
