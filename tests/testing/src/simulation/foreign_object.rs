//! `ForeignObjects`: objects of other clients in the simulated cluster, which the program under test must not change or delete.

use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

use super::{outcome::Failure, write_log::WriteLog};
use crate::{
    admin,
    footprint::{FOREIGN_NAMESPACE, Footprint},
    object::label,
    path::object_path,
    permission::writable_resources,
    target::Target,
};

/// The name of the foreign objects without labels; the names of those with labels have a number as suffix.
const NAME: &str = "of-somebody-else";

/// Returns pairs of a resource (`PLURAL.GROUP`) and a template of a foreign object of it, one of each kind whose creation has no side
/// effects, such as the creation of Pods.
fn templates() -> Vec<(&'static str, Value)> {
    let object = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": NAME}});
    let with_field = |mut object: Value, field: &str, value: Value| {
        object[field] = value;
        object
    };
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME});
    let requests = json!({"requests": {"storage": "1Gi"}});
    let claim = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": requests});
    let job = json!({"spec": {"template": pod_template("Never")}});
    let cron_job = json!({"schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": job});
    vec![
        ("configmaps", with_field(object("v1", "ConfigMap"), "data", json!({"key": "value"}))),
        ("secrets", with_field(object("v1", "Secret"), "data", json!({"key": "dmFsdWU="}))),
        ("serviceaccounts", object("v1", "ServiceAccount")),
        ("services", with_field(object("v1", "Service"), "spec", json!({"ports": [{"port": 80}]}))),
        ("persistentvolumeclaims", with_field(object("v1", "PersistentVolumeClaim"), "spec", claim)),
        ("roles.rbac.authorization.k8s.io", with_field(object("rbac.authorization.k8s.io/v1", "Role"), "rules", rules)),
        (
            "rolebindings.rbac.authorization.k8s.io",
            with_field(object("rbac.authorization.k8s.io/v1", "RoleBinding"), "roleRef", role),
        ),
        (
            "networkpolicies.networking.k8s.io",
            with_field(
                object("networking.k8s.io/v1", "NetworkPolicy"),
                "spec",
                json!({"podSelector": {"matchLabels": {"of": NAME}}}),
            ),
        ),
        ("ingresses.networking.k8s.io", with_field(object("networking.k8s.io/v1", "Ingress"), "spec", backend())),
        ("deployments.apps", with_field(object("apps/v1", "Deployment"), "spec", workload(json!({})))),
        (
            "statefulsets.apps",
            with_field(object("apps/v1", "StatefulSet"), "spec", workload(json!({"serviceName": NAME}))),
        ),
        ("cronjobs.batch", with_field(object("batch/v1", "CronJob"), "spec", cron_job)),
    ]
}

/// Returns the spec of an Ingress with a default backend.
fn backend() -> Value {
    json!({"defaultBackend": {"service": {"name": NAME, "port": {"number": 80}}}})
}

/// Adds zero replicas, a selector that matches no other object, and a Pod template to the spec of a Deployment or StatefulSet.
fn workload(mut spec: Value) -> Value {
    spec["replicas"] = json!(0);
    spec["selector"] = json!({"matchLabels": {"of": NAME}});
    spec["template"] = pod_template("Always");
    spec
}

/// Returns a Pod template with one container and a restart policy.
fn pod_template(restart: &str) -> Value {
    let containers = json!([{"name": "one", "image": "example.com/one:1"}]);
    json!({"metadata": {"labels": {"of": NAME}}, "spec": {"containers": containers, "restartPolicy": restart}})
}

/// The foreign objects of a run.
#[derive(Debug, Default)]
pub(super) struct ForeignObjects(Vec<Value>);

