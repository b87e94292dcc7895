//! `ArgoCd`: the driver that deploys applications as `Application` objects of Argo CD.

mod registration;
mod settings;

use crate::{
    cd::{
        driver::{ApplicationDestination, ApplicationSpec, Driver, InvalidApplication, Parameter},
        source::ApplicationSource,
    },
    kind::Kind,
    label_value::label_value,
    readiness::ALLOW_DEGRADED,
    shape::{Access, Registration},
};
use registration::registration;
use serde_json::{Map, Value, json};
pub use settings::{ArgoCdSettings, DefaultArgoCd};
use std::{fmt, marker::PhantomData};

/// Deploys applications with Argo CD: each is an `Application`, with automated sync, self-healing, pruning and retries without limit.
///
/// The `Application` has the finalizer of Argo CD from the beginning, so its deletion waits until Argo CD has removed the objects that
/// it deployed, whoever deletes it.
///
/// Below a remote node (see [`scope`](crate::scope)), Argo CD deploys into the cluster of that node. The operator registers the cluster by
/// a Secret in the namespace of Argo CD, which all applications share that are deployed there, and deletes it after the last of them. The
/// credentials are those of the kubeconfig, so they need the rights for all objects in the charts.
///
/// The type parameter has the settings of the installation of Argo CD:
///
/// ```
/// use opgen::cd::{ArgoCd, ArgoCdSettings};
///
/// // Argo CD as OpenShift GitOps installs it.
/// struct OpenShift;
///
/// impl ArgoCdSettings for OpenShift {
///     const NAMESPACE: &'static str = "openshift-gitops";
/// }
///
/// // `application(GitOps)` in a tree.
/// type GitOps = ArgoCd<OpenShift>;
/// ```
pub struct ArgoCd<S = DefaultArgoCd>(PhantomData<fn() -> S>);

impl<S> fmt::Debug for ArgoCd<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArgoCd")
    }
}

/// The label with the name of the application.
const NAME_LABEL: &str = "opgen.dev/application";
/// The finalizer with which Argo CD removes the objects that it deployed, before the `Application` is gone.
///
/// Source: the documentation of Argo CD, "App Deletion".
const FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";

/// Returns the kind `Application` of Argo CD.
fn application_kind() -> Kind {
    Kind {
        group: "argoproj.io".into(),
        version: "v1alpha1".into(),
        kind: "Application".into(),
        plural: "applications".into(),
        namespaced: true,
    }
}

impl<S: ArgoCdSettings> Driver for ArgoCd<S> {
    const NAME: &'static str = "Argo CD";
    const ACCESS: &'static [Access] = &[Access::applied(application_kind)];
    const REGISTRATION: Option<Registration> = Some(registration::<S>());

    /// Returns the `Application` of Argo CD that deploys the application.
    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSpec { name, object_name, namespace, .. } = application;
        let mut spec = json!({
            "project": S::PROJECT,
            "source": source(application)?,
            "destination": {"name": cluster_name::<S>(application)?, "namespace": namespace},
            "syncPolicy": sync_policy(application)?,
        });
        if !application.ignored_differences.is_empty() {
            let differences = application.ignored_differences.iter().map(|difference| {
                let mut entry = json!({"kind": difference.kind, "jsonPointers": difference.pointers});
                if !difference.group.is_empty() {
                    entry["group"] = difference.group.as_str().into();
                }
                entry
            });
            spec["ignoreDifferences"] = differences.collect();
        }
        // Argo CD only displays `info`. opgen reads it to judge the `Application`, which is then ready also with the health `Degraded`.
        if application.allows_degraded {
            spec["info"] = json!([{"name": ALLOW_DEGRADED, "value": "true"}]);
        }
        Ok(vec![json!({
            "apiVersion": application_kind().api_version(),
            "kind": application_kind().kind,
            "metadata": {
                "name": object_name,
                "namespace": S::NAMESPACE,
                "labels": {NAME_LABEL: label_value(name)},
                "finalizers": [FINALIZER],
            },
            "spec": spec,
        })])
    }
}

