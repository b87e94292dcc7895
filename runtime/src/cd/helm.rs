//! `Helm`: deploys charts with the program `helm`, for clusters without a CD system.
//!
//! The driver writes a [`HelmDeployment`] for each application. The operator itself controls that kind, by
//! [`Operator::deploys_with_helm`](crate::Operator::deploys_with_helm): it runs `helm upgrade --install`, reads the objects of the release,
//! and judges them by the rules for the children of a tree ([`readiness`](mod@crate::readiness)). On teardown it runs `helm uninstall`.
//! Releases are those of Helm, so `helm list` shows them.
//!
//! # Behaviour
//! - What is deployed is known from Helm's own storage: the description of a release has a digest of the chart, the version, the values
//!   and the parameters. While it is the same, nothing is written, also after a restart.
//! - A failed run is repeated without limit. The conditions have the error of Helm in at most 400 characters, without values.
//! - A run that was interrupted, for example by a restart of the operator, is repaired after its deadline: a first installation is
//!   removed, and an upgrade is rolled back. Then the release is deployed again.
//! - A release that another client of helm or another application has deployed is neither taken over nor removed.
//! - An application is removed when `helm uninstall` has succeeded and all objects of the release are gone. If the output of
//!   `helm status` is longer than 8 MiB, the end of the objects is not checked.
//! - The objects are in the namespace of the owner, or in `default` if it has none. Another release or namespace of an application replaces
//!   the release.
//! - Below a remote node, the release is deployed into the cluster of that node, by a copy of the kubeconfig in the namespace of the
//!   objects. Without that Secret, the cluster is gone, and a removal has nothing to do.
//!
//! # Limits
//! - Drift is not repaired: an edited object keeps the edit until the next upgrade, and an object that is deleted makes the application
//!   degraded. Ignored differences are refused, and so are charts and manifests in git, and labels of a namespace.
//! - A constraint as version (`^1.2`) is resolved when the release is deployed, and not again.
//! - If an application gets the kubeconfig of another cluster, the release in the former one remains.
//! - It needs Helm 4. Helm always uses server-side apply, and takes over fields of other managers.
//!
//! # Rights
//! `helm` has the rights of the operator, so the operator needs those for all objects in the charts: [`HelmSettings::ACCESS`]. Whoever may
//! write a [`HelmDeployment`] with the label `app.kubernetes.io/managed-by` of the operator may use these rights. In the cluster of a
//! kubeconfig, the user of the kubeconfig needs them.
//!
//! Values and parameters are stored in plain text in the [`HelmDeployment`]. Parameters and the URL of the repository are also arguments
//! of the program, which other processes in its container can read. A Secret of the tree, which the values name, is the better place for a
//! password.
//!
//! # Image
//! The program must be in the image of the operator, in the `PATH`:
//!
//! ```text
//! FROM golang:1 AS helm
//! RUN CGO_ENABLED=0 go install helm.sh/helm/v4/cmd/helm@v4.3.1
//!
//! FROM gcr.io/distroless/cc-debian12:nonroot
//! COPY --from=helm /go/bin/helm /usr/local/bin/helm
//! ```
//!
//! It writes to the folder for temporary files, for which the generated Deployment has a volume. A run for a small chart took 75 MiB of
//! memory; the limit of the generated Deployment has 100 MiB for each of four runs. The generated NetworkPolicy allows connections to the
//! ports 443 and 6443 only.
//!
//! # Example
//!
//! ```
//! use k8s_openapi::api::{apps::v1::{Deployment, ReplicaSet}, core::v1::{Namespace, Pod, Service}};
//! use opgen::{Typed, cd::{Application, helm::{Helm, HelmSettings}}, prelude::*};
//! use opgen::shape::{Access, SourceLocation, Verb};
//!
//! // The rights for the objects in the charts.
//! struct Charts;
//!
//! impl HelmSettings for Charts {
//!     const ACCESS: &'static [Access] = &[
//!         Access::applied(Deployment::names),
//!         Access::applied(Service::names),
//!         Access::to(Pod::names, &[Verb::List], SourceLocation::UNKNOWN),
//!         Access::to(ReplicaSet::names, &[Verb::List], SourceLocation::UNKNOWN),
//!     ];
//! }
//!
//! #[derive(Provisioner)]
//! #[provisioner(serial, owner = Foreign<Namespace>)]
//! struct Tree {
//!     #[provisioner(application(Helm))]
//!     web: Application,
//! }
//!
//! impl Tree {
//!     fn web(_: &Namespace) -> Application {
//!         Application::chart("https://stefanprodan.github.io/podinfo", "podinfo", "6.9.2")
//!     }
//! }
//!
//! let operator = Operator::new("teams").controls::<Foreign<Namespace>, Tree>().deploys_with_helm::<Charts>();
//! # drop(operator);
//! ```

