//! Cases of the suites that need a control plane: each an async function with a plane, run by `libtest-mimic`.

use std::{
    process::{Command, ExitCode},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::{Builder, Runtime};

use crate::{
    Form, Options, Plane,
    binaries::{self, planes_folder},
    folder::Folder,
    plane::PLANE,
};

/// Turns a case that can't run for want of a control plane from an ignored one into a failure.
pub const REQUIRE: &str = "OPGEN_REQUIRE_CONTROLPLANE";

/// No case may take longer: what hangs is told by name.
const LIMIT: Duration = Duration::from_secs(900);

/// What a case may give: nothing, or a result.
pub trait Outcome {
    /// As a verdict.
    fn verdict(self) -> Result<(), Failed>;
}

impl Outcome for () {
    fn verdict(self) -> Result<(), Failed> {
        Ok(())
    }
}

impl<E: std::fmt::Display> Outcome for Result<(), E> {
    fn verdict(self) -> Result<(), Failed> {
        self.map_err(|error| error.to_string().into())
    }
}

/// A case on a sandbox of its own, without a port and on a clock that waits for nothing; or on the control plane that all
/// such cases share: in namespaces of its own ([`Plane::namespace`]), with cluster-wide objects under names of its own,
/// and without a stop of anything.
pub fn case<F, R>(name: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    match Form::chosen() {
        Form::ControlPlane | Form::Cluster => case_served(name, body),
        Form::Sandbox => case_on(name, Options::default(), body),
    }
}

/// A case that needs a port, for programs, kubectl or probes: on the plane that all such cases share.
pub fn case_served<F, R>(name: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    let options = Options::served();
    trial(options.form, &full_name(&options, name), move || {
        let runtime = runtime(&options);
        let plane = shared(&SHARED, &runtime)?;
        run(&runtime, body(plane))
    })
}

/// A case on a plane of its own.
pub fn case_on<F, R>(name: &str, options: Options, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    trial(options.form, &full_name(&options, name), move || {
        let runtime = runtime(&options);
        let plane = runtime.block_on(Plane::start(options)).map_err(|missing| missing.to_string())?;
        run(&runtime, body(Arc::new(plane)))
    })
}

/// A case that a sandbox can't stand for, and `why`: ignored there, and on a plane of its own where the real one is.
pub fn case_on_controlplane<F, R>(name: &str, why: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    match Form::chosen() {
        Form::ControlPlane | Form::Cluster => case_on(name, Options::default(), body),
        Form::Sandbox => Trial::test(format!("sandbox::{name}"), || Ok(())).with_kind(why).with_ignored_flag(true),
    }
}

/// A case of the cluster's course, on a cluster of its own, so that it may stop anything: what needs a scheduler, nodes,
/// and all controllers. With another form it is ignored.
pub fn case_on_cluster<F, R>(name: &str, options: Options, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    let options = Options { form: Form::Cluster, served: true, ..options };
    course(name, move || {
        let runtime = runtime(&options);
        let plane = runtime.block_on(Plane::start(options)).map_err(|missing| missing.to_string())?;
        run(&runtime, body(Arc::new(plane)))
    })
}

/// A case of the cluster's course on the cluster that only these cases share, one at a time: in namespaces of its own. It may
/// define kinds and remove them, and stop servers if it starts them again.
pub fn case_on_shared_cluster<F, R>(name: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    course(name, move || {
        let runtime = runtime(&Options::served());
        let plane = shared(&SHARED_BY_COURSE, &runtime)?;
        run(&runtime, body(plane))
    })
}

/// Of the course one case runs at a time: each takes the whole machine.
fn course(name: &str, body: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    let name = format!("{COURSE}{name}");
    if Form::chosen() != Form::Cluster {
        let why = format!("only a cluster can run it: {PLANE}=course");
        return Trial::test(name, || Ok(())).with_kind(why).with_ignored_flag(true);
    }
    trial(Form::Cluster, &name, move || {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        body()
    })
}

/// What the names of the course's cases begin with.
const COURSE: &str = "course::";

static ALONE: Mutex<()> = Mutex::new(());

/// The whole of a suite's `main`: runs the cases that the command line asks for, then stops the shared plane. If both
/// forms are asked for, the program runs once more for each, and once for the course of the cluster.
pub fn run_suites(cases: Vec<Trial>) -> ExitCode {
    if Form::both() {
        return run_both();
    }
    if is_required() {
        // No case has to wait for it, nor to share the machine with it. Where it fails, the cases say so.
        let _ = binaries::find(Form::chosen());
    }
    let cases = cases.into_iter().filter(|case| !Form::course_alone() || case.name().starts_with(COURSE)).collect();
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or_else(default_threads);
    let conclusion = libtest_mimic::run(&arguments, cases);
    for plane in [&SHARED, &SHARED_BY_COURSE] {
        drop(plane.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
    Folder::sweep(&planes_folder());
    conclusion.exit_code()
}

/// Cases spend most of their time waiting for servers, so twice as many as cores run at a time. The course runs its own alone.
fn default_threads() -> Option<usize> {
    std::thread::available_parallelism().ok().map(|cores| cores.get() * 2)
}

fn run_both() -> ExitCode {
    let succeeds = |plane: &str| {
        let program = std::env::current_exe().expect("this program's path");
        let arguments = std::env::args_os().skip(1);
        let status = Command::new(program).args(arguments).env(PLANE, plane).status();
        status.expect("this program can be run again").success()
    };
    let ended = ["sandbox", "controlplane", "course"].map(succeeds);
    if ended.iter().all(|well| *well) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A case of that form. One that needs the real plane is ignored without Go and without assets, and shows why where
/// libtest shows a kind.
pub fn trial(form: Form, name: &str, body: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    match binaries::availability(form) {
        Err(missing) if form != Form::Sandbox => {
            let kind = format!("no {form}: {missing}");
            Trial::test(name, move || Err(kind_of(&missing).into())).with_kind(kind).with_ignored_flag(!is_required())
        }
        _ => Trial::test(name, body),
    }
}

fn is_required() -> bool {
    std::env::var_os(REQUIRE).is_some_and(|value| value != "0")
}

/// `sandbox::NAME`, `sandbox::served::NAME`, `controlplane::NAME` or `cluster::NAME`, so that those that wait for nothing can be chosen.
fn full_name(options: &Options, name: &str) -> String {
    match options.form {
        Form::Sandbox if options.served => format!("{}::served::{name}", options.form),
        form => format!("{form}::{name}"),
    }
}

fn kind_of(missing: &binaries::Missing) -> String {
    format!(
        "this case needs a control plane, but {missing}; install Go or set {} to a folder with one",
        binaries::ASSETS
    )
}

/// Several threads, as an operator's own; where the whole cluster is in it, one thread and a clock that jumps.
fn runtime(options: &Options) -> Runtime {
    let runtime = if options.is_inner() {
        Builder::new_current_thread().enable_all().start_paused(true).build()
    } else {
        Builder::new_multi_thread().worker_threads(2).enable_all().build()
    };
    runtime.expect("a tokio runtime")
}

fn run<R: Outcome>(runtime: &Runtime, body: impl Future<Output = R>) -> Result<(), Failed> {
    let limited = async { tokio::time::timeout(LIMIT, body).await };
    match runtime.block_on(limited) {
        Ok(outcome) => outcome.verdict(),
        Err(_) => Err(format!("the case was not done after {LIMIT:?}").into()),
    }
}

/// A plane that cases share, started by the first of them. A start that failed fails each of them.
type SharedPlane = Mutex<Option<Arc<Plane>>>;

static SHARED: SharedPlane = Mutex::new(None);

/// Not [`SHARED`]: cases of the course remove definitions and run operators for all namespaces.
static SHARED_BY_COURSE: SharedPlane = Mutex::new(None);

fn shared(plane: &SharedPlane, runtime: &Runtime) -> Result<Arc<Plane>, Failed> {
    let mut shared = plane.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plane) = &*shared {
        return Ok(plane.clone());
    }
    let plane = runtime.block_on(Plane::start(Options::served())).map_err(|missing| missing.to_string())?;
    Ok(shared.insert(Arc::new(plane)).clone())
}
