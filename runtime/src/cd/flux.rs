//! Drivers of Flux, one for each source of applications, so that a role has the permissions for the kinds that it uses.
//!
//! | driver | objects of an application |
//! |---|---|
//! | [`HelmCharts`] | a `HelmRepository` and a `HelmRelease` |
//! | [`OciCharts`] | an `OCIRepository` and a `HelmRelease` |
//! | [`GitCharts`] | a `GitRepository` and a `HelmRelease` |
//! | [`GitManifests`] | a `GitRepository` and a `Kustomization` |
//!
//! The objects are in the namespace of the owner, or in `flux-system` if it has none. Flux looks for new versions and for drift every
//! ten minutes, and at once when an object changes.
//!
//! Flux has no labels and annotations of namespaces that it creates. It has no parameters: they are added to the values.

mod parameters;

use crate::{
    cd::{
        driver::{ApplicationSpec, Driver, IgnoredDifference, InvalidApplication},
        source::{ApplicationSource, GitRevision},
    },
    kind::Kind,
    shape::Access,
};
use serde_json::{Value, json};

/// The namespace of the objects for an owner without one.
const NAMESPACE: &str = "flux-system";
/// How often Flux looks for new versions and for drift.
const INTERVAL: &str = "10m";

/// Returns a kind of Flux.
fn kind(group: &'static str, version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind { group: group.into(), version: version.into(), kind: kind.into(), plural: plural.into(), namespaced: true }
}

fn helm_repository() -> Kind {
    kind("source.toolkit.fluxcd.io", "v1", "HelmRepository", "helmrepositories")
}

fn oci_repository() -> Kind {
    kind("source.toolkit.fluxcd.io", "v1", "OCIRepository", "ocirepositories")
}

fn git_repository() -> Kind {
    kind("source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories")
}

fn helm_release() -> Kind {
    kind("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases")
}

fn kustomization() -> Kind {
    kind("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations")
}

/// Deploys charts of a chart repository, `Application::chart("https://…", …)`.
#[derive(Debug)]
#[non_exhaustive]
pub struct HelmCharts;

/// Deploys charts of an OCI registry, `Application::chart("oci://…", …)`.
#[derive(Debug)]
#[non_exhaustive]
pub struct OciCharts;

/// Deploys charts in a git repository, `Application::git_chart(…)`.
#[derive(Debug)]
#[non_exhaustive]
pub struct GitCharts;

/// Deploys manifests in a git repository, `Application::git_manifests(…)`.
#[derive(Debug)]
#[non_exhaustive]
pub struct GitManifests;

impl Driver for HelmCharts {
    const NAME: &'static str = "Flux";
    const ACCESS: &'static [Access] = &[Access::applied(helm_repository), Access::applied(helm_release)];

    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::Chart { repository, chart, version } = &application.source else {
            return Err(other_source(application));
        };
        if is_registry(repository) {
            return Err(other_source(application));
        }
        let source_ref = json!({"kind": "HelmRepository", "name": application.object_name});
        let chart = json!({"chart": {"spec": {"chart": chart, "version": version, "sourceRef": source_ref}}});
        let source = json!({"interval": INTERVAL, "url": repository});
        Ok(vec![object(&helm_repository(), application, source), release(application, chart)?])
    }
}

impl Driver for OciCharts {
    const NAME: &'static str = "Flux";
    const ACCESS: &'static [Access] = &[Access::applied(oci_repository), Access::applied(helm_release)];

    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::Chart { repository, chart, version } = &application.source else {
            return Err(other_source(application));
        };
        if !is_registry(repository) {
            return Err(other_source(application));
        }
        let url = format!("{}/{chart}", repository.trim_end_matches('/'));
        let source = json!({"interval": INTERVAL, "url": url, "ref": {"tag": version}});
        let reference = json!({"chartRef": {"kind": "OCIRepository", "name": application.object_name}});
        Ok(vec![object(&oci_repository(), application, source), release(application, reference)?])
    }
}

impl Driver for GitCharts {
    const NAME: &'static str = "Flux";
    const ACCESS: &'static [Access] = &[Access::applied(git_repository), Access::applied(helm_release)];

    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::GitChart { repository, revision, path } = &application.source else {
            return Err(other_source(application));
        };
        let source_ref = json!({"kind": "GitRepository", "name": application.object_name});
        // Each commit is deployed, whether or not the version of the chart changes.
        let chart = json!({"chart": {"spec": {
            "chart": relative(path), "sourceRef": source_ref, "reconcileStrategy": "Revision",
        }}});
        Ok(vec![git_source(application, repository, revision), release(application, chart)?])
    }
}

