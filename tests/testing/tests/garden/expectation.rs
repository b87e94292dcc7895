//! Injects faults into a hand-written operator that has a bug, and asserts on the findings.

use opgen_testing::{Check, Finding, Report, trial_of};

use super::{Bug, Gardener};

/// The seeds of random faults; some of them trigger each bug.
const SEEDS: u64 = 150;

/// A trial of a gardener with a bug, or with none.
pub fn gardener_with(bug: Bug) -> BugTrial {
    BugTrial { gardener: Gardener::new(bug), older: None }
}

pub struct BugTrial {
    gardener: Gardener,
    older: Option<Gardener>,
}

/// The findings of a check that match all assertions so far.
pub struct Findings {
    bug: Bug,
    report: Report,
    findings: Vec<Finding>,
}

impl BugTrial {
    pub fn that_weeds(self) -> Self {
        Self { gardener: Gardener { weeds: true, ..self.gardener }, ..self }
    }

    /// Upgrades from a gardener with another bug, or with none, and with the same webhook.
    pub fn upgraded_from(self, bug: Bug) -> Self {
        Self { older: Some(Gardener { validates: self.gardener.validates, ..Gardener::new(bug) }), ..self }
    }

    pub fn that_validates(self) -> Self {
        Self { gardener: Gardener { validates: true, ..self.gardener }, ..self }
    }

    pub fn that_polls(self) -> Self {
        Self { gardener: Gardener { polls: true, ..self.gardener }, ..self }
    }

    pub fn that_needs_a_permit(self) -> Self {
        Self { gardener: Gardener { waits_for_permit: true, ..self.gardener }, ..self }
    }

    fn report(&self, by: Check) -> Report {
        let mut trial = trial_of(self.gardener).seeds(0..SEEDS).only([by]);
        if let Some(older) = self.older {
            trial = trial.upgrades_from_program(older);
        }
        let report = trial.run();
        assert!(!report.to_string().contains("the trial panicked"), "{report}");
        report
    }

    #[track_caller]
    pub fn found_by(self, check: Check) -> Findings {
        let report = self.report(check);
        let findings = report.findings.iter().filter(|finding| finding.check == check).cloned().collect();
        Findings { bug: self.gardener.bug, report, findings }.not_empty("anything")
    }

    /// Asserts that no check but this one finds anything, except for an unused permission.
    #[track_caller]
    pub fn found_only_by(self, check: Check) -> Self {
        let others = Check::ALL.iter().copied().filter(|other| *other != check);
        let report = trial_of(self.gardener).only(others).run();
        assert!(report.findings.iter().all(|finding| finding.check == Check::Role), "{report}");
        self
    }

    /// Asserts that the check does not apply.
    #[track_caller]
    pub fn has_no_runs_of(self, check: Check) {
        let report = self.report(check);
        assert!(report.is_clean(), "{report}");
        assert!(report.steps.iter().all(|step| step.check != check), "{report}");
    }

    /// Asserts that the check runs and finds nothing.
    #[track_caller]
    pub fn finds_nothing(self, check: Check) {
        let report = self.report(check);
        assert!(report.is_clean(), "{report}");
        assert!(report.steps.iter().any(|step| step.check == check && step.runs > 0), "{report}");
    }
}

impl Findings {
    /// Keeps the findings whose problem contains these words.
    #[track_caller]
    pub fn with_problem(self, words: &str) -> Self {
        self.only(words, |finding| finding.problem.contains(words))
    }

    /// Keeps the findings with a line of the difference that starts like this.
    #[track_caller]
    pub fn with_difference(self, start: &str) -> Self {
        self.only(start, |finding| finding.difference.iter().any(|line| line.starts_with(start)))
    }

    /// Asserts that a finding has exactly this hint.
    #[track_caller]
    pub fn with_hint(self, hint: &str) {
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
