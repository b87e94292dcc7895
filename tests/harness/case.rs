//! Runs the tests that need an API server as trials of `libtest-mimic`: async functions that get a `Plane`, the API server of the test.

use std::{
    process::{Command, ExitCode},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::{Builder, Runtime};

use crate::{
    Form, Options, Plane,
    binaries::{self, Missing, planes_folder},
    cd_systems, durations,
    folder::Folder,
    nats,
    plane::PLANE,
    tools, watchdog,
};

/// The environment variable that makes cases fail, instead of being ignored, if the control plane is not available.
pub const REQUIRE: &str = "OPGEN_REQUIRE_CONTROLPLANE";

/// The maximum duration of a case by the clock of its runtime, so that a case that hangs fails with its name.
const LIMIT: Duration = Duration::from_secs(1800);

/// A return type of a case: `()` or a `Result`.
pub trait Outcome {
    /// Converts the return value to the result of a trial.
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

/// Returns a test case on a sandbox (an API server in this process) of its own, without a port and with tokio's paused clock. If
/// `OPGEN_PLANE` selects a control plane or a cluster, the case runs on one that cases share. So it has to use its own namespaces
/// ([`Plane::namespace`]) and unique names of cluster-scoped objects, and must not stop servers.
pub fn case<F, R>(name: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    match Form::from_environment() {
        Form::ControlPlane | Form::Cluster => case_served(name, body),
        Form::Sandbox => case_on(name, Options::default(), body),
    }
}

/// Returns a test case on the API server that such cases share, in real time and with a port, for programs, kubectl or probes.
pub fn case_served<F, R>(name: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    case_prepared(name, || Ok(()), body)
}

/// Returns a test case of operators that store objects in NATS key-value buckets. On a sandbox it is a plain [`case`], and its buckets are
/// in memory. On a control plane it needs nats-server: if there is none, the case is ignored, or fails if [`nats::REQUIRE`] is set.
pub fn case_with_buckets<F, R>(name: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    if Form::from_environment() == Form::Sandbox {
        return case(name, body);
    }
    let without_server = nats::case_without_server(&full_name(&Options::served(), name));
    without_server.unwrap_or_else(|| case_prepared(name, || nats::find().map(drop), body))
}

/// Returns a test case on the API server that cases share. `prepare` builds the programs that the case needs, before the time limit of the
/// case begins.
fn case_prepared<F, R>(
    name: &str,
    prepare: impl FnOnce() -> Result<(), Missing> + Send + 'static,
    body: impl FnOnce(Arc<Plane>) -> F + Send + 'static,
) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    let options = Options::served();
    trial(options.form, &full_name(&options, name), move || {
        prepare().map_err(|missing| missing.to_string())?;
        let runtime = runtime(&options);
        let plane = shared(&SHARED, &runtime)?;
        run(&runtime, body(plane))
    })
}

/// Returns a test case that starts an API server with these options for itself. If that is a sandbox on a paused clock, a watchdog also
/// limits the [real time](Options::real_time_limit) of the case.
pub fn case_on<F, R>(name: &str, options: Options, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    let (name, form) = (full_name(&options, name), options.form);
    let limit = options.is_inner().then_some(options.real_time_limit);
    let run_case = move || {
        let runtime = runtime(&options);
        let plane = runtime.block_on(Plane::start(options)).map_err(|missing| missing.to_string())?;
        run(&runtime, body(Arc::new(plane)))
    };
    let thread_name = name.clone();
    trial(form, &name, move || match limit {
        Some(limit) => watchdog::run(&thread_name, limit, run_case),
        None => run_case(),
    })
}

/// Returns a test case that needs Helm or kustomize. It starts its own API server, which listens on a port. If the tools don't exist and
/// can't be built, the case is ignored, or fails if [`REQUIRE`] is set.
pub fn case_with_tools<F, R>(name: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    let options = Options::served();
    let name = full_name(&options, name);
    if let Err(missing) = tools::availability() {
        let why = missing.to_string();
        return Trial::test(name, move || Err(missing.to_string().into()))
            .with_kind(why)
            .with_ignored_flag(!is_required());
    }
    trial(options.form, &name, move || {
        // Builds the tools if they are missing, before the time limit of the case begins.
        tools::find().map_err(|missing| missing.to_string())?;
        let runtime = runtime(&options);
        let plane = runtime.block_on(Plane::start(options)).map_err(|missing| missing.to_string())?;
        run(&runtime, body(Arc::new(plane)))
    })
}

/// Returns a test case that a sandbox can't run, for the reason `why`. It is ignored if the sandbox is selected, and otherwise starts a
/// control plane or cluster of its own.
pub fn case_on_controlplane<F, R>(name: &str, why: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    case_on_controlplane_with(name, why, Options::default(), body)
}

/// Returns a test case as [`case_on_controlplane`] does, which starts its API server with these options.
pub fn case_on_controlplane_with<F, R>(
    name: &str,
    why: &str,
    options: Options,
    body: impl FnOnce(Arc<Plane>) -> F + Send + 'static,
) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    match Form::from_environment() {
        Form::ControlPlane | Form::Cluster => case_on(name, options, body),
        Form::Sandbox => Trial::test(format!("sandbox::{name}"), || Ok(())).with_kind(why).with_ignored_flag(true),
    }
}

