//! Generates the Namespace and the Deployment of an operator.

use serde_json::{Value, json};

use super::{
    metrics::METRICS_PORT,
    nats::connection::{self, PodConnection},
    project::Project,
    webhooks::WEBHOOK_PORT,
};
use crate::label_value::label_value;

/// The port of the probes `/healthz` and `/readyz`.
pub const HEALTH_PORT: u16 = 8081;

// Longer than the operator needs to finish its running passes.
pub(crate) const GRACE_SECONDS: u32 = 45;

/// Returns the Namespace, which enforces the Pod security profile `restricted`; `None` for `default` and `kube-…`.
pub(crate) fn namespace(project: &Project) -> Option<Value> {
    if project.namespace == "default" || project.namespace.starts_with("kube-") {
        return None;
    }
    let mut labels = project.labels();
    labels["pod-security.kubernetes.io/enforce"] = json!("restricted");
    Some(json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"labels": labels, "name": project.namespace},
    }))
}

/// Returns the Deployment of the operator, with one replica.
pub(crate) fn deployment(project: &Project) -> Value {
    let mut labels = project.labels();
    labels["app.kubernetes.io/component"] = json!("operator");
    labels["app.kubernetes.io/version"] = json!(label_value(&project.version));
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"labels": labels, "name": project.name, "namespace": project.namespace},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": project.selector()},
            // The new Pod starts with warm caches while the old one still leads.
            "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}, "type": "RollingUpdate"},
            "template": {"metadata": {"labels": labels}, "spec": pod(project)},
        },
    })
}

/// Returns the spec of the Pod template: the operator's container with its volumes, spread over nodes and zones.
pub(crate) fn pod(project: &Project) -> Value {
    let spread = ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map(|key| spread(project, key));
    let mut pod = json!({
        "containers": [container(project)],
        "enableServiceLinks": false,
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "serviceAccountName": project.name,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "topologySpreadConstraints": spread,
    });
    if let Some(class) = &project.priority_class {
        pod["priorityClassName"] = json!(class);
    }
    let temporary_folder = TemporaryFolder::of(project).map(|folder| folder.volume);
    let nats_credentials = PodConnection::of(project).map(|connection| connection.volume);
    let volumes: Vec<_> = temporary_folder.into_iter().chain(nats_credentials).collect();
    if !volumes.is_empty() {
        pod["volumes"] = json!(volumes);
    }
    pod
}

/// Returns a constraint that spreads the replicas over the values of a node label: over nodes or zones. It is a preference, so a cluster of
/// one node runs all replicas.
fn spread(project: &Project, topology_key: &str) -> Value {
    json!({
        "labelSelector": {"matchLabels": project.selector()},
        "maxSkew": 1,
        "topologyKey": topology_key,
        "whenUnsatisfiable": "ScheduleAnyway",
    })
}

/// Returns the container that runs the operator: its arguments, environment, ports, probes, resources and mounts.
pub(crate) fn container(project: &Project) -> Value {
    let mut args = vec!["run".to_owned(), "--leader-elect".to_owned()];
    let mut ports = vec![port(HEALTH_PORT, "health")];
    if project.serves_metrics() {
        args.push(format!("--metrics-bind-address=:{METRICS_PORT}"));
        ports.push(port(METRICS_PORT, "metrics"));
    }
    if project.namespaced {
        args.push("--namespace=$(POD_NAMESPACE)".to_owned());
    }
    if project.has_webhooks() {
        ports.push(port(WEBHOOK_PORT, "webhook"));
    }
    let mut environment = vec![
        env_from_field("POD_NAME", "metadata.name"),
        env_from_field("POD_NAMESPACE", "metadata.namespace"),
        env_from_field("POD_UID", "metadata.uid"),
    ];
    let mut mounts: Vec<_> = TemporaryFolder::of(project).map(|folder| folder.mount).into_iter().collect();
    if let Some(PodConnection { environment: variables, .. }) = PodConnection::of(project) {
        environment.extend(variables);
        mounts.push(connection::mount());
    }
    let mut container = json!({
        "args": args,
        "env": environment,
        "image": project.tagged_image(),
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "health"}, "initialDelaySeconds": 10, "periodSeconds": 20},
        "name": "operator",
        "ports": ports,
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "health"}, "periodSeconds": 5},
        "resources": memory(project.objects, project.runs_helm()),
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
        },
    });
    if !mounts.is_empty() {
        container["volumeMounts"] = json!(mounts);
    }
    container
}

/// The folder for the temporary files of an operator that runs `helm`: its root file system is read-only.
pub(crate) struct TemporaryFolder {
    /// The volume of the Pod.
    pub(crate) volume: Value,
    /// The mount of the volume in the container.
    pub(crate) mount: Value,
}

