//! `Driver`: the trait of a CD system, which translates an application (a chart, or manifests in git) to the objects with which the CD
//! system deploys it.

use crate::{
    cd::source::ApplicationSource,
    error::Error,
    shape::{Access, Registration},
};
use serde_json::Value;
use std::{collections::BTreeMap, fmt, marker::PhantomData};

/// A CD system that deploys applications.
///
/// A driver is a type, named in `application(...)`, and has no state. It translates an application to the objects with which the CD
/// system deploys it; the node applies, repairs and deletes them. An object is ready by [`readiness`](mod@crate::readiness): for
/// the kinds of Argo CD and Flux by rules of their own, for other kinds by their conditions.
///
/// # Rules
/// - The names of the objects derive from [`ApplicationSpec::object_name`], which no other application has.
/// - The same application gives the same objects, so that nothing is written without a difference.
/// - Each application has an object of the last kind of [`ACCESS`](Driver::ACCESS), which deploys it. Another version changes this object
///   and keeps its name: the CD system upgrades the application, and the object is not ready with the version before.
/// - Each part of the application is in the objects, or the application is refused. An option without an effect would mislead.
/// - If the CD system removes what it deployed only on request, as by a finalizer of Argo CD, the object has that request from the
///   beginning.
///
/// The crate `opgen-testing` has a suite that checks these rules and more, in a test of the driver:
/// `opgen_testing::driver::conformance::<K3s>().check()`.
///
/// # Example
///
/// ```
/// use opgen::cd::{ApplicationDestination, ApplicationSource, ApplicationSpec, Driver, InvalidApplication};
/// use opgen::{Kind, shape::Access};
/// use serde_json::{Value, json};
///
/// // The Helm controller of K3s.
/// struct K3s;
///
/// impl Driver for K3s {
///     const NAME: &'static str = "K3s";
///     const ACCESS: &'static [Access] = &[Access::applied(|| Kind {
///         group: "helm.cattle.io".into(),
///         version: "v1".into(),
///         kind: "HelmChart".into(),
///         plural: "helmcharts".into(),
///         namespaced: true,
///     })];
///
///     fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
///         let ApplicationSource::Chart { repository, chart, version } = &application.source else {
///             return Err(InvalidApplication::new("K3s deploys charts of a repository only"));
///         };
///         let is_unsupported = repository.starts_with("oci://")
///             || application.release.is_some()
///             || !application.namespace_labels.is_empty()
///             || !application.namespace_annotations.is_empty()
///             || !application.parameters.is_empty()
///             || application.server_side_apply
///             || !application.ignored_differences.is_empty()
///             || application.allows_degraded
///             || application.destination != ApplicationDestination::Default;
///         if is_unsupported {
///             let problem = "K3s deploys charts of a repository with a namespace and values, and without other options";
///             return Err(InvalidApplication::new(problem));
///         }
///         // Fields that are null are left out. JSON is YAML.
///         let values = application.values.as_ref().map(Value::to_string);
///         Ok(vec![json!({
///             "apiVersion": "helm.cattle.io/v1",
///             "kind": "HelmChart",
///             "metadata": {"name": application.object_name, "namespace": "kube-system"},
///             "spec": {
///                 "repo": repository,
///                 "chart": chart,
///                 "version": version,
///                 "targetNamespace": application.namespace,
///                 "createNamespace": application.create_namespace,
///                 "valuesContent": values,
///             },
///         })])
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a driver of applications",
    label = "does not implement `Driver`",
    note = "use `cd::ArgoCd`, a driver of `cd::flux`, `cd::helm::Helm`, or a type that implements `cd::Driver`"
)]
pub trait Driver: 'static {
    /// The name of the CD system, for diagrams.
    const NAME: &'static str;
    /// The permissions for the kinds of the objects, by [`Access::applied`]. The kinds are applied in this order, each when the
    /// objects before it are ready, and removed in the reverse order.
    const ACCESS: &'static [Access];
    /// How the CD system in the operator's cluster gets access to the cluster of a remote node, so that it deploys the applications below
    /// the node. Default: `None`, for a CD system that can't: then the objects of these applications are in that cluster, for a CD system
    /// there.
    ///
    /// The clusters of applications that [`ArgoCd`](crate::cd::ArgoCd), the drivers of [`flux`](crate::cd::flux) and
    /// [`Helm`](crate::cd::helm::Helm) deploy are registered.
    const REGISTRATION: Option<Registration> = None;

    /// Returns the objects that deploy an application, with `apiVersion`, `kind` and `metadata`. An object without a namespace gets
    /// that of the owner.
    ///
    /// # Errors
    /// If the CD system can't deploy such an application.
    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication>;
}

