//! `Report`: the findings of a trial (a test of an operator with injected faults) and the runs of each check, also as text.

use std::{collections::BTreeSet, fmt, time::Duration};

use opgen_sandbox::fault::{Timeline, TimelineEvent};
use serde::Serialize;

use crate::check::Check;

/// The runs of one check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CheckSummary {
    /// The check.
    pub check: Check,
    /// The number of runs.
    pub runs: usize,
    /// The duration on the machine's clock.
    pub took: Duration,
}

/// A defect that a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// The check that found it.
    pub check: Check,
    /// The defect.
    pub problem: String,
    /// How to fix it.
    pub hint: String,
    /// The schedule that reproduces it, for `OPGEN_REPLAY` and [`Trial::replay`](crate::Trial::replay).
    pub schedule: String,
    /// The differences between the expected (`-`) and the actual (`+`) state.
    pub difference: Vec<String>,
    /// The calls, events and passes of the run.
    pub timeline: Timeline,
}

/// The result of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    /// The name of the program.
    pub program: String,
    /// The checks that ran, in order.
    pub steps: Vec<CheckSummary>,
    /// The defects that were found.
    pub findings: Vec<Finding>,
    /// Whether the text shows whole timelines.
    pub whole: bool,
    /// The timeline of the undisturbed run, or of the replayed one.
    pub timeline: Timeline,
}

/// The error of a trial with findings. Its text, also as `{:?}`, is the report.
#[derive(Clone, PartialEq)]
pub struct TrialError(Box<Report>);

impl TrialError {
    /// Returns the report with the findings.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.0
    }
}

impl fmt::Debug for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for TrialError {}

impl Report {
    /// Returns whether there are no findings.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Converts the report into the result of a test.
    ///
    /// # Errors
    /// If there are findings.
    pub fn verdict(self) -> Result<(), TrialError> {
        if self.is_clean() { Ok(()) } else { Err(TrialError(Box::new(self))) }
    }

    /// Returns the number of runs of all checks.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.steps.iter().map(|step| step.runs).sum()
    }
}

/// How many findings of a check the text shows in full: most have one cause.
const FULL_FINDINGS: usize = 2;

/// The maximum number of timeline entries that the text shows, counted from the end.
const MAX_ENTRIES: usize = 30;

/// How many lines of a difference, and how many schedules, the text shows.
const MAX_LINES: usize = 40;

impl fmt::Display for Report {
    /// Writes the number of runs and the verdict of each check, the first findings of each check in full, and the schedules of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "trial of {}: {} runs, {} findings", self.program, self.runs(), self.findings.len())?;
        for CheckSummary { check, runs, took } in &self.steps {
            let failed = self.findings.iter().filter(|finding| finding.check == *check).count();
            let verdict = if failed == 0 { "ok".to_owned() } else { format!("{failed} findings") };
            writeln!(f, "  {check:<28} {runs:>6} runs {:>8.2} s  {verdict}", took.as_secs_f64())?;
        }
        // The number of findings of each check so far, and the schedules of the findings that are not shown in full.
        let mut counts = std::collections::BTreeMap::<Check, usize>::new();
        let mut others = BTreeSet::new();
        for finding in &self.findings {
            let count = counts.entry(finding.check).or_default();
            *count += 1;
            if *count > FULL_FINDINGS {
                others.insert(finding.schedule.as_str());
                continue;
            }
            finding.write(f, self.whole)?;
        }
        if !others.is_empty() {
            let shown: Vec<_> = others.iter().take(MAX_LINES).copied().collect();
            writeln!(f, "\nand {} more, which often have the same cause: {}", others.len(), shown.join(", "))?;
        }
        Ok(())
    }
}

impl Finding {
    /// Writes the finding with its difference, timeline, hint and replay command; `whole` shows all of the timeline.
    fn write(&self, f: &mut fmt::Formatter<'_>, whole: bool) -> fmt::Result {
        writeln!(f, "\nerror: {}: {}", self.check, self.problem)?;
        if !self.difference.is_empty() {
            writeln!(f, "  expected (-) and actual (+) state:")?;
            for line in self.difference.iter().take(MAX_LINES) {
                writeln!(f, "    {line}")?;
            }
            if self.difference.len() > MAX_LINES {
                writeln!(f, "    ... and {} more lines", self.difference.len() - MAX_LINES)?;
            }
        }
        let (lines, is_excerpt) = self.excerpt(whole);
        if !lines.is_empty() {
            writeln!(f, "  timeline{}:", if is_excerpt { ", around the fault and at the end" } else { "" })?;
            lines.iter().try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        writeln!(f, "  hint: {}", self.hint)?;
        if self.schedule.is_empty() {
            Ok(())
        } else {
            writeln!(f, "  replay: OPGEN_REPLAY='{}' cargo test", self.schedule)
        }
    }

    /// Returns the lines of the timeline, and whether lines are left out. Without `whole`, they are the last relevant ones: faults, writes,
    /// stops and notes.
    fn excerpt(&self, whole: bool) -> (Vec<String>, bool) {
        let entries = &self.timeline.entries;
        if whole {
            return (self.timeline.to_string().lines().map(str::to_owned).collect(), false);
        }
        let is_relevant = |index: usize| match &entries[index].event {
            TimelineEvent::Stop | TimelineEvent::End | TimelineEvent::Note { .. } => true,
            TimelineEvent::Pass(_) => false,
            TimelineEvent::Call(call) => call.fault.is_some() || call.is_write(),
            TimelineEvent::Event(event) => event.fault.is_some(),
            TimelineEvent::Webhook(call) => call.fault.is_some(),
            _ => true,
        };
        let mut chosen: Vec<usize> = (0..entries.len()).filter(|index| is_relevant(*index)).collect();
        let is_excerpt = chosen.len() < entries.len();
        if chosen.len() > MAX_ENTRIES {
            chosen.drain(..chosen.len() - MAX_ENTRIES);
        }
        let mut excerpt = Timeline::default();
        excerpt.entries = chosen.into_iter().map(|index| entries[index].clone()).collect();
        (excerpt.to_string().lines().map(str::to_owned).collect(), is_excerpt)
    }
}