mod call;
mod deployment;
mod message;
mod node;
mod operator;
mod program;
mod registration;
mod release;
mod runner;
mod settings;

pub use call::{HelmCall, HelmOutput};
pub use deployment::{HelmDeployment, HelmDeploymentSpec, HelmKubeconfig, HelmParameter};
pub use program::HelmProgram;
pub use settings::HelmSettings;

use crate::{
    cd::{
        driver::{ApplicationDestination, ApplicationSpec, Driver, InvalidApplication, Parameter},
        source::ApplicationSource,
    },
    kind::kind_of,
    shape::{Access, Registration},
    text_hash::text_hash,
};
use registration::{NAMESPACE, REGISTRATION};
use serde_json::{Map, Value, json};

/// The number of bytes in the hash of a release.
const HASH: usize = 4;

/// Deploys charts of a chart repository (`https://…`) or of an OCI registry (`oci://…`) with the program `helm`, which the operator
/// runs. It needs [`Operator::deploys_with_helm`](crate::Operator::deploys_with_helm). See the [module](self).
#[derive(Debug)]
#[non_exhaustive]
pub struct Helm;

impl Driver for Helm {
    const NAME: &'static str = "Helm";
    const ACCESS: &'static [Access] = &[Access::applied(kind_of::<HelmDeployment>)];
    const REGISTRATION: Option<Registration> = Some(REGISTRATION);

    /// Returns the `HelmDeployment` that describes the release of the application.
    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let namespace = application.owner_namespace.as_deref().unwrap_or(NAMESPACE);
        let spec = spec(application, namespace)?;
        if let Some(problem) = spec.problem() {
            return Err(InvalidApplication::new(problem));
        }
        // A change of the release or of its namespace gives an object with another name: the former object is deleted with its
        // release before the new one is applied.
        let hash = text_hash([spec.release.as_str(), spec.namespace.as_str()], HASH);
        let kind = kind_of::<HelmDeployment>();
        Ok(vec![json!({
            "apiVersion": kind.api_version(),
            "kind": kind.kind,
            "metadata": {"name": format!("{}-{hash}", application.object_name), "namespace": namespace},
            "spec": spec,
        })])
    }
}

/// Returns the spec of the `HelmDeployment` of an application. `namespace` is the namespace of the `HelmDeployment`. Fails if the
/// application has an option that Helm can't deploy.
fn spec(application: &ApplicationSpec, namespace: &str) -> Result<HelmDeploymentSpec, InvalidApplication> {
    let ApplicationSource::Chart { repository, chart, version } = &application.source else {
        return Err(InvalidApplication::new("Helm deploys charts of a repository or of a registry only"));
    };
    if !application.namespace_labels.is_empty() || !application.namespace_annotations.is_empty() {
        let problem = "Helm can't set labels or annotations of a namespace; add the Namespace to the tree";
        return Err(InvalidApplication::new(problem));
    }
    if !application.ignored_differences.is_empty() {
        return Err(InvalidApplication::new("Helm repairs no differences, so it can't ignore one"));
    }
    let parameter = |Parameter { name, value }: &Parameter| HelmParameter { name: name.clone(), value: value.clone() };
    Ok(HelmDeploymentSpec {
        repository: repository.clone(),
        chart: chart.clone(),
        version: version.clone(),
        release: application.release.as_ref().unwrap_or(&application.object_name).clone(),
        namespace: application.namespace.clone(),
        create_namespace: application.create_namespace,
        values: match &application.values {
            Some(Value::Object(values)) => values.clone(),
            _ => Map::new(),
        },
        parameters: application.parameters.iter().map(parameter).collect(),
        allow_degraded: application.allows_degraded,
        kubeconfig: kubeconfig(application, namespace)?,
    })
}

/// Returns the reference to the Secret with the kubeconfig of the application's cluster; `None` for the operator's cluster. The Secret must
/// be in `own`, the namespace of the `HelmDeployment`.
fn kubeconfig(application: &ApplicationSpec, own: &str) -> Result<Option<HelmKubeconfig>, InvalidApplication> {
    match &application.destination {
        ApplicationDestination::Default => Ok(None),
        ApplicationDestination::Registered(_) => {
            let problem = "Helm has no registered clusters; name the kubeconfig of the cluster with `kubeconfig`";
            Err(InvalidApplication::new(problem))
        }
        ApplicationDestination::Kubeconfig { namespace, name, .. } if namespace != own => {
            let problem = format!(
                "a kubeconfig for Helm is in the namespace of its objects, {own}, and Secret {name} is in {namespace}"
            );
            Err(InvalidApplication::new(problem))
        }
        ApplicationDestination::Kubeconfig { name, key, .. } => {
            Ok(Some(HelmKubeconfig { name: name.clone(), key: key.clone() }))
        }
    }
}

#[cfg(test)]
mod tests;
