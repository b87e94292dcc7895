//! `Catalog`: the applications that a platform offers, as objects of the kind `HelmApplication`, with a lookup by version.
//!
//! Each object has the versions of one application. A platform team maintains the objects; the spec of an owner names an application and a
//! version, or the operator does.
//!
//! # Example
//!
//! ```
//! use k8s_openapi::api::core::v1::Namespace;
//! use opgen::cd::{Application, ArgoCd, catalog::{Catalog, HelmApplication}};
//! use opgen::prelude::*;
//!
//! #[derive(Clone, Debug, Default)]
//! struct Settings {
//!     catalog: Catalog,
//! }
//!
//! type Team = For<Foreign<Namespace>, Settings>;
//!
//! #[derive(Provisioner)]
//! #[provisioner(serial, owner = Team)]
//! struct Tree {
//!     #[provisioner(application(ArgoCd))]
//!     monitoring: Application,
//! }
//!
//! impl Tree {
//!     fn monitoring(draft: &Draft<'_, Team>) -> Result<Application> {
//!         draft.options().catalog.application("monitoring", "v1.4")
//!     }
//! }
//!
//! let catalog = Catalog::new("platform");
//! let operator = Operator::new("teams")
//!     .defines::<HelmApplication>()
//!     .controls_with::<Team, Tree>(|c| c.catalog(&catalog).options(Settings { catalog: catalog.clone() }));
//! # drop(operator);
//! ```

mod error;
mod version;

use super::{Application, GitRevision};
use crate::{Controller, Lister, Managed, error::Result, managed::Owner, validation::Validated};
use kube::{CustomResource, ResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, sync::Arc};
use version::{is_same_version, is_within};

pub use error::CatalogError;

/// The label with the name of an application, if it differs from that of its object.
///
/// Source: the recommended labels of Kubernetes.
const NAME_LABEL: &str = "app.kubernetes.io/name";

/// The versions of an application that a platform offers.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "cd.opgen.dev",
    version = "v1alpha1",
    kind = "HelmApplication",
    namespaced,
    status = "opgen_api::Status",
    derive = "PartialEq"
)]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[managed(crate = "crate")]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HelmApplicationSpec {
    /// Words by which users find the application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "set"))]
    pub tags: Vec<String>,
    /// The URL of the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// The licence, for example `Apache-2.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The versions that can be deployed.
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub versions: Vec<HelmApplicationVersion>,
}

/// One version of an application: a chart of a repository, or a chart in a git repository.
#[derive(Validated, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[valid(crate = "crate")]
#[valid(one_of(chart, branch, message = "set the chart of a chart repository, or the branch of a git repository"))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HelmApplicationVersion {
    /// The version, for example `v1.2.3`. The CD system gets it as written.
    #[schemars(length(min = 1))]
    pub version: String,
    /// The URL of the repository.
    #[schemars(length(min = 1))]
    pub repository: String,
    /// The name of the chart in a chart repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub chart: Option<String>,
    /// The branch of a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub branch: Option<String>,
    /// The folder of the chart in a git repository; the root by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub path: Option<String>,
    /// The name of the release of Helm; unique for each application by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub release: Option<String>,
    /// Parameters of the chart, before those of the operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub parameters: Vec<HelmApplicationParameter>,
    /// The namespace into which the application is deployed; that of its owner by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub namespace: Option<String>,
    /// Whether the CD system creates the namespace.
    #[serde(default)]
    pub create_namespace: bool,
    /// Whether the CD system uses server-side apply.
    #[serde(default)]
    pub server_side_apply: bool,
    /// The applications that must be deployed beside this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub dependencies: Vec<HelmApplicationDependency>,
}

/// A parameter of a chart.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HelmApplicationParameter {
    /// The path of the value, with dots.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The value.
    #[schemars(length(min = 1))]
    pub value: String,
}

impl fmt::Debug for HelmApplicationParameter {
    /// Shows the name only, since the value may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HelmApplicationParameter").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An application that must be deployed beside another one.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HelmApplicationDependency {
    /// The name of the application.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The versions that suffice, for example `>=1.2, <2`, or `^1 || ^2`; all by default. A version alone means all that are compatible
    /// with it by semantic versioning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
}

impl HelmApplication {
    /// Returns the name of the application: its label `app.kubernetes.io/name`, or the name of the object.
    pub fn application_name(&self) -> String {
        self.labels().get(NAME_LABEL).cloned().unwrap_or_else(|| self.name_any())
    }

    /// Returns the first version that equals `version` as a semantic version: `v1.2.0` equals `1.2`. Build metadata is ignored.
    ///
    /// # Errors
    /// If there is none.
    pub fn find_version(&self, version: &str) -> Result<&HelmApplicationVersion, CatalogError> {
        let is_wanted = |candidate: &&HelmApplicationVersion| is_same_version(&candidate.version, version);
        self.spec
            .versions
            .iter()
            .find(is_wanted)
            .ok_or_else(|| CatalogError::UnknownVersion { name: self.application_name(), version: version.to_owned() })
    }