impl TemporaryFolder {
    /// Returns the volume and the mount of `/tmp`; `None` for an operator that doesn't run `helm`.
    pub(crate) fn of(project: &Project) -> Option<Self> {
        const VOLUME: &str = "temporary-files";
        let volume = json!({"emptyDir": {}, "name": VOLUME});
        let mount = json!({"mountPath": "/tmp", "name": VOLUME});
        project.runs_helm().then_some(Self { volume, mount })
    }
}

/// Memory request of an operator without objects, in MiB. It uses 13 to 15 MiB (measurement in `tests/bench/README.md`).
const BASE_MIB: u64 = 32;
/// Memory request per object, in bytes. Measured: 2.8 KiB for a primary Pod of 3.4 KB, and 1.4 KiB for each of 100,000 custom
/// objects of 1 KB and their children.
const BYTES_PER_OBJECT: u64 = 3_277;
/// The memory limit as a multiple of the request. At its start an operator decodes a page of each kind, and a page may hold large
/// objects.
const LIMIT_FACTOR: u64 = 4;
/// Memory of the runs of `helm`, in MiB: four at a time. One for a small chart took 75 MiB.
const HELM_MIB: u64 = 400;

/// Returns the resource requirements of the container. The memory request grows with the expected number of objects; the limit is a
/// multiple of the request, plus the memory of `helm` if the operator runs it.
fn memory(objects: u32, runs_helm: bool) -> Value {
    let request = BASE_MIB + (u64::from(objects) * BYTES_PER_OBJECT).div_ceil(1 << 20);
    let mebibytes = |number: u64| format!("{number}Mi");
    json!({
        "limits": {"memory": mebibytes(request * LIMIT_FACTOR + if runs_helm { HELM_MIB } else { 0 })},
        "requests": {"cpu": "10m", "memory": mebibytes(request)},
    })
}

fn port(number: u16, name: &str) -> Value {
    json!({"containerPort": number, "name": name, "protocol": "TCP"})
}

fn env_from_field(name: &str, path: &str) -> Value {
    json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_follows_from_the_number_of_objects() {
        let request_and_limit = |objects| {
            let resources = memory(objects, false);
            let text = |field: &str| resources[field]["memory"].as_str().unwrap_or_default().to_owned();
            (text("requests"), text("limits"))
        };
        assert_eq!(request_and_limit(crate::manifest::DEFAULT_OBJECTS), ("64Mi".to_owned(), "256Mi".to_owned()));
        assert_eq!(request_and_limit(100_000), ("345Mi".to_owned(), "1380Mi".to_owned()));
        assert_eq!(request_and_limit(u32::MAX).0, "13422624Mi");
    }

    #[test]
    fn an_operator_that_runs_helm_has_more_memory_and_a_writable_temporary_folder() {
        let mut project = crate::manifest::fixture::project();
        assert!(pod(&project)["volumes"].is_null() && container(&project)["volumeMounts"].is_null());
        project.controllers[0].kind = crate::kind::kind_of::<crate::cd::helm::HelmDeployment>();
        let (pod, container) = (pod(&project), container(&project));
        assert_eq!(pod["volumes"][0]["name"], container["volumeMounts"][0]["name"]);
        assert_eq!(container["volumeMounts"][0]["mountPath"], "/tmp");
        assert_eq!(container["resources"]["limits"]["memory"], "656Mi");
        project.controllers[0].only_defined = true;
        assert!(super::pod(&project)["volumes"].is_null());
    }

    #[test]
    fn an_operator_with_kinds_in_buckets_connects_with_nats_by_a_secret() {
        let mut project = crate::manifest::fixture::project();
        assert!(container(&project)["env"][3].is_null());
        project.controllers[0].bucket = Some(crate::bucket::BucketDefinition::new("widgets"));
        let (pod, container) = (pod(&project), container(&project));
        let reference = json!({"key": "url", "name": "demo-nats", "optional": true});
        assert_eq!(container["env"][3], json!({"name": "NATS_URL", "valueFrom": {"secretKeyRef": reference}}));
        assert_eq!(container["env"][4], json!({"name": "NATS_CREDS", "value": "/etc/nats/operator.creds"}));
        assert_eq!(pod["volumes"][0]["secret"]["secretName"], "demo-nats");
        assert_eq!(container["volumeMounts"][0]["mountPath"], "/etc/nats");
        project.is_release = true;
        assert!(super::container(&project)["volumeMounts"].is_null(), "the values of the chart say it");
    }
}
