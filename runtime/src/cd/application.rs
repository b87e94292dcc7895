//! `Application`: describes a Helm chart or manifests in git that a CD system such as Argo CD deploys. The functions of application nodes
//! in a tree return it.

use crate::{
    cd::{
        driver::{ApplicationDestination, ApplicationSpec, IgnoredDifference, InvalidApplication, Parameter},
        registered_cluster::RegisteredCluster,
        release_name::{MAX_RELEASE_NAME, release_problem},
        source::{ApplicationSource, GitRevision},
    },
    client::strip_nulls,
    dns_name::is_dns_label,
    json_order::sort_keys,
    scope::{Kubeconfig, KubeconfigSecret},
    text_hash::text_hash,
};
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeMap, fmt};

/// The namespace of an application whose owner has none.
const DEFAULT_NAMESPACE: &str = "default";
/// The number of hexadecimal digits of the hash in an object name, two for each byte.
const HASH: usize = 10;

/// A chart, or manifests in git, that a CD system deploys: the type of a field with `#[provisioner(application(ArgoCd))]`, and the
/// return type of its function.
///
/// An application that can't be deployed, for example one with an empty version or with parameters for plain manifests, makes the node
/// fail with the reason `InvalidApplication`, and a sentence without values. The node tries again after the requeue interval.
///
/// Source: the fields are those of Argo CD's `Application` and of `helm install`. See the [module](crate::cd) for an example.
#[derive(Clone)]
pub struct Application {
    source: ApplicationSource,
    name: Option<String>,
    release: Option<String>,
    namespace: Option<String>,
    create_namespace: bool,
    namespace_labels: BTreeMap<String, String>,
    namespace_annotations: BTreeMap<String, String>,
    parameters: Vec<Parameter>,
    /// The values, or the problem of their serialization.
    values: Result<Option<Value>, InvalidApplication>,
    server_side_apply: bool,
    ignored_differences: Vec<IgnoredDifference>,
    allows_degraded: bool,
    cluster: Option<ApplicationCluster>,
}

/// The cluster of an application, if it is not that of the CD system.
#[derive(Clone)]
enum ApplicationCluster {
    Registered(String),
    Kubeconfig(Kubeconfig),
}

impl fmt::Debug for Application {
    /// Shows the source only, since parameters and values may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Application").field("source", &self.source).finish_non_exhaustive()
    }
}

/// The owner of an application and its node, from which its defaults and its name derive.
pub(crate) struct ApplicationOwner<'a> {
    pub(crate) operator: &'a str,
    /// The kind with its group: `webapps.demo.example.com`.
    pub(crate) kind: String,
    pub(crate) name: &'a str,
    /// The default of the namespace into which the application is deployed: that of the owner, or the owner itself if it is a
    /// Namespace.
    pub(crate) namespace: Option<&'a str>,
    /// The same for the objects that deploy it, which may be in another cluster.
    pub(crate) object_namespace: Option<&'a str>,
    /// The path of the node, with keys.
    pub(crate) node: &'a str,
    /// The cluster of the remote node that it is below; empty for the operator's cluster. Another cluster gives another name.
    pub(crate) cluster: &'a str,
}

impl Application {
    /// Returns the application of a chart: `chart("https://charts.jetstack.io", "cert-manager", "v1.19.1")`. The repository may be
    /// an OCI registry, `oci://ghcr.io/example/charts`. The version reaches the CD system as written.
    pub fn chart(repository: impl Into<String>, chart: impl Into<String>, version: impl Into<String>) -> Self {
        Self::new(ApplicationSource::Chart {
            repository: repository.into(),
            chart: chart.into(),
            version: version.into(),
        })
    }

    /// Returns the application of a chart in a folder of a git repository.
    pub fn git_chart(repository: impl Into<String>, revision: GitRevision, path: impl Into<String>) -> Self {
        Self::new(ApplicationSource::GitChart { repository: repository.into(), revision, path: path.into() })
    }

    /// Returns the application of the manifests, or of the kustomization, in a folder of a git repository.
    pub fn git_manifests(repository: impl Into<String>, revision: GitRevision, path: impl Into<String>) -> Self {
        Self::new(ApplicationSource::GitManifests { repository: repository.into(), revision, path: path.into() })
    }

    /// Returns an application with a source and the defaults of all options.
    fn new(source: ApplicationSource) -> Self {
        Self {
            source,
            name: None,
            release: None,
            namespace: None,
            create_namespace: false,
            namespace_labels: BTreeMap::new(),
            namespace_annotations: BTreeMap::new(),
            parameters: Vec::new(),
            values: Ok(None),
            server_side_apply: false,
            ignored_differences: Vec::new(),
            allows_degraded: false,
            cluster: None,
        }
    }