impl Driver for GitManifests {
    const NAME: &'static str = "Flux";
    const ACCESS: &'static [Access] = &[Access::applied(git_repository), Access::applied(kustomization)];

    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::GitManifests { repository, revision, path } = &application.source else {
            return Err(other_source(application));
        };
        Ok(vec![git_source(application, repository, revision), manifests(application, path)?])
    }
}

fn is_registry(repository: &str) -> bool {
    repository.starts_with("oci://")
}

/// Returns the error of an application with a source for another driver.
fn other_source(application: &ApplicationSpec) -> InvalidApplication {
    let (source, driver) = match &application.source {
        ApplicationSource::Chart { repository, .. } if is_registry(repository) => {
            ("a chart of a registry", "OciCharts")
        }
        ApplicationSource::Chart { .. } => ("a chart of a repository", "HelmCharts"),
        ApplicationSource::GitChart { .. } => ("a chart in git", "GitCharts"),
        ApplicationSource::GitManifests { .. } => ("manifests in git", "GitManifests"),
    };
    InvalidApplication::new(format!("{source} needs the driver `flux::{driver}`"))
}

/// Returns an object of Flux for an application.
fn object(kind: &Kind, application: &ApplicationSpec, spec: Value) -> Value {
    let namespace = application.owner_namespace.as_deref().unwrap_or(NAMESPACE);
    json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind,
        "metadata": {"name": application.object_name, "namespace": namespace},
        "spec": spec,
    })
}

fn git_source(application: &ApplicationSpec, repository: &str, revision: &GitRevision) -> Value {
    let reference = match revision {
        GitRevision::Branch(branch) => json!({"branch": branch}),
        GitRevision::Tag(tag) => json!({"tag": tag}),
        GitRevision::Commit(hash) => json!({"commit": hash}),
    };
    object(&git_repository(), application, json!({"interval": INTERVAL, "url": repository, "ref": reference}))
}

/// Returns the `HelmRelease` of a chart; `chart` has the fields that name the chart.
fn release(application: &ApplicationSpec, chart: Value) -> Result<Value, InvalidApplication> {
    if !application.namespace_labels.is_empty() || !application.namespace_annotations.is_empty() {
        let problem = "Flux can't set labels or annotations of a namespace; add the Namespace to the tree";
        return Err(InvalidApplication::new(problem));
    }
    let mut spec = json!({
        "interval": INTERVAL,
        "releaseName": application.release.as_deref().unwrap_or(&application.object_name),
        "targetNamespace": application.namespace,
        "storageNamespace": application.namespace,
        "install": {"createNamespace": application.create_namespace, "disableWait": application.allows_degraded},
        "upgrade": {"disableWait": application.allows_degraded},
        "driftDetection": {"mode": "enabled"},
    });
    for (field, value) in chart.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    if !application.ignored_differences.is_empty() {
        let ignored = application.ignored_differences.iter();
        let ignored = ignored.map(|ignored| json!({"paths": ignored.pointers, "target": target(ignored)}));
        spec["driftDetection"]["ignore"] = ignored.collect();
    }
    if let Some(values) = parameters::merge(application.values.clone(), &application.parameters)? {
        spec["values"] = values;
    }
    Ok(object(&helm_release(), application, spec))
}

/// Returns the objects whose differences Flux ignores.
fn target(ignored: &IgnoredDifference) -> Value {
    match &*ignored.group {
        "" => json!({"kind": ignored.kind}),
        group => json!({"group": group, "kind": ignored.kind}),
    }
}

/// Returns the `Kustomization` of manifests in a folder.
fn manifests(application: &ApplicationSpec, path: &str) -> Result<Value, InvalidApplication> {
    let ApplicationSpec { release, parameters, values, .. } = application;
    if release.is_some() || !parameters.is_empty() || values.is_some() {
        return Err(InvalidApplication::new("a release, parameters and values are for charts only"));
    }
    if application.create_namespace {
        let problem = "Flux can't create the namespace of manifests; add the Namespace to the tree";
        return Err(InvalidApplication::new(problem));
    }
    if !application.ignored_differences.is_empty() {
        return Err(InvalidApplication::new("Flux can ignore differences of charts only"));
    }
    let spec = json!({
        "interval": INTERVAL,
        "path": relative(path),
        "prune": true,
        "wait": !application.allows_degraded,
        "targetNamespace": application.namespace,
        "sourceRef": {"kind": "GitRepository", "name": application.object_name},
    });
    Ok(object(&kustomization(), application, spec))
}

/// Returns a path as Flux writes it, relative to the root of the repository.
fn relative(path: &str) -> String {
    let path = path.trim_start_matches("./").trim_start_matches('/');
    format!("./{path}")
}

#[cfg(test)]
mod tests;
