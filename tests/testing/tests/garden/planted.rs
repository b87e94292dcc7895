//! A bug, and what must be said of it.

use opgen_testing::{Check, Finding, Report, trial_of};

use super::{Bug, Gardener};

/// A bug of chance is met by some of these seeds.
const SEEDS: u64 = 150;

/// A gardener with a bug, or without one.
pub fn planted(bug: Bug) -> Planted {
    Planted { gardener: Gardener::new(bug), older: None }
}

pub struct Planted {
    gardener: Gardener,
    older: Option<Gardener>,
}

/// The findings of a check that say all that was asked for so far.
pub struct Found {
    bug: Bug,
    report: Report,
    findings: Vec<Finding>,
}

impl Planted {
    pub fn in_a_gardener_that_weeds(self) -> Self {
        Self { gardener: Gardener { weeds: true, ..self.gardener }, ..self }
    }

    /// A gardener with this bug, or without one, has worked there before.
    pub fn after(self, bug: Bug) -> Self {
        Self { older: Some(Gardener::new(bug)), ..self }
    }

    pub fn in_a_gardener_that_polls(self) -> Self {
        Self { gardener: Gardener { polls: true, ..self.gardener }, ..self }
    }

    pub fn in_a_gardener_that_needs_a_permit(self) -> Self {
        Self { gardener: Gardener { patient: true, ..self.gardener }, ..self }
    }

    fn report(&self, by: Check) -> Report {
        let mut trial = trial_of(self.gardener).seeds(0..SEEDS).only([by]);
        if let Some(older) = self.older {
            trial = trial.upgrades_from_program(older);
        }
        let report = trial.run();
        assert!(!report.to_string().contains("the run itself panicked"), "{report}");
        report
    }

    #[track_caller]
    pub fn found_by(self, check: Check) -> Found {
        let report = self.report(check);
        let findings = report.findings.iter().filter(|finding| finding.check == check).cloned().collect();
        Found { bug: self.gardener.bug, report, findings }.not_empty("anything")
    }

    /// No check that was run finds anything, and that one did run.
    #[track_caller]
    pub fn passes(self, check: Check) {
        let report = self.report(check);
        assert!(report.is_clean(), "{report}");
        assert!(report.steps.iter().any(|step| step.check == check && step.runs > 0), "{report}");
    }
}

impl Found {
    /// The problem has these words.
    #[track_caller]
    pub fn said(self, words: &str) -> Self {
        self.only(words, |finding| finding.problem.contains(words))
    }

    /// A line of the difference begins so.
    #[track_caller]
    pub fn shown(self, start: &str) -> Self {
        self.only(start, |finding| finding.difference.iter().any(|line| line.starts_with(start)))
    }

    /// This, to the letter, is what to do.
    #[track_caller]
    pub fn hinted(self, hint: &str) {
        drop(self.only(hint, |finding| finding.hint == hint));
    }

    #[track_caller]
    fn only(mut self, words: &str, is_so: impl Fn(&Finding) -> bool) -> Self {
        self.findings.retain(is_so);
        self.not_empty(words)
    }

    #[track_caller]
    fn not_empty(self, words: &str) -> Self {
        assert!(!self.findings.is_empty(), "no finding of {:?} says: {words}\n{}", self.bug, self.report);
        self
    }
}
