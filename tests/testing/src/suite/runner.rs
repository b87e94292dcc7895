//! Executes the test runs of each check, looks for problems in each run and collects the report.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use opgen_sandbox::fault::Timeline;

use super::plan::{self, Bounds};
use crate::{
    check::Check,
    oracle::{self, Baseline, Case},
    permission::{self, Permission},
    pool,
    report::{CheckSummary, Finding, Report},
    scenario::execute,
    schedule::Schedule,
    simulation::Outcome,
    target::Target,
};

/// The number of runs of the program for its footprint and its baseline: one, and two.
const BASELINE_RUNS: usize = 3;

/// Runs the program without faults, checks that it converges, then runs the chosen checks and reports their findings. `older` is an older
/// release to upgrade from. If a run without faults fails, reports only this and missing permissions.
pub(crate) fn run(target: &Target, older: Option<&Target>, checks: &BTreeSet<Check>, bounds: &Bounds) -> Report {
    let mut runner = Runner::new(target, older, bounds);
    let started = Instant::now();
    // Without a baseline there is nothing to compare other runs with.
    let baseline = match baseline(target, older) {
        Ok(baseline) => baseline,
        Err(finding) => {
            // A missing permission comes first: it may be the cause of the other finding.
            runner.add_permissions(&Schedule::undisturbed(1), &finding.timeline);
            runner.report.findings.extend(oracle::missing_permissions(&runner.lacking, runner.first_denied.take()));
            runner.report.findings.push(*finding);
            return runner.report;
        }
    };
    runner.add_permissions(&Schedule::undisturbed(1), &baseline.timeline);
    runner.report.timeline = baseline.timeline.clone();
    runner.report.findings.extend(oracle::convergence(target, &baseline));
    runner.report.steps.push(CheckSummary { check: Check::Convergence, runs: BASELINE_RUNS, took: started.elapsed() });
    for check in Check::ALL.iter().copied().filter(|check| checks.contains(check)) {
        let schedules = plan::schedules(check, target, older, &baseline, bounds);
        if !schedules.is_empty() {
            runner.run_check(check, &schedules, &baseline);
        }
    }
    if checks.contains(&Check::Role) {
        runner.check_role(checks);
    }
    runner.report
}

/// Runs the program without faults and then by one schedule, and reports the findings about the run of the schedule, with its whole
/// timeline.
pub(crate) fn replay(target: &Target, older: Option<&Target>, schedule: &Schedule) -> Report {
    let mut report = Report { program: target.name.clone(), whole: true, ..Report::default() };
    let started = Instant::now();
    match baseline(target, older) {
        Ok(baseline) => {
            let outcome = execute(target, older, schedule);
            let check = plan::check_of(schedule);
            report.findings = oracle::judge(&Case { check, target, schedule, outcome: &outcome }, older, &baseline);
            report.timeline = outcome.timeline;
            report.steps.push(CheckSummary { check, runs: 1, took: started.elapsed() });
        }
        Err(finding) => report.findings.push(*finding),
    }
    report
}

/// Creates the baseline with which other runs are compared. Runs a program twice without faults, with two seeds, since fields that differ
/// between these runs are not compared in others; and its older release once.
///
/// # Errors
/// The finding, if a run fails, or if the program leaves objects behind or misuses an external service.
fn baseline(target: &Target, older: Option<&Target>) -> Result<Baseline, Box<Finding>> {
    let (first_seed, second_seed) = (1, 2);
    let (first, second) = (run_undisturbed(target, first_seed)?, run_undisturbed(target, second_seed)?);
    let older = older.map(|older| run_undisturbed(older, first_seed)).transpose()?;
    // One of the two runs is enough for these checks.
    let schedule = Schedule::undisturbed(first_seed);
    let case = Case { check: Check::Convergence, target, schedule: &schedule, outcome: &first };
    match oracle::leaked_objects(&case).or_else(|| oracle::service_problem(&case)) {
        Some(finding) => Err(Box::new(finding)),
        None => Ok(Baseline::new(target, first, second, older)),
    }
}

/// Runs a program without faults, and returns the outcome.
///
/// # Errors
/// The finding, if the run fails or a task panics.
fn run_undisturbed(target: &Target, seed: u64) -> Result<Outcome, Box<Finding>> {
    let schedule = Schedule::undisturbed(seed);
    let outcome = execute(target, None, &schedule);
    let case = Case { check: Check::Convergence, target, schedule: &schedule, outcome: &outcome };
    match oracle::run_failure(&case).or_else(|| oracle::program_panic(&case)) {
        Some(finding) => Err(Box::new(finding)),
        None => Ok(outcome),
    }
}