/// Returns a case that takes long, ignored if `OPGEN_PLANE` selects a control plane. It still runs on the sandbox, and each night on a
/// cluster.
pub fn long(case: Trial) -> Trial {
    match Form::from_environment() {
        Form::ControlPlane => case.with_kind("long; the nightly run has it on a cluster").with_ignored_flag(true),
        Form::Sandbox | Form::Cluster => case,
    }
}

/// Returns a case that takes minutes. With `OPGEN_PLANE=both`, which runs all cases on the sandbox and then on a control plane, it is
/// ignored on the sandbox.
pub fn skip_sandbox_in_both(case: Trial) -> Trial {
    if Form::from_environment() == Form::Sandbox && std::env::var_os(BOTH).is_some() {
        return case.with_kind("the control plane runs it after the sandbox").with_ignored_flag(true);
    }
    case
}

/// Returns a case of the cluster course (the test cases that need a scheduler, nodes and all controllers). It starts its own cluster, and
/// may stop any part of it. If `OPGEN_PLANE` does not select a cluster, the case is ignored.
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

/// Returns a case of the cluster course (the test cases that need a whole cluster) that needs Argo CD and Flux. It has its own cluster, and
/// starts Argo CD and Flux there itself.
pub fn case_with_cd_systems<F, R>(name: &str, body: impl FnOnce(Arc<Plane>) -> F + Send + 'static) -> Trial
where
    F: Future<Output = R>,
    R: Outcome,
{
    let options = Options { form: Form::Cluster, ..Options::served() };
    course(name, move || {
        // Builds the programs that are missing, before the time limit of the case begins.
        cd_systems::availability().map_err(|missing| missing.to_string())?;
        cd_systems::find().map_err(|missing| missing.to_string())?;
        tools::find().map_err(|missing| missing.to_string())?;
        let runtime = runtime(&options);
        let plane = runtime.block_on(Plane::start(options)).map_err(|missing| missing.to_string())?;
        run(&runtime, body(Arc::new(plane)))
    })
}

/// Returns a case of the cluster course (the test cases that need a whole cluster) on one cluster that these cases share. They run one at a
/// time, each in its own namespaces. A case may create and delete CustomResourceDefinitions, and stop servers if it starts them again.
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

/// Returns a case of the cluster course (the test cases that need a whole cluster), ignored if `OPGEN_PLANE` does not select a cluster. The
/// lock `ALONE` lets one of these cases run at a time, since each uses the whole machine.
fn course(name: &str, body: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    let name = format!("{COURSE}{name}");
    if Form::from_environment() != Form::Cluster {
        let why = format!("only a cluster can run it: {PLANE}=course");
        return Trial::test(name, || Ok(())).with_kind(why).with_ignored_flag(true);
    }
    let measured_name = name.clone();
    unmeasured_trial(Form::Cluster, &name, move || {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        durations::measured(measured_name, body)
    })
}

/// Set for each of the runs of `OPGEN_PLANE=both`.
const BOTH: &str = "OPGEN_PLANE_OF_BOTH";

/// The prefix of the names of the cases of the cluster course.
const COURSE: &str = "course::";

static ALONE: Mutex<()> = Mutex::new(());

/// Runs the test cases that the command line selects, as the `main` of a test program, and then stops the servers that they shared. With
/// `OPGEN_PLANE=both`, the program runs itself for the sandbox, for a control plane, and for the cases that need a cluster.
pub fn run_suites(cases: Vec<Trial>) -> ExitCode {
    if Form::is_both_selected() {
        return run_both();
    }
    if is_required() {
        // Builds the programs now, so that no case waits for the build or runs beside it. If it fails, the cases report the error.
        let _ = binaries::find(Form::from_environment());
    }
    if nats::is_required() && Form::from_environment() != Form::Sandbox {
        let _ = nats::find();
    }
    let cases = cases.into_iter().filter(|case| !Form::is_course_only() || case.name().starts_with(COURSE)).collect();
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or_else(default_threads);
    let conclusion = libtest_mimic::run(&arguments, cases);
    for plane in [&SHARED, &SHARED_BY_COURSE] {
        drop(plane.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
    nats::stop_shared();
    durations::print_slowest();
    Folder::remove_abandoned(&planes_folder());
    conclusion.exit_code()
}

/// Returns the number of cases that run at a time: several for each core, since they mostly wait for servers and for time to pass, more so
/// with a real API server. A lock lets the cases of the cluster course run one at a time in any case.
fn default_threads() -> Option<usize> {
    let for_each_core = if Form::from_environment() == Form::Sandbox { 3 } else { 5 };
    std::thread::available_parallelism().ok().map(|cores| cores.get() * for_each_core)
}

/// Runs this program again, with the same arguments, for each of the three values of `OPGEN_PLANE`, one after the other. All three run, and
/// the result is a failure if one of them fails.
fn run_both() -> ExitCode {
    let succeeds = |plane: &str| {
        let program = std::env::current_exe().expect("this program's path");
        let arguments = std::env::args_os().skip(1);
        let status = Command::new(program).args(arguments).env(PLANE, plane).env(BOTH, "1").status();
        status.expect("this program can be run again").success()
    };
    let successes = ["sandbox", "controlplane", "course"].map(succeeds);
    if successes.iter().all(|success| *success) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns a test case that runs `body` and records its duration. A case that needs a control plane or cluster, whose programs don't exist
/// and can't be built, is ignored, or fails if [`REQUIRE`] is set.
pub fn trial(form: Form, name: &str, body: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    let measured_name = name.to_owned();
    unmeasured_trial(form, name, move || durations::measured(measured_name, body))
}

/// Returns a test case that runs `body`. If the case needs a control plane or cluster whose programs don't exist and can't be built, it is
/// ignored, or fails if [`REQUIRE`] is set. The kind of the trial, which the list of cases shows, is the reason.
fn unmeasured_trial(form: Form, name: &str, body: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    match binaries::availability(form) {
        Err(missing) if form != Form::Sandbox => {
            let kind = format!("no {form}: {missing}");
            Trial::test(name, move || Err(missing_message(&missing).into()))
                .with_kind(kind)
                .with_ignored_flag(!is_required())
        }
        _ => Trial::test(name, body),
    }
}

fn is_required() -> bool {
    std::env::var_os(REQUIRE).is_some_and(|value| value != "0")
}

/// Returns the name of a case with the API server that it runs on as prefix: `sandbox::NAME`, `sandbox::served::NAME` for a sandbox with a
/// port, `controlplane::NAME` or `cluster::NAME`. So a filter can select the fast cases.
fn full_name(options: &Options, name: &str) -> String {
    match options.form {
        Form::Sandbox if options.served => format!("{}::served::{name}", options.form),
        form => format!("{form}::{name}"),
    }
}

/// Returns the message of a case that fails because a program is missing.
fn missing_message(missing: &Missing) -> String {
    format!(
        "this case needs a control plane, but {missing}; install Go or set {} to a folder with one",
        binaries::ASSETS
    )
}

/// Returns the tokio runtime of a case. It has several threads, as the runtime of an operator. For a sandbox that is a part of the runtime
/// (not served on a port), it has one thread and a paused clock.
fn runtime(options: &Options) -> Runtime {
    let runtime = if options.is_inner() {
        Builder::new_current_thread().enable_all().start_paused(true).build()
    } else {
        Builder::new_multi_thread().worker_threads(2).enable_all().build()
    };
    runtime.expect("a tokio runtime")
}

/// Runs the body of a case, and returns its result. It fails if the body takes longer than `LIMIT` by the clock of the runtime.
fn run<R: Outcome>(runtime: &Runtime, body: impl Future<Output = R>) -> Result<(), Failed> {
    let limited = async { tokio::time::timeout(LIMIT, body).await };
    match runtime.block_on(limited) {
        Ok(outcome) => outcome.verdict(),
        Err(_) => Err(format!("the case was not done after {LIMIT:?}").into()),
    }
}

/// A plane that cases share. The first of them starts it; if the start fails, each of them fails.
type SharedPlane = Mutex<Option<Arc<Plane>>>;

static SHARED: SharedPlane = Mutex::new(None);

/// The shared plane of the cluster course. It differs from [`SHARED`] because these cases remove definitions and run operators
/// for all namespaces.
static SHARED_BY_COURSE: SharedPlane = Mutex::new(None);

/// Returns the API server that cases share. The first call starts it, and other callers wait until it is ready.
fn shared(plane: &SharedPlane, runtime: &Runtime) -> Result<Arc<Plane>, Failed> {
    let mut started = plane.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plane) = &*started {
        return Ok(plane.clone());
    }
    let plane = runtime.block_on(Plane::start(Options::served())).map_err(|missing| missing.to_string())?;
    Ok(started.insert(Arc::new(plane)).clone())
}