/// Returns the name by which the cluster of the application is registered with Argo CD. An application with a kubeconfig is refused.
fn cluster_name<S: ArgoCdSettings>(application: &ApplicationSpec) -> Result<&str, InvalidApplication> {
    match &application.destination {
        ApplicationDestination::Default => Ok(S::CLUSTER),
        ApplicationDestination::Registered(name) => Ok(name),
        ApplicationDestination::Kubeconfig { .. } => {
            let problem = "Argo CD reads no kubeconfig; register the cluster with Argo CD, and name it with `cluster`";
            Err(InvalidApplication::new(problem))
        }
    }
}

/// Returns the field `source` of the `Application`: the repository, the revision and the settings of Helm. It contains no empty fields,
/// since Argo CD would remove them.
fn source(application: &ApplicationSpec) -> Result<Value, InvalidApplication> {
    let helm = helm(application);
    let mut source = match &application.source {
        ApplicationSource::Chart { repository, chart, version } => json!({
            // Argo CD knows a registry of charts by a URL without scheme.
            "repoURL": repository.strip_prefix("oci://").unwrap_or(repository),
            "chart": chart,
            "targetRevision": version,
        }),
        ApplicationSource::GitChart { repository, revision, path } => {
            json!({"repoURL": repository, "path": path, "targetRevision": revision.as_str()})
        }
        ApplicationSource::GitManifests { .. } if helm.is_some() => {
            return Err(InvalidApplication::new("a release, parameters and values are for charts only"));
        }
        ApplicationSource::GitManifests { repository, revision, path } => {
            json!({"repoURL": repository, "path": path, "targetRevision": revision.as_str()})
        }
    };
    if let Some(helm) = helm {
        source["helm"] = helm;
    }
    Ok(source)
}

/// Returns the field `helm` of the source, with the name of the release, the parameters and the values; `None` if none of them is set.
fn helm(application: &ApplicationSpec) -> Option<Value> {
    let mut helm = Map::new();
    if let Some(release) = &application.release {
        helm.insert("releaseName".into(), release.as_str().into());
    }
    if !application.parameters.is_empty() {
        let parameters = application.parameters.iter().map(|Parameter { name, value }| match value.as_str() {
            // Argo CD leaves out what is empty.
            "" => json!({"name": name}),
            value => json!({"name": name, "value": value}),
        });
        helm.insert("parameters".into(), parameters.collect());
    }
    if let Some(values) = &application.values {
        // The field takes the values as YAML text, and JSON is YAML. The schema of the alternative `valuesObject` does not describe the
        // fields below it.
        helm.insert("values".into(), format!("{values:#}").into());
    }
    (!helm.is_empty()).then_some(Value::Object(helm))
}

/// Returns the sync policy: automated, with retries without limit and the options of the application.
///
/// # Errors
/// If the namespace has labels or annotations, and is not created by Argo CD.
fn sync_policy(application: &ApplicationSpec) -> Result<Value, InvalidApplication> {
    // The number of retries has no limit, since the application may wait for an object for any time.
    let backoff = json!({"duration": "5s", "factor": 2, "maxDuration": "3m"});
    let mut policy = json!({
        "automated": {"selfHeal": true, "prune": true}, "retry": {"limit": -1, "backoff": backoff},
    });
    let options = [
        (application.create_namespace, "CreateNamespace=true"),
        (application.server_side_apply, "ServerSideApply=true"),
    ];
    let options: Vec<_> = options.into_iter().filter(|(is_set, _)| *is_set).map(|(_, option)| option).collect();
    if !options.is_empty() {
        policy["syncOptions"] = json!(options);
    }
    let mut metadata = Map::new();
    for (field, entries) in
        [("labels", &application.namespace_labels), ("annotations", &application.namespace_annotations)]
    {
        if !entries.is_empty() {
            metadata.insert(field.into(), json!(entries));
        }
    }
    if !metadata.is_empty() {
        if !application.create_namespace {
            let problem = "labels and annotations of the namespace need `create_namespace`";
            return Err(InvalidApplication::new(problem));
        }
        policy["managedNamespaceMetadata"] = Value::Object(metadata);
    }
    Ok(policy)
}

#[cfg(test)]
mod tests;