/// The result of one schedule of a check.
struct ScheduleResult {
    findings: Vec<Finding>,
    used: BTreeSet<Permission>,
    lacking: BTreeSet<Permission>,
    /// The timeline of the run, if it lacked a permission.
    denied: Option<Timeline>,
}

/// Runs the checks one after another and collects their results.
struct Runner<'a> {
    target: &'a Target,
    older: Option<&'a Target>,
    bounds: &'a Bounds,
    report: Report,
    /// The permissions that the program used in all runs.
    used: BTreeSet<Permission>,
    /// The permissions that the role lacked.
    lacking: BTreeSet<Permission>,
    /// The first run that lacked a permission.
    first_denied: Option<(Schedule, Timeline)>,
}

impl<'a> Runner<'a> {
    /// Returns a runner with an empty report.
    fn new(target: &'a Target, older: Option<&'a Target>, bounds: &'a Bounds) -> Self {
        let report = Report { program: target.name.clone(), ..Report::default() };
        let (used, lacking) = (BTreeSet::new(), BTreeSet::new());
        Self { target, older, bounds, report, used, lacking, first_denied: None }
    }

    /// Runs the schedules of a check in parallel, looks for problems in each run, and adds the findings and a summary to the report.
    /// Collects the permissions that the runs used and lacked for the check of the role.
    fn run_check(&mut self, check: Check, schedules: &[Schedule], baseline: &Baseline) {
        let started = Instant::now();
        let (target, older) = (self.target, self.older);
        let fresh_runs_before = baseline.fresh_runs();
        let results = pool::map(self.bounds.threads, schedules, |schedule| {
            let outcome = execute(target, older, schedule);
            let findings = oracle::judge(&Case { check, target, schedule, outcome: &outcome }, older, baseline);
            let (mut used, mut lacking) = permission::used_and_lacking(&outcome.timeline);
            let (used_by_webhooks, lacked_by_webhooks) = permission::used_and_lacking(&outcome.webhook_reads);
            used.extend(used_by_webhooks);
            lacking.extend(lacked_by_webhooks);
            let denied = (!lacking.is_empty()).then_some(outcome.timeline);
            ScheduleResult { findings, used, lacking, denied }
        });
        for (schedule, result) in schedules.iter().zip(results) {
            let ScheduleResult { findings, used, lacking, denied } = match result {
                Ok(result) => result,
                Err(message) => {
                    self.report.findings.push(oracle::runner_panicked(check, schedule, &message));
                    continue;
                }
            };
            self.report.findings.extend(findings);
            self.used.extend(used);
            self.lacking.extend(lacking);
            if let (None, Some(timeline)) = (&self.first_denied, denied) {
                self.first_denied = Some((schedule.clone(), timeline));
            }
        }
        // The comparison with new objects may have needed further runs.
        let runs = schedules.len() + baseline.fresh_runs() - fresh_runs_before;
        self.report.steps.push(CheckSummary { check, runs, took: started.elapsed() });
    }

    /// Adds the permissions that a run without faults used and lacked, for the check of the role.
    fn add_permissions(&mut self, schedule: &Schedule, timeline: &Timeline) {
        let (used, lacking) = permission::used_and_lacking(timeline);
        if !lacking.is_empty() {
            self.first_denied = Some((schedule.clone(), timeline.clone()));
        }
        self.used.extend(used);
        self.lacking.extend(lacking);
    }

    /// Adds findings about the permissions that the role lacks, and about the permissions that no run used if all checks have run. Adds a
    /// summary of the check, which has no runs of its own.
    fn check_role(&mut self, checks: &BTreeSet<Check>) {
        let first_denied = self.first_denied.take();
        self.report.findings.extend(oracle::missing_permissions(&self.lacking, first_denied));
        // A check that did not run may use the permissions that no run has used.
        if checks.len() == Check::ALL.len() {
            let needed = permission::controller_permissions(&self.target.manifests.install);
            let unused: Vec<_> = needed.difference(&self.used).collect();
            self.report.findings.extend(oracle::unused_permissions(&unused));
        }
        self.report.steps.push(CheckSummary { check: Check::Role, runs: 0, took: Duration::ZERO });
    }
}