    /// Returns the application in a version, with the options that the object of the catalog sets.
    ///
    /// # Errors
    /// If there is no such version, or if it has neither a chart nor a branch.
    pub fn application(&self, version: &str) -> Result<Application, CatalogError> {
        let found = self.find_version(version)?;
        let name = self.application_name();
        let repository = &found.repository;
        let mut application = match (&found.chart, &found.branch) {
            (Some(chart), _) => Application::chart(repository, chart, &found.version),
            (None, Some(branch)) => {
                let path = found.path.as_deref().unwrap_or(".");
                Application::git_chart(repository, GitRevision::branch(branch), path)
            }
            (None, None) => return Err(CatalogError::NoSource { name, version: found.version.clone() }),
        };
        application = application.name(name);
        for HelmApplicationParameter { name, value } in &found.parameters {
            application = application.parameter(name, value);
        }
        if let Some(release) = &found.release {
            application = application.release(release);
        }
        if let Some(namespace) = &found.namespace {
            application = application.namespace(namespace);
        }
        if found.create_namespace {
            application = application.create_namespace();
        }
        if found.server_side_apply {
            application = application.server_side_apply();
        }
        Ok(application)
    }
}

/// A cache of the catalog in one namespace, which build functions read without an API call. Clones share it. The default is the
/// catalog in the namespace `default`.
///
/// Whoever may write objects of this kind in that namespace decides what is deployed.
#[derive(Clone, Debug)]
pub struct Catalog {
    namespace: String,
    applications: Lister<Arc<HelmApplication>>,
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new("default")
    }
}

impl Catalog {
    /// Returns the catalog in a namespace. It is empty until a controller [fills](Controller::catalog) it.
    pub fn new(namespace: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), applications: Lister::default() }
    }

    /// Returns an application of the catalog in a version.
    ///
    /// # Errors
    /// A yield with the reason `CatalogMismatch` if there is none, and a yield while the catalog is not read yet.
    pub fn application(&self, name: &str, version: &str) -> Result<Application> {
        let found = self.read(|applications| find(applications, name).and_then(|found| found.application(version)))?;
        found.map_err(|error| CatalogError::yielding(&[error]))
    }

    /// Checks that applications can be deployed together: each exists in its version, and each of its dependencies is selected in a
    /// version that suffices. Call it in the first node of a tree, before anything is deployed.
    ///
    /// # Errors
    /// A yield with the reason `CatalogMismatch` that names all conflicts, and a yield while the catalog is not read yet.
    pub fn check<'a>(&self, selected: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<()> {
        let selected: BTreeMap<_, _> = selected.into_iter().collect();
        let errors = self.read(|applications| conflicts(applications, &selected))?;
        if errors.is_empty() { Ok(()) } else { Err(CatalogError::yielding(&errors)) }
    }

    /// Calls `read` with the applications in the namespace of the catalog.
    ///
    /// # Errors
    /// A yield while the catalog is not read yet.
    fn read<T>(&self, read: impl FnOnce(&[Arc<HelmApplication>]) -> T) -> Result<T> {
        let applications: Vec<_> = self.applications.read(|objects| {
            let in_namespace = objects.iter().filter(|(namespace, ..)| *namespace == self.namespace);
            in_namespace.map(|(_, _, application)| application.clone()).collect()
        })?;
        Ok(read(&applications))
    }
}

impl<O: Owner> Controller<O> {
    /// Watches the kind `HelmApplication` and fills a catalog, which the nodes get from the options. A change of the catalog starts no
    /// pass: passes that wait for it run again after the requeue interval, and others at their next change or resync.
    #[must_use]
    pub fn catalog(self, catalog: &Catalog) -> Self {
        self.lister(&catalog.applications, |application: &HelmApplication| Arc::new(application.clone()), |_, _| None)
    }
}

/// Returns the application with this name. Fails if no application has the name, or if several have it.
fn find<'a>(applications: &'a [Arc<HelmApplication>], name: &str) -> Result<&'a HelmApplication, CatalogError> {
    let mut found = applications.iter().filter(|application| application.application_name() == name);
    match (found.next(), found.next()) {
        (Some(application), None) => Ok(application),
        (Some(_), Some(_)) => Err(CatalogError::AmbiguousApplication { name: name.to_owned() }),
        (None, _) => Err(CatalogError::UnknownApplication { name: name.to_owned() }),
    }
}

/// Returns the reasons why the selected applications can't be deployed together: applications and versions that do not exist, and
/// dependencies that the selection does not meet. `selected` has the version of each application by its name.
fn conflicts(applications: &[Arc<HelmApplication>], selected: &BTreeMap<&str, &str>) -> Vec<CatalogError> {
    let mut errors = Vec::new();
    for (name, version) in selected {
        let found = find(applications, name).and_then(|application| application.find_version(version));
        match found {
            Ok(found) => {
                let application = format!("{name} {version}");
                let failures = found
                    .dependencies
                    .iter()
                    .filter_map(|dependency| conflict_with(&application, dependency, selected));
                errors.extend(failures);
            }
            Err(error) => errors.push(error),
        }
    }
    errors
}

/// Returns why the selection does not meet a dependency of `application`; `None` if it does. `selected` has the version of each selected
/// application by its name.
fn conflict_with(
    application: &str,
    wanted: &HelmApplicationDependency,
    selected: &BTreeMap<&str, &str>,
) -> Option<CatalogError> {
    let constraints = wanted.constraints.as_deref().unwrap_or_default().trim();
    let dependency = format!("{} {constraints}", wanted.name).trim_end().to_owned();
    let application = application.to_owned();
    let Some(version) = selected.get(wanted.name.as_str()) else {
        return Some(CatalogError::Conflict { application, dependency, selected: None });
    };
    match is_within(version, constraints) {
        Some(true) => None,
        Some(false) => Some(CatalogError::Conflict { application, dependency, selected: Some((*version).to_owned()) }),
        None => Some(CatalogError::InvalidConstraints { application, dependency }),
    }
}

#[cfg(test)]
mod tests;
