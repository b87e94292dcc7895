//! `HelmDeployment`: the custom resource that describes one Helm release for the operator to deploy.

use crate::{Managed, cd::release_name, dns_name::is_dns_label};
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The protocols of repositories.
const PROTOCOLS: [&str; 3] = ["https://", "http://", "oci://"];

/// A chart that an operator deploys as a release of Helm. Whoever may write objects of this kind has the rights of the operator for the
/// objects in charts.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Default, PartialEq)]
#[kube(
    group = "cd.opgen.dev",
    version = "v1alpha1",
    kind = "HelmDeployment",
    namespaced,
    status = "opgen_api::Status",
    derive = "PartialEq"
)]
#[kube(printcolumn(name = "Chart", type_ = "string", json_path = ".spec.chart"))]
#[kube(printcolumn(name = "Version", type_ = "string", json_path = ".spec.version"))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[managed(crate = "crate")]
#[serde(rename_all = "camelCase")]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
#[non_exhaustive]
pub struct HelmDeploymentSpec {
    /// The URL of the chart repository (`https://…`) or of the registry (`oci://…`); for a registry, without the name of the chart.
    #[schemars(length(min = 1, max = 2048))]
    pub repository: String,
    /// The name of the chart.
    #[schemars(length(min = 1, max = 253))]
    pub chart: String,
    /// The version of the chart, as written.
    #[schemars(length(min = 1, max = 253))]
    pub version: String,
    /// The name of the release.
    #[schemars(length(min = 1, max = 53))]
    #[valid(immutable)]
    pub release: String,
    /// The namespace of the release.
    #[schemars(length(min = 1, max = 63))]
    #[valid(immutable)]
    pub namespace: String,
    /// Whether Helm creates the namespace.
    #[serde(default)]
    pub create_namespace: bool,
    /// The values of the chart.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(schema_with = "any_object")]
    pub values: Map<String, Value>,
    /// The parameters of the chart, as `helm --set` has them. They win over the values, and a later one wins over an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub parameters: Vec<HelmParameter>,
    /// Whether the object is ready once the release is deployed, although objects of the release are not.
    #[serde(default)]
    pub allow_degraded: bool,
    /// The kubeconfig of the cluster; that of the operator by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<HelmKubeconfig>,
}

/// A parameter of a chart.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HelmParameter {
    /// The path of the value, with dots.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The value.
    pub value: String,
}

/// The Secret with the kubeconfig of a cluster, in the namespace of the object that names it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HelmKubeconfig {
    /// The name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The key of the kubeconfig in the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
}

/// Returns the schema of a map with any content.
fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

impl fmt::Debug for HelmDeploymentSpec {
    /// Shows neither values and parameters nor the URL of the repository, since they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HelmDeploymentSpec")
            .field("chart", &self.chart)
            .field("version", &self.version)
            .field("release", &self.release)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for HelmParameter {
    /// Shows the name only, since the value may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HelmParameter").field("name", &self.name).finish_non_exhaustive()
    }
}

impl HelmDeploymentSpec {
    /// Returns why Helm can't deploy the chart; `None` if nothing is wrong. The fields become arguments of the program `helm`, so a text
    /// that `helm` would read as an option or as a local path is a problem, too.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let has_space = |text: &str| text.contains(|c: char| c.is_whitespace() || c.is_control());
        let is_chart_character = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
        let is_chart = self.chart.starts_with(|c: char| c.is_ascii_alphanumeric())
            && self.chart.chars().all(is_chart_character)
            && !self.chart.contains("..");
        if !PROTOCOLS.iter().any(|protocol| self.repository.starts_with(protocol)) || has_space(&self.repository) {
            Some("the repository is not a URL with https, http or oci")
        } else if !is_chart {
            Some("the name of the chart is not one of letters, digits, hyphens, dots, underscores and slashes")
        } else if self.version.is_empty() || has_space(&self.version) {
            Some("the version is empty, or has a space")
        } else if self.parameters.iter().any(|parameter| parameter.name.is_empty()) {
            Some("the name of a parameter is empty")
        } else {
            self.release_problem()
        }
    }

    /// Returns why the name or the namespace of the release is invalid; `None` if both are valid.
    pub(super) fn release_problem(&self) -> Option<&'static str> {
        let of_namespace = || (!is_dns_label(&self.namespace)).then_some("the namespace must be a DNS label");
        release_name::release_problem(&self.release).or_else(of_namespace)
    }
}