/// Deploys an application below a remote node with the CD system in the cluster of that node, instead of the one in the operator's
/// cluster. There is no difference for other applications.
#[derive(Debug)]
pub struct InCluster<D>(PhantomData<fn() -> D>);

impl<D: Driver> Driver for InCluster<D> {
    const NAME: &'static str = D::NAME;
    const ACCESS: &'static [Access] = D::ACCESS;

    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        D::objects(application)
    }
}

/// An application with all defaults, as a driver deploys it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApplicationSpec {
    /// The name of the application, for people: by default that of the node.
    pub name: String,
    /// The name for objects of the CD system: the name with a hash of the owner and the path of the node. It is a DNS
    /// label of at most 53 characters, the limit of a release of Helm.
    pub object_name: String,
    /// The namespace of objects that name none: that of the owner. `None` if the owner has none.
    pub owner_namespace: Option<String>,
    /// Where the application comes from.
    pub source: ApplicationSource,
    /// The name of the release of Helm; `None` for the default of the CD system.
    pub release: Option<String>,
    /// The namespace into which the application is deployed.
    pub namespace: String,
    /// Whether the application names the namespace, so that it is no default.
    pub has_namespace: bool,
    /// Whether the CD system creates the namespace.
    pub create_namespace: bool,
    /// The labels of the namespace that the CD system creates.
    pub namespace_labels: BTreeMap<String, String>,
    /// The annotations of the namespace that the CD system creates.
    pub namespace_annotations: BTreeMap<String, String>,
    /// The parameters of the chart, in order. No two have one name.
    pub parameters: Vec<Parameter>,
    /// The values of the chart, without nulls; `None` if there are none.
    pub values: Option<Value>,
    /// Whether the CD system uses server-side apply.
    pub server_side_apply: bool,
    /// The fields whose differences the CD system ignores.
    pub ignored_differences: Vec<IgnoredDifference>,
    /// Whether the application may be degraded.
    pub allows_degraded: bool,
    /// The cluster into which the application is deployed.
    pub destination: ApplicationDestination,
}

/// The cluster into which an application is deployed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplicationDestination {
    /// The cluster in the settings of the driver; without one, that of the CD system.
    Default,
    /// A cluster that is registered with the CD system by this name.
    Registered(String),
    /// The cluster of a kubeconfig in a Secret.
    Kubeconfig {
        /// The namespace of the Secret.
        namespace: String,
        /// The name of the Secret.
        name: String,
        /// The key of the kubeconfig.
        key: String,
    },
}

impl fmt::Debug for ApplicationSpec {
    /// Shows neither parameters nor values, since they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplicationSpec")
            .field("object_name", &self.object_name)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// A parameter of a chart, as `helm --set` has it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The path of the value, with dots: `controller.replicas`.
    pub name: String,
    /// The value as text. Helm reads it as a boolean or an integer if it looks like one.
    pub value: String,
}

impl fmt::Debug for Parameter {
    /// Shows the name only, since the value may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Fields of deployed objects that others change, so that the CD system doesn't set them back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IgnoredDifference {
    /// The group of the objects; `""` for the core group.
    pub group: String,
    /// The kind of the objects.
    pub kind: String,
    /// The JSON pointers of the fields (RFC 6901), for example `/spec/replicas`.
    pub pointers: Vec<String>,
}

/// The error of an application that can't be deployed: a sentence without values, since these may be secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidApplication(String);

impl InvalidApplication {
    /// Returns the error with a problem, for example `Flux needs a chart`.
    pub fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }

    /// Returns the error of the node. It is retried, since a build function may read objects that change, for example a catalog.
    pub(crate) fn into_error(self, node: &str) -> Error {
        Error::blocked("InvalidApplication", format!("application {node}: {}", self.0))
    }
}

impl fmt::Display for InvalidApplication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidApplication {}
