//! `Trial`: builds and runs a test of an operator with injected faults, from a program, sample objects, the checks to run and their bounds.

use std::{collections::BTreeSet, ops::Range, sync::Arc, thread::available_parallelism};

use opgen::{Operator, bucket::OpenBuckets};
use opgen_sandbox::fault::Timeline;
use serde::Serialize;
use serde_json::Value;

use crate::{
    check::Check,
    external_service::{OperatorWithService, ProgramWithService, ServiceSettings, SimulatedService},
    page,
    program::{OpgenProgram, Program},
    report::{Finding, Report},
    scenario,
    schedule::{InvalidSchedule, Schedule},
    suite::{self, Bounds},
    target::{BucketLayer, Target},
};

/// Creates a trial, a test with injected faults, of an opgen operator. The function builds the operator for each process.
///
/// # Examples
/// ```no_run
/// # fn operator() -> opgen::Operator { opgen::Operator::new("webapp") }
/// let report = opgen_testing::trial(operator).seeds(0..1000).run();
/// assert!(report.is_clean(), "{report}");
/// ```
pub fn trial(operator: impl Fn() -> Operator + Clone + Send + Sync + 'static) -> Trial {
    let with_policy = operator.clone();
    let mut trial = trial_of(OpgenProgram::new(operator, false));
    trial.with_policy = Some(Arc::new(OpgenProgram::new(with_policy, true)));
    trial
}

/// Creates a trial of an opgen operator with nodes of things that no API server stores ([`opgen::external`]). The function builds the
/// operator for each process over the service of the run, such as with the options of its controller. It must not keep the
/// [`SimulatedService`] for another process.
///
/// The calls to the service have the faults of the run, and its things are a part of the compared state: see
/// [`external_service`](crate::external_service). Such a trial has no [`Check::Upgrade`], and [`Trial::upgrades_from`] is an error.
///
/// # Examples
/// ```no_run
/// # fn operator(_: opgen_testing::external_service::SimulatedService<String>) -> opgen::Operator { opgen::Operator::new("zones") }
/// use opgen_testing::{external_service::ServiceSettings, trial_with_service};
///
/// let settings = ServiceSettings::<String>::new("DNS record").drift(|address| *address = "192.0.2.99".to_owned());
/// let report = trial_with_service(settings, operator).run();
/// assert!(report.is_clean(), "{report}");
/// ```
pub fn trial_with_service<T>(
    settings: ServiceSettings<T>,
    operator: impl Fn(SimulatedService<T>) -> Operator + Send + Sync + 'static,
) -> Trial
where
    T: Clone + Serialize + Send + Sync + 'static,
{
    let operator: Arc<dyn Fn(SimulatedService<T>) -> Operator + Send + Sync> = Arc::new(operator);
    let (build, detached) = (operator.clone(), settings.clone());
    // The manifests do not depend on the service, so they come from an operator with a service of its own.
    let trial = trial(move || build(SimulatedService::new(detached.clone())));
    Trial { service: Some(Arc::new(OperatorWithService::new(settings, operator))), ..trial }
}

/// Creates a trial, a test with injected faults, of any other program, with all checks and the default bounds.
pub fn trial_of(program: impl Program + 'static) -> Trial {
    Trial {
        program: Arc::new(program),
        with_policy: None,
        service: None,
        older_release: None,
        samples: Vec::new(),
        checks: Check::ALL.iter().copied().collect(),
        seeds: 0..SEEDS,
        pairs: PAIRS,
        bucket_layer: None,
        threads: available_parallelism().map_or(1, usize::from),
    }
}

/// The default number of seeds, and of pairs of stops.
const SEEDS: u64 = 33;
const PAIRS: usize = 30;

