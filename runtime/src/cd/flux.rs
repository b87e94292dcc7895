//! Drivers that deploy applications with Flux, one for each type of source, so that a role has only the permissions for the kinds in use.
//!
//! | driver | objects of an application |
//! |---|---|
//! | [`HelmCharts`] | a `HelmRepository` and a `HelmRelease` |
//! | [`OciCharts`] | an `OCIRepository` and a `HelmRelease` |
//! | [`GitCharts`] | a `GitRepository` and a `HelmRelease` |
//! | [`GitManifests`] | a `GitRepository` and a `Kustomization` |
//!
//! The objects are in the namespace of the owner, or in `flux-system` if it has none. Flux looks for new versions and for drift every
//! ten minutes, and at once when an object changes. A failed installation or upgrade is repeated without limit, and not undone. This
//! needs Flux 2.7 or newer.
//!
//! Manifests in git keep their namespaces, unless the application [names one](crate::cd::Application::namespace): then all of them are
//! in that namespace. Flux reads the folders below theirs, too, unlike Argo CD.
//!
//! Below a remote node, Flux deploys into the cluster of that node, by a copy of the kubeconfig in the namespace of its objects, which the
//! operator writes and deletes.
//!
//! Flux has no labels and annotations of namespaces that it creates. It has no parameters: they are added to the values. It ignores
//! [`server_side_apply`](crate::cd::Application::server_side_apply): it uses server-side apply for manifests in any case, and for charts as
//! it is configured.

mod parameters;
mod registration;

use crate::{
    cd::{
        driver::{ApplicationDestination, ApplicationSpec, Driver, IgnoredDifference, InvalidApplication},
        source::{ApplicationSource, GitRevision},
    },
    engine::desired::digest,
    kind::Kind,
    shape::{Access, Registration},
    text_hash::text_hash,
};
use registration::{KUSTOMIZATIONS, NAMESPACE, RELEASES};
use serde_json::{Value, json};

/// The media type of the layer with the chart in an image of a registry.
const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
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
    const REGISTRATION: Option<Registration> = Some(RELEASES);
    const ACCESS: &'static [Access] = &[Access::applied(helm_repository), Access::applied(helm_release)];

    /// Returns a `HelmRepository` and the `HelmRelease` of a chart in it. Refuses an application whose source is not a chart repository.
    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::Chart { repository, chart, version } = &application.source else {
            return Err(wrong_driver(application));
        };
        if is_registry(repository) {
            return Err(wrong_driver(application));
        }
        let source = json!({"interval": INTERVAL, "url": repository});
        let name = source_name(application, &source);
        let source_ref = json!({"kind": "HelmRepository", "name": name});
        let chart = json!({"chart": {"spec": {"chart": chart, "version": version, "sourceRef": source_ref}}});
        Ok(vec![flux_object(&helm_repository(), application, &name, source), release(application, chart)?])
    }
}

impl Driver for OciCharts {
    const NAME: &'static str = "Flux";
    const REGISTRATION: Option<Registration> = Some(RELEASES);
    const ACCESS: &'static [Access] = &[Access::applied(oci_repository), Access::applied(helm_release)];

    /// Returns an `OCIRepository` and the `HelmRelease` of the chart in it. Refuses an application whose source is not an OCI registry.
    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::Chart { repository, chart, version } = &application.source else {
            return Err(wrong_driver(application));
        };
        if !is_registry(repository) {
            return Err(wrong_driver(application));
        }
        let url = format!("{}/{chart}", repository.trim_end_matches('/'));
        // A tag can't contain `+`, so Helm pushes a chart with an underscore in its place. The media type selects the layer with the chart,
        // since a signed chart has another layer.
        let layer = json!({"mediaType": CHART_LAYER, "operation": "copy"});
        let reference = json!({"tag": version.replace('+', "_")});
        let source = json!({"interval": INTERVAL, "url": url, "ref": reference, "layerSelector": layer});
        let name = source_name(application, &source);
        let chart = json!({"chartRef": {"kind": "OCIRepository", "name": name}});
        Ok(vec![flux_object(&oci_repository(), application, &name, source), release(application, chart)?])
    }
}