impl ForeignObjects {
    /// Creates foreign objects of each kind that the role of the program allows to change or delete, in each namespace of the footprint,
    /// which has the namespaces and common labels of the program's objects: one object without labels, and one with each of the sets of
    /// labels.
    pub(super) async fn create(&mut self, sandbox: &Sandbox, target: &Target) -> Result<(), Failure> {
        let manifests = &target.manifests;
        let footprint = target.footprint.get().cloned().unwrap_or_else(|| Footprint::of_samples(&manifests.samples));
        let resources = writable_resources(&manifests.install);
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": FOREIGN_NAMESPACE}});
        let created = admin::create(sandbox, &namespace, &manifests.install).await;
        created.map_err(|error| Failure::setup("failed to create the namespace of another client", error))?;
        for (_, object) in templates().into_iter().filter(|(resource, _)| resources.contains(*resource)) {
            for namespace in &footprint.namespaces {
                let labelled = footprint.labels.iter().enumerate().map(|(number, labels)| {
                    json!({"name": format!("{NAME}-{}", number + 1), "namespace": namespace, "labels": labels})
                });
                let plain = json!({"name": NAME, "namespace": namespace});
                for metadata in std::iter::once(plain).chain(labelled) {
                    let mut object = object.clone();
                    object["metadata"] = metadata;
                    let created = admin::create(sandbox, &object, &manifests.install).await;
                    created.map_err(|error| Failure::setup("failed to create an object of another client", error))?;
                    self.0.push(object);
                }
            }
        }
        Ok(())
    }

    /// Stores the current state of each foreign object in the sandbox, with which [`Self::check`] compares it, before the program runs.
    pub(super) async fn refresh(&mut self, sandbox: &Sandbox, target: &Target) -> Result<(), Failure> {
        for object in &mut self.0 {
            let current = admin::get(sandbox, &object_path(object, &target.manifests.install)).await;
            *object = current.map_err(|error| Failure::setup("failed to read an object of another client", error))?;
        }
        Ok(())
    }

    /// Checks that all foreign objects still exist unchanged. `phase` names the phase of the run for the message.
    ///
    /// # Errors
    /// If an object was changed, deleted or recreated; the message lists the writes to it in the log. Also if an object can't be read.
    pub(super) async fn check(
        &self,
        sandbox: &Sandbox,
        target: &Target,
        log: &WriteLog,
        phase: &'static str,
    ) -> Result<(), Failure> {
        for before in &self.0 {
            let path = object_path(before, &target.manifests.install);
            let change = match admin::get(sandbox, &path).await {
                Ok(now) if now["metadata"]["uid"] != before["metadata"]["uid"] => "was deleted and created again",
                Ok(now) if !now["metadata"]["deletionTimestamp"].is_null() => "is being deleted",
                Ok(now) if content(&now) != content(before) => "was changed",
                Ok(_) => continue,
                Err(error) if error.code == 404 => "was deleted",
                Err(error) => return Err(Failure::setup("failed to read an object of another client", error)),
            };
            let (object, writes) = (label(before), writes_to(log, &path));
            return Err(Failure::ChangedForeignObject(format!(
                "{object} of another client {change} after {phase}{writes}"
            )));
        }
        Ok(())
    }
}

/// Returns the writes of the current phase to the object at a path, and the deletions of its whole collection, as the end of a message;
/// empty if there are none.
fn writes_to(log: &WriteLog, path: &str) -> String {
    let collection = path.rsplit_once('/').map_or(path, |(collection, _)| collection);
    let path_of = |call: &str| call.split(' ').nth(1).unwrap_or_default().to_owned();
    let calls = log.current_phase().into_iter().map(|write| write.call);
    let calls: Vec<String> = calls
        .filter(|call| path_of(call) == path || (call.starts_with("DELETE") && path_of(call) == collection))
        .collect();
    if calls.is_empty() { String::new() } else { format!(", by {}", calls.join(", ")) }
}

/// Returns the parts of a foreign object that must not change: all except the status and the metadata that the server sets.
fn content(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let mut content = object.clone();
    if let Some(map) = content.as_object_mut() {
        map.remove("status");
    }
    content["metadata"] = json!({
        "labels": metadata["labels"], "annotations": metadata["annotations"],
        "finalizers": metadata["finalizers"], "ownerReferences": metadata["ownerReferences"],
    });
    content
}
