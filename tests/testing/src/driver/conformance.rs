//! `Conformance`: builds and runs the conformance suite for one driver of a CD system, such as Argo CD.

use std::{collections::BTreeSet, fmt};

use opgen::{
    cd::{Application, Driver},
    shape::{Access, AccessTarget},
    testing::ApplicationHarness,
};
use serde_json::json;

use super::{
    examination::Examination,
    facts::{DriverFacts, missing_verbs},
    identity,
    input::{DriverInput, OPTIONS, SECRET},
    registration,
    report::{DriverFinding, DriverReport},
    source::{SourceBase, generated_sources, unusual_sources},
    visibility,
};

/// Returns the suite for a driver. The [module](crate::driver) lists what it checks.
///
/// # Examples
/// ```
/// use opgen::cd::{Application, flux::HelmCharts};
/// use opgen_testing::driver::{DriverInput, conformance};
///
/// let web = Application::chart("https://charts.example.com", "web", "1.2.3");
/// let why = "helm-controller has one setting for all releases";
/// conformance::<HelmCharts>().source(web).ignores(DriverInput::ServerSideApply, why).check();
/// ```
#[must_use]
pub fn conformance<D: Driver>() -> Conformance {
    Conformance { driver: DriverFacts::of::<D>(), sources: Vec::new(), ignored: Vec::new() }
}

/// A run of the suite for a driver.
pub struct Conformance {
    driver: DriverFacts,
    sources: Vec<SourceBase>,
    ignored: Vec<(DriverInput, String)>,
}

impl Conformance {
    /// Adds an application that the driver must accept. It is checked in addition to the generated ones, with each option. An option that
    /// it has already has other values then.
    #[must_use]
    pub fn source(mut self, application: Application) -> Self {
        let label = format!("source {} of the test", self.sources.len() + 1);
        self.sources.push(SourceBase { label, application, is_own: true });
        self
    }

    /// Declares that the driver ignores an option, or a part of the credentials, and why. The report has the reason.
    #[must_use]
    pub fn ignores(mut self, input: DriverInput, reason: impl Into<String>) -> Self {
        self.ignored.push((input, reason.into()));
        self
    }

    /// Runs the suite, and panics with the report if there are findings.
    ///
    /// # Panics
    /// If the driver violates a statement.
    #[track_caller]
    pub fn check(&self) {
        let report = self.run();
        assert!(report.is_clean(), "{report}");
    }

    /// Runs the suite.
    #[must_use]
    pub fn run(&self) -> DriverReport {
        let declared: BTreeSet<_> = self.ignored.iter().map(|(input, _)| *input).collect();
        let mut examination = Examination::new(self.driver, declared);
        check_constants(&mut examination);
        let accepted = accepted_sources(&mut examination, &self.sources);
        for base in &accepted {
            check_source(&mut examination, base);
        }
        if let Some(registration) = self.driver.registration {
            registration::check(&mut examination, registration);
            accepted.iter().for_each(|base| registration::check_application(&mut examination, registration, base));
        }
        for base in unusual_sources() {
            // What matters is that the driver returns valid objects or an error.
            let _ = examination.examine(&base.label, &ApplicationHarness::new(), base.application);
        }
        visibility::check_declarations(&mut examination, &self.ignored);
        let mut findings: Vec<DriverFinding> = examination.findings;
        findings.sort();
        findings.dedup();
        let (driver, ignored) = (self.driver.type_name.to_owned(), self.ignored.clone());
        DriverReport { driver, applications: examination.applications, ignored, findings }
    }
}

/// Checks the constants of a driver. Statements 1 to 3.
fn check_constants(examination: &mut Examination) {
    let driver = examination.driver;
    if driver.name.trim().is_empty() {
        examination.report(1, "", "`NAME` is empty");
    }
    let kinds = driver.applied_kinds();
    if kinds.is_empty() {
        examination.report(2, "", "`ACCESS` has no kind");
    }
    for (at, applied) in kinds.iter().enumerate() {
        if kinds[..at].iter().any(|earlier| earlier.kind == applied.kind) {
            examination.report(2, "", format!("`ACCESS` has {} twice", applied.kind));
        }
    }
    for access in driver.access {
        if !is_of_whole_objects(access) {
            examination.report(3, "", format!("the permission {access} is not for whole objects of any name"));
        }
        let missing = missing_verbs(access.verbs);
        if !missing.is_empty() {
            examination.report(3, "", format!("the permission {access} lacks {missing}"));
        }
    }
}

fn is_of_whole_objects(access: &Access) -> bool {
    matches!(access.target, AccessTarget::Objects { subresource: "", names: [], .. })
}

/// Returns the sources that the driver accepts: those of the author, and the generated ones. Statement 4.
fn accepted_sources(examination: &mut Examination, own: &[SourceBase]) -> Vec<SourceBase> {
    let mut accepted = Vec::new();
    for base in own.iter().cloned().chain(generated_sources()) {
        let harness = ApplicationHarness::new();
        match examination.examine(&base.label, &harness, base.application.clone()) {
            Some(_) => accepted.push(base),
            None if base.is_own => {
                let problem = examination.driver.resolve(&harness, base.application).err();
                let problem = problem.unwrap_or_else(|| "the driver refuses it".to_owned());
                examination.report(4, &base.label, problem);
            }
            None => {}
        }
    }
    if accepted.is_empty() && own.is_empty() {
        examination.report(4, "", "the driver refuses all generated sources; add one that it accepts with `source`");
    }
    accepted
}

/// Checks the applications of a source that the driver accepts: with each option, each pair of options, all options at once, other owners
/// and names, and other sources.
fn check_source(examination: &mut Examination, base: &SourceBase) {
    let namespaced = ApplicationHarness::new();
    visibility::check_options(examination, base, &namespaced, true);
    visibility::check_source(examination, base, &namespaced);
    identity::check(examination, base);
    let of_cluster_scoped = SourceBase { label: format!("{} of a cluster-scoped owner", base.label), ..base.clone() };
    visibility::check_options(examination, &of_cluster_scoped, &ApplicationHarness::new().cluster_scoped(), false);
    let all = OPTIONS.into_iter().filter(|option| !matches!(option, DriverInput::Cluster | DriverInput::Kubeconfig));
    let all = all.fold(base.application.clone(), |application, option| {
        option.set(0, application.clone()).unwrap_or(application)
    });
    // Only the checks of each application by itself.
    let _ = examination.examine(&format!("{} with all options", base.label), &namespaced, all);
    let conflict = base.application.clone().values(json!({"opgenParameter": SECRET}));
    let conflict = conflict.parameter("opgenParameter.first", SECRET);
    let _ = examination.examine(&format!("{} with a parameter below a text", base.label), &namespaced, conflict);
}

impl fmt::Debug for Conformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conformance").field("driver", &self.driver.type_name).finish_non_exhaustive()
    }
}