/// A trial: runs a program through fault schedules and compares the results.
pub struct Trial {
    pub(crate) program: Arc<dyn Program>,
    /// The program with the finalizer policy among its manifests, for [`Trial::finalizer_policy`].
    with_policy: Option<Arc<dyn Program>>,
    service: Option<Arc<dyn ProgramWithService>>,
    older_release: Option<Arc<dyn Program>>,
    samples: Vec<Value>,
    checks: BTreeSet<Check>,
    seeds: Range<u64>,
    pairs: usize,
    threads: usize,
    bucket_layer: Option<BucketLayer>,
}

impl Trial {
    /// Adds a sample, in place of the generated ones; samples are created in the order of these calls.
    ///
    /// An object that can't be serialized is reported when the trial runs.
    #[must_use]
    pub fn sample(mut self, object: &impl Serialize) -> Self {
        self.samples.push(serde_json::to_value(object).unwrap_or_default());
        self
    }

    /// Installs the generated admission policy that adds the finalizer to new objects.
    #[must_use]
    pub fn finalizer_policy(mut self) -> Self {
        self.program = self.with_policy.take().unwrap_or(self.program);
        self
    }

    /// Upgrades from an older release of the operator, for [`Check::Upgrade`]: the older release reconciles the samples until it
    /// is at rest, then the operator takes over, then the older release again. Further runs stop the operator after each of the
    /// calls that it makes until it is at rest, and add random faults from every third seed.
    ///
    /// The objects that both releases want must stay: an object of the same kind, namespace and name keeps its UID and its
    /// generated Secret values, and is not deleted. The final state must be the same as without an older release.
    /// Default: no older release, and nothing is checked.
    ///
    /// A trial of [`trial_with_service`] can't upgrade, since an older release would need the service of the run: its report has an error.
    ///
    /// ```no_run
    /// # mod v1 { pub fn operator() -> opgen::Operator { opgen::Operator::new("webapp") } }
    /// # mod v2 { pub fn operator() -> opgen::Operator { opgen::Operator::new("webapp") } }
    /// #[test]
    /// fn it_takes_over_from_the_last_release() -> Result<(), opgen_testing::TrialError> {
    ///     opgen_testing::trial(v2::operator).upgrades_from(v1::operator).run().verdict()
    /// }
    /// ```
    ///
    /// The older release is usually a dev-dependency on the published crate, under another name:
    /// `webapp-v1 = { package = "webapp-controller", version = "1" }`; or a module with a copy of the older tree.
    #[must_use]
    pub fn upgrades_from(self, operator: impl Fn() -> Operator + Send + Sync + 'static) -> Self {
        self.upgrades_from_program(OpgenProgram::new(operator, false))
    }

    /// Upgrades from an older release like [`Trial::upgrades_from`], for any other program.
    #[must_use]
    pub fn upgrades_from_program(mut self, program: impl Program + 'static) -> Self {
        self.older_release = Some(Arc::new(program));
        self
    }

    /// Runs these checks only. Default: all.
    #[must_use]
    pub fn only(mut self, checks: impl IntoIterator<Item = Check>) -> Self {
        self.checks = checks.into_iter().collect();
        self
    }

    /// Sets the seeds of [`Check::RandomFaults`], and every third of them of [`Check::Webhooks`] and [`Check::Upgrade`]. Default: 33,
    /// which includes a run with each fault class alone.
    #[must_use]
    pub fn seeds(mut self, seeds: Range<u64>) -> Self {
        self.seeds = seeds;
        self
    }

    /// Sets the maximum number of pairs of stops, taken evenly from all pairs. Default: 30.
    #[must_use]
    pub fn pairs(mut self, most: usize) -> Self {
        self.pairs = most;
        self
    }

    /// Puts a layer between each process of the program and the buckets of the trial, such as one that encrypts values, which the operator
    /// itself passes to [`Operator::buckets`]. Default: none. The trial replaces all that the operator passes there.
    ///
    /// ```no_run
    /// # use std::sync::Arc;
    /// # use opgen::bucket::OpenBuckets;
    /// # fn operator() -> opgen::Operator { opgen::Operator::new("units") }
    /// # fn encrypted(buckets: Arc<dyn OpenBuckets>) -> Arc<dyn OpenBuckets> { buckets }
    /// let report = opgen_testing::trial(operator).bucket_layer(encrypted).run();
    /// # drop(report);
    /// ```
    #[must_use]
    pub fn bucket_layer(
        mut self,
        layer: impl Fn(Arc<dyn OpenBuckets>) -> Arc<dyn OpenBuckets> + Send + Sync + 'static,
    ) -> Self {
        self.bucket_layer = Some(Arc::new(layer));
        self
    }

