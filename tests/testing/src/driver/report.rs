//! `DriverReport`: the findings of the conformance suite about an application driver. It can be printed as text.

use std::fmt;

use super::{input::DriverInput, statement::STATEMENTS};

/// A violation of a statement by a driver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct DriverFinding {
    /// The number of the statement; see the [module](crate::driver).
    pub statement: u32,
    /// The application: its source, its options and its owner, without values. Empty if it is about none.
    pub application: String,
    /// The kind, the namespace and the name of the object. Empty if it is about none.
    pub object: String,
    /// What is wrong.
    pub problem: String,
}

impl DriverFinding {
    pub(super) fn new(statement: u32, application: &str, object: &str, problem: impl Into<String>) -> Self {
        Self { statement, application: application.to_owned(), object: object.to_owned(), problem: problem.into() }
    }
}

impl fmt::Display for DriverFinding {
    /// Writes the application, the object and the problem, separated by colons; leaves out empty ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = [&self.application, &self.object, &self.problem];
        let texts: Vec<&str> = texts.into_iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        f.write_str(&texts.join(": "))
    }
}

/// The result of the suite for a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverReport {
    /// The name of the driver's type.
    pub driver: String,
    /// The number of applications that the driver got.
    pub applications: usize,
    /// The options that the author declared as ignored, each with the reason.
    pub ignored: Vec<(DriverInput, String)>,
    /// The violations of statements, by their numbers.
    pub findings: Vec<DriverFinding>,
}

/// The number of findings about a statement that the text shows.
const SHOWN: usize = 3;

impl DriverReport {
    /// Returns whether there are no findings.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for DriverReport {
    /// Writes the counts, the options declared as ignored, and for each violated statement its text and the first findings about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { driver, applications, ignored, findings } = self;
        writeln!(f, "driver {driver}: {applications} applications, {} findings", findings.len())?;
        for (input, reason) in ignored {
            writeln!(f, "  {input} is declared as ignored: {reason}")?;
        }
        for (number, text) in STATEMENTS {
            let mut of_statement = findings.iter().filter(|finding| finding.statement == number).peekable();
            if of_statement.peek().is_none() {
                continue;
            }
            writeln!(f, "\nerror: statement {number}: {text}")?;
            for finding in of_statement.by_ref().take(SHOWN) {
                writeln!(f, "  {finding}")?;
            }
            let others = of_statement.count();
            if others > 0 {
                writeln!(f, "  and {others} more, which often have the same cause")?;
            }
        }
        Ok(())
    }
}
