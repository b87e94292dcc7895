//! `Examination`: passes applications to a driver of a CD system, checks the objects that the driver returns, and collects the findings.

use std::collections::BTreeSet;

use opgen::{
    cd::{Application, ApplicationSpec},
    testing::ApplicationHarness,
};
use serde_json::Value;

use super::{
    collection::{ObjectId, object_label},
    facts::{DriverAnswer, DriverFacts},
    input::{DriverInput, SECRET},
    report::DriverFinding,
    valid_object,
};

/// How often a driver gets the same application again.
const REPETITIONS: usize = 2;

/// The findings about a driver so far.
pub(super) struct Examination {
    pub(super) driver: DriverFacts,
    /// The options that the driver may ignore.
    pub(super) declared: BTreeSet<DriverInput>,
    /// The options that the driver was found to ignore.
    pub(super) found_ignored: BTreeSet<DriverInput>,
    /// The number of applications that the driver got.
    pub(super) applications: usize,
    pub(super) findings: Vec<DriverFinding>,
}

/// An application that a driver accepts, with its objects.
pub(super) struct Accepted {
    pub(super) spec: ApplicationSpec,
    pub(super) objects: Vec<Value>,
}

impl Examination {
    pub(super) fn new(driver: DriverFacts, declared: BTreeSet<DriverInput>) -> Self {
        Self { driver, declared, found_ignored: BTreeSet::new(), applications: 0, findings: Vec::new() }
    }

    /// Adds a finding about an application.
    pub(super) fn report(&mut self, statement: u32, application: &str, problem: impl Into<String>) {
        self.findings.push(DriverFinding::new(statement, application, "", problem));
    }

    /// Adds a finding about an object of an application. The object is of the kind from which the CD system deploys.
    pub(super) fn report_object(
        &mut self,
        statement: u32,
        application: &str,
        ObjectId { namespace, name, .. }: &ObjectId,
        problem: impl Into<String>,
    ) {
        let kind = self.driver.deploying_kind().map(|kind| kind.to_string()).unwrap_or_default();
        let object = if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") };
        self.findings.push(DriverFinding::new(statement, application, &object, problem));
    }

    /// Resolves an application as the operator does, lets the driver return its objects, and checks these; see [`Self::objects`]. Returns
    /// `None` if the application is invalid, or if the driver refuses it or panics.
    pub(super) fn examine(
        &mut self,
        label: &str,
        harness: &ApplicationHarness,
        application: Application,
    ) -> Option<Accepted> {
        let spec = self.driver.resolve(harness, application).ok()?;
        let objects = self.objects(label, &spec)?;
        Some(Accepted { spec, objects })
    }

    /// Calls the driver several times for the objects of an application: the results must be equal, without a panic. Reports this, and
    /// violations in the objects or in the text of the error. `None` if the driver refuses the application or panics. Statements 5 and 6.
    pub(super) fn objects(&mut self, label: &str, spec: &ApplicationSpec) -> Option<Vec<Value>> {
        self.applications += 1;
        let answer = self.driver.objects(spec);
        let other = (0..REPETITIONS).map(|_| self.driver.objects(spec)).find(|other| *other != answer);
        if let Some(other) = other {
            self.report(6, label, difference(&answer, &other));
        }
        match answer {
            DriverAnswer::Panicked(panic) => {
                self.report(5, label, format!("`objects` panics: {panic}"));
                None
            }
            DriverAnswer::Refused(text) => {
                self.check_refusal(label, &text);
                None
            }
            DriverAnswer::Objects(objects) => {
                let problems = valid_object::problems(&self.driver, spec, &objects);
                let findings = problems
                    .into_iter()
                    .map(|(number, object, problem)| DriverFinding::new(number, label, &object, problem));
                self.findings.extend(findings);
                Some(objects)
            }
        }
    }

    /// Checks the text of the error with which a driver refuses an application: one line, and no value that may be a secret. Statement 21.
    fn check_refusal(&mut self, label: &str, text: &str) {
        if text.trim().is_empty() || text.lines().count() > 1 {
            self.report(21, label, "the text of `InvalidApplication` is not one line");
        }
        if text.contains(SECRET) {
            self.report(21, label, "the text of `InvalidApplication` has a value, which may be a secret");
        }
    }
}

/// Describes how two results of the driver for one application differ: by the first object that is not equal, or as a whole.
fn difference(one: &DriverAnswer, other: &DriverAnswer) -> String {
    match (one, other) {
        (DriverAnswer::Objects(one), DriverAnswer::Objects(other)) if one.len() == other.len() => {
            let position = one.iter().zip(other).position(|(one, other)| one != other).unwrap_or_default();
            let label = one.get(position).map(|object| object_label(object, position)).unwrap_or_default();
            format!("a second call gives another {label}")
        }
        _ => "a second call gives another result".to_owned(),
    }
}