    /// Sets the number of concurrent runs. Default: the number of cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Runs the checks, or only the schedule in `OPGEN_REPLAY` as [`Trial::replay`] does. If `OPGEN_REPORT` is set, the report is
    /// also written there as a [page](Report::page): to that file if it ends in `.html`, else into that folder.
    #[must_use]
    pub fn run(&self) -> Report {
        page::write_if_requested(self.run_checks_or_replay())
    }

    /// Runs the checks, or only the schedule in `OPGEN_REPLAY`, without writing a page.
    fn run_checks_or_replay(&self) -> Report {
        if let Some(schedule) = std::env::var("OPGEN_REPLAY").ok().filter(|schedule| !schedule.is_empty()) {
            return self
                .replay(&schedule)
                .unwrap_or_else(|error| self.setup_error("the schedule is invalid", &error.to_string()));
        }
        match self.targets() {
            Ok((target, older)) => {
                let bounds = Bounds { seeds: self.seeds.clone(), pairs: self.pairs, threads: self.threads };
                suite::run(&target, older.as_ref(), &self.checks, &bounds)
            }
            Err(error) => self.setup_error("failed to install the program", &error),
        }
    }

    /// Runs one schedule, such as `after:17`; the report shows its whole timeline.
    ///
    /// # Errors
    /// If the text is not a schedule.
    pub fn replay(&self, schedule: &str) -> Result<Report, InvalidSchedule> {
        let schedule: Schedule = schedule.parse()?;
        Ok(match self.targets() {
            Ok((target, older)) => suite::replay(&target, older.as_ref(), &schedule),
            Err(error) => self.setup_error("failed to install the program", &error),
        })
    }

    /// Returns the timeline of one schedule, such as `chance:3`.
    ///
    /// # Errors
    /// If the text is not a schedule, or the program can't be installed.
    pub fn timeline(&self, schedule: &str) -> Result<Timeline, Box<dyn std::error::Error + Send + Sync>> {
        let schedule: Schedule = schedule.parse()?;
        let (target, older) = self.targets()?;
        Ok(scenario::execute(&target, older.as_ref(), &schedule).timeline)
    }

    /// Returns the program under test and its older release, which is `None` without one, with their manifests and samples.
    ///
    /// # Errors
    /// If the manifests of one of them can't be used, or if a trial with a service has an older release.
    fn targets(&self) -> Result<(Target, Option<Target>), String> {
        let target = |program| {
            let target = Target::new(program, &self.samples)?;
            Ok::<_, String>(Target { bucket_layer: self.bucket_layer.clone(), ..target })
        };
        let older = self.older_release.clone();
        if older.is_some() && self.service.is_some() {
            return Err("a trial with a service can't run an older release; remove `upgrades_from`".to_owned());
        }
        let current = target(self.program.clone())?.with_service(self.service.clone());
        Ok((current, older.map(target).transpose()?))
    }

    /// Returns a report whose only finding is that no run could start: the problem with the error that caused it.
    fn setup_error(&self, problem: &str, error: &str) -> Report {
        let finding = Finding {
            check: Check::Convergence,
            problem: format!("{problem}: {error}"),
            hint: "fix this first; no check was run".to_owned(),
            schedule: String::new(),
            difference: Vec::new(),
            timeline: Default::default(),
        };
        Report { program: self.program.name(), findings: vec![finding], ..Report::default() }
    }
}

impl std::fmt::Debug for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trial")
            .field("program", &self.program.name())
            .field("checks", &self.checks)
            .finish_non_exhaustive()
    }
}