    /// Sets the name. It is a part of the names of the objects of the CD system, so a change replaces the application. Default: the
    /// name of the field.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the name of the release of Helm. Default: the name of the object of the CD system, which no other application has.
    #[must_use]
    pub fn release(mut self, release: impl Into<String>) -> Self {
        self.release = Some(release.into());
        self
    }

    /// Sets the namespace into which the application is deployed. Default: the namespace of the owner, or `default` if it has none.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Lets the CD system create the namespace if it does not exist.
    #[must_use]
    pub fn create_namespace(mut self) -> Self {
        self.create_namespace = true;
        self
    }

    /// Adds a label to the namespace that the CD system creates. Flux and Helm can't set one.
    #[must_use]
    pub fn namespace_label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.namespace_labels.insert(name.into(), value.into());
        self
    }

    /// Adds an annotation to the namespace that the CD system creates. Flux and Helm can't set one.
    #[must_use]
    pub fn namespace_annotation(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.namespace_annotations.insert(name.into(), value.into());
        self
    }

    /// Adds a parameter of the chart, as `helm --set` does: the name is a path with dots. Parameters win over values, and a later
    /// parameter wins over an earlier one of the same name.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let parameter = Parameter { name: name.into(), value: value.into() };
        self.parameters.retain(|earlier| earlier.name != parameter.name);
        self.parameters.push(parameter);
        self
    }

    /// Sets the values of the chart: anything that serializes to a map. Nulls are left out.
    ///
    /// Values are stored in objects of the CD system, in plain text. A Secret of the tree, which the values name, is the better place
    /// for a password.
    #[must_use]
    pub fn values(mut self, values: impl Serialize) -> Self {
        self.values = match serde_json::to_value(values).map(strip_nulls) {
            Ok(Value::Null) => Ok(None),
            Ok(values @ Value::Object(_)) => Ok(Some(sort_keys(values))),
            Ok(_) => Err(InvalidApplication::new("the values must be a map")),
            // The text of the error may quote a value.
            Err(_) => Err(InvalidApplication::new("the values can't be serialized as JSON")),
        };
        self
    }

    /// Lets the CD system use server-side apply. Flux uses it for manifests in any case, and for charts as it is configured; Helm
    /// always uses it.
    #[must_use]
    pub fn server_side_apply(mut self) -> Self {
        self.server_side_apply = true;
        self
    }

    /// Lets the CD system ignore differences of fields of a kind: `ignore_difference("apps", "Deployment", ["/spec/replicas"])`.
    /// The fields are JSON pointers. Helm can't, since it repairs no differences.
    #[must_use]
    pub fn ignore_difference(
        mut self,
        group: impl Into<String>,
        kind: impl Into<String>,
        pointers: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let pointers = pointers.into_iter().map(Into::into).collect();
        self.ignored_differences.push(IgnoredDifference { group: group.into(), kind: kind.into(), pointers });
        self
    }

    /// Lets the node succeed once the application is deployed, although it is degraded.
    #[must_use]
    pub fn allow_degraded(mut self) -> Self {
        self.allows_degraded = true;
        self
    }

    /// Deploys into the cluster that is registered with Argo CD by this name. Flux and Helm can't; see [`Application::kubeconfig`].
    /// Default: the cluster in the settings of the driver.
    #[must_use]
    pub fn cluster(mut self, name: impl Into<String>) -> Self {
        self.cluster = Some(ApplicationCluster::Registered(name.into()));
        self
    }

    /// Deploys into the cluster of a kubeconfig, for example one that an earlier node has made. Flux and Helm read the Secret from the
    /// namespace of their objects, which is that of the owner, and use the server in it. Argo CD can't; see [`Application::cluster`].
    /// Default: the cluster of Flux, or of the operator with Helm.
    #[must_use]
    pub fn kubeconfig(mut self, kubeconfig: Kubeconfig) -> Self {
        self.cluster = Some(ApplicationCluster::Kubeconfig(kubeconfig));
        self
    }

    /// Checks the application, and returns it with all defaults and the name of its objects. Below a remote node, whose objects are in
    /// another cluster, `registered` is that cluster as it is registered with the CD system; `None` without a remote node or a
    /// registration.
    ///
    /// # Errors
    /// If an option of the application is invalid.
    pub(crate) fn resolve(
        self,
        owner: &ApplicationOwner<'_>,
        registered: Option<&RegisteredCluster>,
    ) -> Result<ApplicationSpec, InvalidApplication> {
        for (field, value) in self.source.required_fields() {
            if value.is_empty() {
                return Err(InvalidApplication::new(format!("the {field} is empty")));
            }
        }
        let name = self.name.unwrap_or_else(|| field_name(owner.node));
        let release = self.release.filter(|release| !release.is_empty());
        if let Some(problem) = release.as_deref().and_then(release_problem) {
            return Err(InvalidApplication::new(problem));
        }
        if self.parameters.iter().any(|parameter| parameter.name.is_empty()) {
            return Err(InvalidApplication::new("the name of a parameter is empty"));
        }
        let namespace = self.namespace.filter(|namespace| !namespace.is_empty());
        if namespace.as_deref().is_some_and(|namespace| !is_dns_label(namespace)) {
            return Err(InvalidApplication::new("the namespace must be a DNS label"));
        }
        for IgnoredDifference { kind, pointers, .. } in &self.ignored_differences {
            if kind.is_empty() || pointers.is_empty() || pointers.iter().any(|pointer| !pointer.starts_with('/')) {
                let problem = "an ignored difference needs a kind and JSON pointers, which begin with a slash";
                return Err(InvalidApplication::new(problem));
            }
        }
        let own_namespace = owner.namespace.unwrap_or(DEFAULT_NAMESPACE);
        let destination = match self.cluster {
            None => registered.map_or(ApplicationDestination::Default, RegisteredCluster::destination),
            Some(_) if registered.is_some() => {
                let problem = "below a remote node, an application is deployed into the cluster of that node";
                return Err(InvalidApplication::new(problem));
            }
            Some(ApplicationCluster::Registered(name)) if name.is_empty() => {
                return Err(InvalidApplication::new("the name of the cluster is empty"));
            }
            Some(ApplicationCluster::Registered(name)) => ApplicationDestination::Registered(name),
            Some(ApplicationCluster::Kubeconfig(kubeconfig)) => {
                let record = kubeconfig.record(owner.namespace);
                let secret = record.map_err(|error| InvalidApplication::new(error.to_string()))?.secret;
                let KubeconfigSecret { namespace, name, key, server } = secret;
                if server.is_some() {
                    return Err(InvalidApplication::new("a CD system uses the server in the kubeconfig"));
                }
                ApplicationDestination::Kubeconfig { namespace, name, key }
            }
        };
        Ok(ApplicationSpec {
            object_name: object_name(&name, owner),
            name,
            owner_namespace: owner.object_namespace.map(str::to_owned),
            source: self.source,
            release,
            has_namespace: namespace.is_some(),
            namespace: namespace.unwrap_or_else(|| own_namespace.to_owned()),
            create_namespace: self.create_namespace,
            namespace_labels: self.namespace_labels,
            namespace_annotations: self.namespace_annotations,
            parameters: self.parameters,
            values: self.values?,
            server_side_apply: self.server_side_apply,
            ignored_differences: self.ignored_differences,
            allows_degraded: self.allows_degraded,
            destination,
        })
    }
}