impl Driver for GitCharts {
    const NAME: &'static str = "Flux";
    const REGISTRATION: Option<Registration> = Some(RELEASES);
    const ACCESS: &'static [Access] = &[Access::applied(git_repository), Access::applied(helm_release)];

    /// Returns a `GitRepository` and the `HelmRelease` of a chart in it. Refuses an application whose source is not a chart in git.
    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::GitChart { repository, revision, path } = &application.source else {
            return Err(wrong_driver(application));
        };
        let source = json!({"interval": INTERVAL, "url": repository, "ref": git_reference(revision)});
        let name = source_name(application, &source);
        let source_ref = json!({"kind": "GitRepository", "name": name});
        // Each commit is deployed, whether or not the version of the chart changes.
        let chart = json!({"chart": {"spec": {
            "chart": relative_path(path), "sourceRef": source_ref, "reconcileStrategy": "Revision",
        }}});
        Ok(vec![flux_object(&git_repository(), application, &name, source), release(application, chart)?])
    }
}

impl Driver for GitManifests {
    const NAME: &'static str = "Flux";
    const REGISTRATION: Option<Registration> = Some(KUSTOMIZATIONS);
    const ACCESS: &'static [Access] = &[Access::applied(git_repository), Access::applied(kustomization)];

    /// Returns a `GitRepository` and the `Kustomization` of a folder in it. Refuses an application whose source is not manifests in git.
    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::GitManifests { repository, revision, path } = &application.source else {
            return Err(wrong_driver(application));
        };
        let source = json!({"interval": INTERVAL, "url": repository, "ref": git_reference(revision)});
        let name = source_name(application, &source);
        Ok(vec![flux_object(&git_repository(), application, &name, source), manifests(application, path, &name)?])
    }
}

fn is_registry(repository: &str) -> bool {
    repository.starts_with("oci://")
}

/// Returns the error for an application with a source for another driver of Flux. It names the right driver.
fn wrong_driver(application: &ApplicationSpec) -> InvalidApplication {
    let (source, driver) = match &application.source {
        ApplicationSource::Chart { repository, .. } if is_registry(repository) => {
            ("a chart of a registry", "OciCharts")
        }
        ApplicationSource::Chart { .. } => ("a chart of a repository", "HelmCharts"),
        ApplicationSource::GitChart { .. } => ("a chart in git", "GitCharts"),
        ApplicationSource::GitManifests { .. } => ("manifests in git", "GitManifests"),
    };
    InvalidApplication::new(format!("use the driver `flux::{driver}` for {source}"))
}

/// Returns the `HelmRelease` or `Kustomization` of an application with the given spec. If the application is deployed into the cluster of a
/// kubeconfig, adds a reference to the Secret, which must be in the namespace of the object.
fn deploying_object(kind: &Kind, application: &ApplicationSpec, mut spec: Value) -> Result<Value, InvalidApplication> {
    match &application.destination {
        ApplicationDestination::Default => {}
        ApplicationDestination::Registered(_) => {
            let problem = "Flux has no registered clusters; name the kubeconfig of the cluster with `kubeconfig`";
            return Err(InvalidApplication::new(problem));
        }
        ApplicationDestination::Kubeconfig { namespace, name, key } => {
            let own = namespace_of(application);
            if namespace != own {
                let problem =
                    format!("Flux reads a kubeconfig from namespace {own} only, and Secret {name} is in {namespace}");
                return Err(InvalidApplication::new(problem));
            }
            spec["kubeConfig"] = json!({"secretRef": {"name": name, "key": key}});
        }
    }
    Ok(flux_object(kind, application, &application.object_name, spec))
}

/// Returns the namespace of the objects of Flux for an application.
fn namespace_of(application: &ApplicationSpec) -> &str {
    application.owner_namespace.as_deref().unwrap_or(NAMESPACE)
}

/// Returns an object of Flux with a name.
fn flux_object(kind: &Kind, application: &ApplicationSpec, name: &str, spec: Value) -> Value {
    let namespace = namespace_of(application);
    json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    })
}

