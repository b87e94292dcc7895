//! `BucketReport`: the findings of the suite about an implementation of `Bucket`, also as text.

use std::fmt;

/// A violation of a statement by an implementation of [`Bucket`](opgen::bucket::Bucket).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketFinding {
    /// The number of the statement; see the [module](crate::bucket).
    pub statement: u32,
    /// The statement.
    pub text: &'static str,
    /// What was expected and seen, without values that may be secret.
    pub problem: String,
}

impl fmt::Display for BucketFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { statement, text, problem } = self;
        write!(f, "statement B{statement}: {text}\n  {problem}")
    }
}

/// A statement that was not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedStatement {
    /// The number of the statement; see the [module](crate::bucket).
    pub statement: u32,
    /// Why it was not checked.
    pub reason: String,
}

/// The result of the suite for an implementation of [`Bucket`](opgen::bucket::Bucket).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a report may have findings; `assert` panics then"]
pub struct BucketReport {
    /// The name of the subject's type.
    pub subject: &'static str,
    /// The numbers of the statements that were checked, without the skipped ones.
    pub checked: Vec<u32>,
    /// The statements that were not checked, because the subject lacks a disturbance that they need.
    pub skipped: Vec<SkippedStatement>,
    /// The violations of statements, by their numbers. A statement has one at most.
    pub findings: Vec<BucketFinding>,
}

impl BucketReport {
    pub(super) fn new(subject: &'static str) -> Self {
        Self { subject, checked: Vec::new(), skipped: Vec::new(), findings: Vec::new() }
    }

    pub(super) fn add_finding(&mut self, statement: u32, text: &'static str, problem: String) {
        self.findings.push(BucketFinding { statement, text, problem });
    }

    pub(super) fn add_skipped(&mut self, statement: u32, reason: String) {
        self.skipped.push(SkippedStatement { statement, reason });
    }

    /// Returns whether there are no findings. Statements may have been skipped.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Panics with the report if there are findings.
    ///
    /// # Panics
    /// If the implementation violates a statement.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.is_clean(), "{self}");
    }

    /// Panics with the report if there are findings or skipped statements.
    ///
    /// # Panics
    /// If the implementation violates a statement, or if its subject lacks a disturbance.
    #[track_caller]
    pub fn assert_complete(&self) {
        assert!(self.is_clean() && self.skipped.is_empty(), "{self}");
    }
}

impl fmt::Display for BucketReport {
    /// Displays the number of checked and of violated statements, then each skipped statement and each violation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, checked, skipped, findings } = self;
        let (checked, violated) = (checked.len(), findings.len());
        writeln!(f, "buckets of {subject}: {checked} statements, {violated} of them violated")?;
        for SkippedStatement { statement, reason } in skipped {
            writeln!(f, "  statement B{statement} is skipped: {reason}")?;
        }
        for finding in findings {
            writeln!(f, "\nerror: {finding}")?;
        }
        Ok(())
    }
}