/// Returns the name of the field at the end of a node's path, as a DNS label.
fn field_name(node: &str) -> String {
    node.rsplit('/').next().unwrap_or(node).replace('_', "-")
}

/// Returns the name of the objects that deploy an application, which is also the default name of its release: the name of the application
/// and a hash of the operator, the owner and the node. No other owner in the cluster gets the same name.
///
/// An owner that is deleted and created again gets the same name as before. It waits until the objects of the former owner, which carry the
/// uid of that owner, are gone. So the two owners never deploy the same chart at the same time.
fn object_name(name: &str, owner: &ApplicationOwner<'_>) -> String {
    let namespace = owner.object_namespace.unwrap_or_default();
    let texts = [owner.operator, &*owner.kind, namespace, owner.name, owner.node, name];
    // An empty cluster is not hashed, so that names from releases before remote nodes stay the same.
    let cluster = Some(owner.cluster).filter(|cluster| !cluster.is_empty());
    let hash = text_hash(texts.into_iter().chain(cluster), HASH / 2);
    let lowercase = name.to_ascii_lowercase();
    let label: String = lowercase.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    // Leaves room for a hyphen and the hash.
    let stem = label.trim_matches('-');
    let stem = stem[..stem.len().min(MAX_RELEASE_NAME - HASH - 1)].trim_end_matches('-');
    // A name that begins with a digit is no name of a Service, and some charts derive one.
    match stem.chars().next() {
        Some(first) if first.is_ascii_lowercase() => format!("{stem}-{hash}"),
        _ => format!("app-{hash}"),
    }
}

#[cfg(test)]
mod tests;
