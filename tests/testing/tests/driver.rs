//! The suite for drivers accepts the drivers of opgen, and finds each planted mistake.
#![allow(missing_docs)]

#[path = "driver/k3s.rs"]
mod k3s;
#[path = "driver/mutant.rs"]
mod mutant;

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU32, Ordering},
};

use opgen::{
    cd::{
        Application, ApplicationSpec, ArgoCd, ArgoCdSettings, Driver, GitRevision, InCluster, InvalidApplication, flux,
        helm::Helm,
    },
    shape::Access,
};
use opgen_testing::driver::{Conformance, DriverInput, conformance};

use k3s::K3s;
use mutant::{MISTAKES, Mutant};

fn chart() -> Application {
    Application::chart("https://charts.jetstack.io", "cert-manager", "v1.19.1")
}

/// An installation of Argo CD with other settings.
struct OpenShift;

impl ArgoCdSettings for OpenShift {
    const NAMESPACE: &'static str = "openshift-gitops";
    const PROJECT: &'static str = "web";
    const CLUSTER: &'static str = "west";
}

#[test]
fn argo_cd_conforms() {
    let manifests = Application::git_manifests("https://git.example.com/a", GitRevision::branch("main"), "deploy");
    conformance::<ArgoCd>().source(chart()).source(manifests).check();
    conformance::<ArgoCd<OpenShift>>().source(chart()).check();
}

#[test]
fn argo_cd_in_the_cluster_of_a_remote_node_conforms() {
    conformance::<InCluster<ArgoCd>>().source(chart()).check();
}

/// Returns the suite for a driver of Flux.
fn of_flux<D: Driver>() -> Conformance {
    let reason = "Flux uses server-side apply for manifests in any case, and for charts as it is configured";
    conformance::<D>().ignores(DriverInput::ServerSideApply, reason)
}

#[test]
fn flux_conforms() {
    of_flux::<flux::HelmCharts>().source(chart().values(serde_json::json!({"replicaCount": 2}))).check();
    of_flux::<flux::OciCharts>().source(Application::chart("oci://ghcr.io/a/charts", "web", "1.0.0")).check();
    let tag = || GitRevision::tag("v1.0.0");
    of_flux::<flux::GitCharts>().source(Application::git_chart("https://git.example.com/a", tag(), "charts/a")).check();
    let manifests = Application::git_manifests("https://git.example.com/a", tag(), "deploy");
    of_flux::<flux::GitManifests>().source(manifests).check();
}

#[test]
fn helm_conforms() {
    let reason = "Helm 4 uses server-side apply in any case";
    let charts = Application::chart("oci://ghcr.io/a/charts", "web", "1.0.0");
    conformance::<Helm>().ignores(DriverInput::ServerSideApply, reason).source(chart()).source(charts).check();
}

#[test]
fn the_driver_of_the_documentation_conforms() {
    conformance::<K3s>().source(chart()).check();
    let documentation = include_str!("../../../runtime/src/cd/driver.rs");
    for line in include_str!("driver/k3s.rs").lines().skip(2) {
        let line = line.replace("pub(super) ", "");
        assert!(documentation.contains(line.trim()), "the documentation of `Driver` has another line than {line:?}");
    }
}

#[test]
fn a_driver_without_a_mistake_conforms() {
    let report = conformance::<Mutant<0>>().run();
    assert!(report.is_clean() && report.applications > 500, "{report}");
}

#[test]
fn each_planted_mistake_is_found() {
    for (statement, mistake, run) in MISTAKES {
        let report = run();
        let found: BTreeSet<u32> = report.findings.iter().map(|finding| finding.statement).collect();
        assert!(found.contains(statement), "{mistake}: statement {statement} is not in {found:?}\n{report}");
        assert!(!report.to_string().contains("opgen-hidden"), "{mistake}: the report has a value");
    }
}

#[test]
fn each_statement_has_a_planted_mistake() {
    let statements: BTreeSet<u32> = MISTAKES.iter().map(|(statement, ..)| *statement).collect();
    assert_eq!(statements, (1..=28).collect::<BTreeSet<u32>>());
}

#[test]
fn a_finding_names_the_statement_the_application_and_the_object() {
    let report = conformance::<Mutant<180>>().run();
    let [first, ..] = &report.findings[..] else { unreachable!("an option has no effect") };
    assert_eq!((first.statement, first.object.as_str()), (18, ""));
    assert_eq!(first.application, "a chart of a repository of a cluster-scoped owner with `server_side_apply`");
    let report = conformance::<Mutant<170>>().run();
    let text = report.to_string();
    assert!(text.contains("\nerror: statement 17: Another version or revision changes the object"), "{text}");
    let finding = &report.findings[0];
    assert_eq!(finding.application, "a chart of a repository with another version");
    assert!(finding.object.starts_with("Release shop/web-"), "{}", finding.object);
}

#[test]
fn a_source_that_the_driver_refuses_is_a_finding() {
    let manifests = Application::git_manifests("https://git.example.com/a", GitRevision::tag("v1"), "deploy");
    let report = conformance::<K3s>().source(manifests).run();
    assert_eq!(report.findings.iter().map(|finding| finding.statement).collect::<Vec<_>>(), [4], "{report}");
    let invalid = conformance::<K3s>().source(chart().release("Not A Name")).run();
    assert!(
        invalid.to_string().contains("source 1 of the test: the name of the release is not a DNS name"),
        "{invalid}"
    );
}

/// A driver that refuses an application every second time.
struct Alternating;

/// The number of its calls.
static CALLS: AtomicU32 = AtomicU32::new(0);

impl Driver for Alternating {
    const NAME: &'static str = "Alternating";
    const ACCESS: &'static [Access] = K3s::ACCESS;

    fn objects(application: &ApplicationSpec) -> Result<Vec<serde_json::Value>, InvalidApplication> {
        if CALLS.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            return Err(InvalidApplication::new("it was called before"));
        }
        K3s::objects(application)
    }
}

#[test]
fn a_finding_about_a_second_call_shows_the_answer_that_differed() {
    let report = conformance::<Alternating>().source(chart()).run();
    let problems: BTreeSet<_> = report.findings.iter().filter(|finding| finding.statement == 6).collect();
    assert!(!problems.is_empty(), "{report}");
    assert!(problems.iter().all(|finding| finding.problem == "a second call gives another result"), "{report}");
}