/// Returns the reference of a source to a revision.
fn git_reference(revision: &GitRevision) -> Value {
    match revision {
        GitRevision::Branch(branch) => json!({"branch": branch}),
        GitRevision::Tag(tag) => json!({"tag": tag}),
        GitRevision::Commit(hash) => json!({"commit": hash}),
    }
}

/// Returns the name of a source object, with a hash of its spec: another repository or revision gives another name. So the `HelmRelease` or
/// `Kustomization` that refers to the source changes as well, and is not ready until Flux has deployed the new source.
fn source_name(application: &ApplicationSpec, spec: &Value) -> String {
    format!("{}-{}", application.object_name, text_hash([&*digest(spec)], 4))
}

/// Returns the `HelmRelease` of a chart; `chart` has the fields that name the chart.
fn release(application: &ApplicationSpec, chart: Value) -> Result<Value, InvalidApplication> {
    refuse_namespace_metadata(application)?;
    let mut spec = json!({
        "interval": INTERVAL,
        "releaseName": application.release.as_deref().unwrap_or(&application.object_name),
        "targetNamespace": application.namespace,
        "storageNamespace": application.namespace,
        "install": {
            "createNamespace": application.create_namespace, "disableWait": application.allows_degraded,
            "strategy": {"name": "RetryOnFailure"},
        },
        "upgrade": {"disableWait": application.allows_degraded, "strategy": {"name": "RetryOnFailure"}},
        "driftDetection": {"mode": "enabled"},
    });
    for (field, value) in chart.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    if !application.ignored_differences.is_empty() {
        let differences = application.ignored_differences.iter();
        let ignored = differences.map(|difference| json!({"paths": difference.pointers, "target": target(difference)}));
        spec["driftDetection"]["ignore"] = ignored.collect();
    }
    if let Some(values) = parameters::merge(application.values.clone(), &application.parameters)? {
        spec["values"] = values;
    }
    deploying_object(&helm_release(), application, spec)
}

/// Fails if the application sets labels or annotations of its namespace, which Flux can't set.
fn refuse_namespace_metadata(application: &ApplicationSpec) -> Result<(), InvalidApplication> {
    if application.namespace_labels.is_empty() && application.namespace_annotations.is_empty() {
        return Ok(());
    }
    let problem = "Flux can't set labels or annotations of a namespace; add the Namespace to the tree";
    Err(InvalidApplication::new(problem))
}

/// Returns the selector of the objects whose differences Flux ignores: their kind, and their group unless it is the core group.
fn target(ignored: &IgnoredDifference) -> Value {
    match &*ignored.group {
        "" => json!({"kind": ignored.kind}),
        group => json!({"group": group, "kind": ignored.kind}),
    }
}

/// Returns the `Kustomization` that deploys the manifests in a folder of the `GitRepository` with the name `source`. Fails if the
/// application has an option that Flux can't apply to manifests.
fn manifests(application: &ApplicationSpec, path: &str, source: &str) -> Result<Value, InvalidApplication> {
    let ApplicationSpec { release, parameters, values, .. } = application;
    if release.is_some() || !parameters.is_empty() || values.is_some() {
        return Err(InvalidApplication::new("a release, parameters and values are for charts only"));
    }
    refuse_namespace_metadata(application)?;
    if application.create_namespace {
        let problem = "Flux can't create the namespace of manifests; add the Namespace to the tree";
        return Err(InvalidApplication::new(problem));
    }
    if !application.ignored_differences.is_empty() {
        return Err(InvalidApplication::new("Flux can ignore differences of charts only"));
    }
    let mut spec = json!({
        "interval": INTERVAL,
        "path": relative_path(path),
        "prune": true,
        "wait": !application.allows_degraded,
        "sourceRef": {"kind": "GitRepository", "name": source},
    });
    if application.has_namespace {
        spec["targetNamespace"] = application.namespace.as_str().into();
    }
    deploying_object(&kustomization(), application, spec)
}

/// Returns a path as Flux writes it, relative to the root of the repository.
fn relative_path(path: &str) -> String {
    let path = path.trim_start_matches("./").trim_start_matches('/');
    format!("./{path}")
}

#[cfg(test)]
mod tests;
