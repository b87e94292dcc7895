//! The driver of the documentation of `Driver`.

use opgen::cd::{ApplicationDestination, ApplicationSource, ApplicationSpec, Driver, InvalidApplication};
use opgen::{Kind, shape::Access};
use serde_json::{Value, json};

// The Helm controller of K3s.
pub(super) struct K3s;

impl Driver for K3s {
    const NAME: &'static str = "K3s";
    const ACCESS: &'static [Access] = &[Access::applied(|| Kind {
        group: "helm.cattle.io".into(),
        version: "v1".into(),
        kind: "HelmChart".into(),
        plural: "helmcharts".into(),
        namespaced: true,
    })];

    fn objects(application: &ApplicationSpec) -> Result<Vec<Value>, InvalidApplication> {
        let ApplicationSource::Chart { repository, chart, version } = &application.source else {
            return Err(InvalidApplication::new("K3s deploys charts of a repository only"));
        };
        let is_unsupported = repository.starts_with("oci://")
            || application.release.is_some()
            || !application.namespace_labels.is_empty()
            || !application.namespace_annotations.is_empty()
            || !application.parameters.is_empty()
            || application.server_side_apply
            || !application.ignored_differences.is_empty()
            || application.allows_degraded
            || application.destination != ApplicationDestination::Default;
        if is_unsupported {
            let problem = "K3s deploys charts of a repository with a namespace and values, and without other options";
            return Err(InvalidApplication::new(problem));
        }
        // Fields that are null are left out. JSON is YAML.
        let values = application.values.as_ref().map(Value::to_string);
        Ok(vec![json!({
            "apiVersion": "helm.cattle.io/v1",
            "kind": "HelmChart",
            "metadata": {"name": application.object_name, "namespace": "kube-system"},
            "spec": {
                "repo": repository,
                "chart": chart,
                "version": version,
                "targetNamespace": application.namespace,
                "createNamespace": application.create_namespace,
                "valuesContent": values,
            },
        })])
    }
}
