//! One suite, two servers: scripts of requests are played on the sandbox and on the real kube-apiserver, and the answers
//! are compared field by field. What may differ stands in `allowed.yaml`, what differs still in `open.yaml`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod allowed;
mod comparison;
mod kinds;
mod kubectl;
mod normal;
mod open;
mod random;
mod real;
mod script;
mod side;
mod table;
mod transcript;

use std::{
    hash::{BuildHasher as _, RandomState},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

use libtest_mimic::{Arguments, Trial};
use opgen_tests::{Form, Options, Plane, binaries, case::trial};
use tokio::runtime::{Builder, Runtime};

use self::{
    allowed::Allowed, comparison::Comparison, kubectl::Session, open::Open, real::Real, script::Case, side::Server,
};

/// A folder for what differs, one file a room.
const DIFFERENCES: &str = "OPGEN_CONFORMANCE_DIFFERENCES";

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Most of the time a case waits for the real server.
    arguments.test_threads.get_or_insert(8);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = [script::all(&folder.join("cases")), kinds::all(&folder.join("kinds.yaml")), random::all()].concat();
    let mut rooms: Vec<_> = cases.iter().map(|case| case.room.clone()).collect();
    rooms.sort();
    rooms.dedup();
    rooms.push("kubectl".to_owned());
    let sessions = kubectl::all(&folder.join("kubectl.yaml"));
    let of_sessions = sessions.iter().map(Session::title);
    let names: Vec<_> = cases.iter().map(|case| case.name.clone()).chain(of_sessions).collect();
    let (allowed, open) = (folder.join("allowed.yaml"), folder.join("open.yaml"));
    let run = Arc::new(Run {
        runtime: Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a tokio runtime"),
        real: Real::default(),
        served: Mutex::default(),
        comparison: Comparison::new(Allowed::read(&allowed), Open::read(&open, &names)),
        // Another cluster than our own has the namespaces of earlier runs.
        prefix: format!("c{:06x}", RandomState::new().hash_one(0) & 0xff_ffff),
    });
    let sessions = sessions.into_iter().enumerate().map(|(at, session)| run.clone().session(at, session));
    let scripts = cases.into_iter().enumerate().map(|(at, case)| run.clone().trial(at, case));
    let trials = [table::case()].into_iter().chain(scripts).chain(sessions).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    run.real.stop();
    drop(run.served.lock().unwrap_or_else(PoisonError::into_inner).take());
    if let Some(folder) = std::env::var_os(DIFFERENCES).map(PathBuf::from) {
        run.comparison.write(&folder, &rooms);
    }
    if !arguments.list {
        tell(&run.comparison);
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
    /// The sandbox behind HTTPS, for kubectl.
    served: Mutex<Option<Arc<Plane>>>,
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

impl Run {
    fn session(self: Arc<Self>, at: usize, session: Session) -> Trial {
        let name = session.title();
        trial(Form::ControlPlane, &name.clone(), move || {
            let namespace = format!("{}-k{at}", self.prefix);
            self.runtime.block_on(async {
                let binaries = binaries::find(Form::ControlPlane)?;
                let (real, sandbox) = (self.real.kubeconfig().await?, self.served().await?);
                let real = kubectl::play(&binaries, &real, &session, &namespace).await;
                let sandbox = kubectl::play(&binaries, sandbox.kubeconfig(), &session, &namespace).await;
                let lines: Vec<_> = session.run.iter().map(|line| line.arguments.as_str()).collect();
                self.comparison.judge("kubectl", &name, &lines, &real, &sandbox).map_err(Into::into)
            })
        })
    }

    /// Started by the first session.
    async fn served(&self) -> Result<Arc<Plane>, String> {
        let known = self.served.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(plane) = known {
            return Ok(plane);
        }
        let options = Options { form: Form::Sandbox, kubelet: false, ..Options::served() };
        let plane = Arc::new(Plane::start(options).await.map_err(|missing| missing.to_string())?);
        // Of two that started at once the first stays.
        Ok(self.served.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(plane).clone())
    }
}

/// What the run came to.
#[allow(clippy::print_stdout)]
fn tell(comparison: &Comparison) {
    let ((equal, known), (rows, sentences)) = (comparison.open.played(), comparison.allowed.used());
    println!("equal {equal}, known to differ {known} (open.yaml); allowed differences used {rows} (allowed.yaml)");
    println!("sentences of validation and decoding that differ: {sentences} (not compared)\n");
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
