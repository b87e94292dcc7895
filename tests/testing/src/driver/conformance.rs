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
    /// Adds an application that the driver must accept. The suite checks it in addition to the generated ones, alone and with each option.
    /// For an option that the application sets, the suite also checks other values.
    #[must_use]
    pub fn source(mut self, application: Application) -> Self {
        let label = format!("source {} of the test", self.sources.len() + 1);
        self.sources.push(SourceBase { label, application, is_required: true });
        self
    }

    /// Declares that the driver ignores an option, or a part of the credentials, so that the suite accepts this. The report shows the
    /// reason.
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

    /// Runs the suite, and returns its findings, sorted and without duplicates.
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
            // The driver may accept or refuse these: `examine` reports invalid objects, and panics.
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

/// Checks the constants of a driver: its name is not empty, `ACCESS` has at least one kind and no kind twice, and each permission in it is
/// for whole objects of any name, with all verbs. Statements 1 to 3.
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
        if !covers_whole_objects(access) {
            examination.report(3, "", format!("the permission {access} is not for whole objects of any name"));
        }
        let missing = missing_verbs(access.verbs);
        if !missing.is_empty() {
            examination.report(3, "", format!("the permission {access} lacks {missing}"));
        }
    }
}

/// Returns whether a permission is for objects of any name, and not only for a subresource.
fn covers_whole_objects(access: &Access) -> bool {
    matches!(access.target, AccessTarget::Objects { subresource: "", names: [], .. })
}

/// Returns the sources that the driver accepts, among the required ones of the test's author and the generated ones. Reports each required
/// source that the driver refuses; and if none is required, a driver that refuses all generated ones. Statement 4.
fn accepted_sources(examination: &mut Examination, required: &[SourceBase]) -> Vec<SourceBase> {
    let mut accepted = Vec::new();
    for base in required.iter().cloned().chain(generated_sources()) {
        let harness = ApplicationHarness::new();
        match examination.examine(&base.label, &harness, base.application.clone()) {
            Some(_) => accepted.push(base),
            None if base.is_required => {
                let problem = examination.driver.resolve(&harness, base.application).err();
                let problem = problem.unwrap_or_else(|| "the driver refuses it".to_owned());
                examination.report(4, &base.label, problem);
            }
            None => {}
        }
    }
    if accepted.is_empty() && required.is_empty() {
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
    // Pairs of options are checked for the namespaced owner only.
    let of_cluster_scoped = SourceBase { label: format!("{} of a cluster-scoped owner", base.label), ..base.clone() };
    visibility::check_options(examination, &of_cluster_scoped, &ApplicationHarness::new().cluster_scoped(), false);
    // All options except the two that name the cluster, of which an application can have one only.
    let all = OPTIONS.into_iter().filter(|option| !matches!(option, DriverInput::Cluster | DriverInput::Kubeconfig));
    let all = all.fold(base.application.clone(), |application, option| {
        option.set(0, application.clone()).unwrap_or(application)
    });
    // `examine` checks each of these two applications by itself; they are compared with no other one.
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
