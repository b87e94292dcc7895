//! Objects of somebody else beside those of the program: it is to leave them alone.

use serde_json::{Value, json};

use crate::{
    install,
    life::{Trouble, World, setup},
    remade::named_object,
    rights,
    surroundings::{ANOTHER, Surroundings},
};

/// The name of those without labels; those with labels have a number behind it.
const NAME: &str = "of-somebody-else";

/// An object of each kind that is harmless and that nobody else makes.
fn candidates() -> Vec<(&'static str, Value)> {
    let object = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": NAME}});
    let with = |mut object: Value, field: &str, value: Value| {
        object[field] = value;
        object
    };
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME});
    let claim = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}});
    vec![
        ("configmaps", with(object("v1", "ConfigMap"), "data", json!({"key": "value"}))),
        ("secrets", with(object("v1", "Secret"), "data", json!({"key": "dmFsdWU="}))),
        ("serviceaccounts", object("v1", "ServiceAccount")),
        ("services", with(object("v1", "Service"), "spec", json!({"ports": [{"port": 80}]}))),
        ("persistentvolumeclaims", with(object("v1", "PersistentVolumeClaim"), "spec", claim)),
        ("roles.rbac.authorization.k8s.io", with(object("rbac.authorization.k8s.io/v1", "Role"), "rules", rules)),
        (
            "rolebindings.rbac.authorization.k8s.io",
            with(object("rbac.authorization.k8s.io/v1", "RoleBinding"), "roleRef", role),
        ),
        (
            "networkpolicies.networking.k8s.io",
            with(
                object("networking.k8s.io/v1", "NetworkPolicy"),
                "spec",
                json!({"podSelector": {"matchLabels": {"of": NAME}}}),
            ),
        ),
        ("ingresses.networking.k8s.io", with(object("networking.k8s.io/v1", "Ingress"), "spec", backend())),
        ("deployments.apps", with(object("apps/v1", "Deployment"), "spec", workload(json!({})))),
        ("statefulsets.apps", with(object("apps/v1", "StatefulSet"), "spec", workload(json!({"serviceName": NAME})))),
        (
            "cronjobs.batch",
            with(
                object("batch/v1", "CronJob"),
                "spec",
                json!({"schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": {"spec": {"template": template("Never")}}}),
            ),
        ),
    ]
}

fn backend() -> Value {
    json!({"defaultBackend": {"service": {"name": NAME, "port": {"number": 80}}}})
}

/// Of no Pods, and with labels that select nothing of anybody else.
fn workload(mut spec: Value) -> Value {
    spec["replicas"] = json!(0);
    spec["selector"] = json!({"matchLabels": {"of": NAME}});
    spec["template"] = template("Always");
    spec
}

fn template(restart: &str) -> Value {
    let containers = json!([{"name": "one", "image": "example.com/one:1"}]);
    json!({"metadata": {"labels": {"of": NAME}}, "spec": {"containers": containers, "restartPolicy": restart}})
}

impl World<'_> {
    /// Makes an object of each kind that the role lets the program delete or change, in each namespace around the program's
    /// objects: one without labels, and one with each set of common labels that those carry.
    pub(crate) async fn add_bystanders(&mut self) -> Result<(), Trouble> {
        let prepared = self.prepared;
        let around = prepared.surroundings.get().cloned().unwrap_or_else(|| Surroundings::of_samples(prepared));
        let in_reach = rights::in_reach(&prepared.manifests.install);
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ANOTHER}});
        let made = install::create(&self.sandbox, &namespace, &[]).await;
        made.map_err(|refused| setup("the namespace of somebody else can't be made", refused))?;
        for (_, object) in candidates().into_iter().filter(|(resource, _)| in_reach.contains(*resource)) {
            for namespace in &around.namespaces {
                let labelled = around.labels.iter().enumerate().map(|(number, labels)| {
                    json!({"name": format!("{NAME}-{}", number + 1), "namespace": namespace, "labels": labels})
                });
                let plain = json!({"name": NAME, "namespace": namespace});
                for metadata in std::iter::once(plain).chain(labelled) {
                    let mut object = object.clone();
                    object["metadata"] = metadata;
                    let made = install::create(&self.sandbox, &object, &prepared.manifests.install).await;
                    made.map_err(|refused| setup("an object of somebody else can't be made", refused))?;
                    self.bystanders.push(object);
                }
            }
        }
        Ok(())
    }

    /// Remembers the objects of others as they are when all is still.
    pub(crate) async fn see_bystanders(&mut self) -> Result<(), Trouble> {
        for object in &mut self.bystanders {
            let place = install::place(object, &self.prepared.manifests.install);
            let seen = install::read(&self.sandbox, &place).await;
            *object = seen.map_err(|refused| setup("an object of somebody else can't be read", refused))?;
        }
        Ok(())
    }

    /// Whether all objects of others are as they were.
    pub(crate) async fn check_bystanders(&self, after: &'static str) -> Result<(), Trouble> {
        for before in &self.bystanders {
            let place = install::place(before, &self.prepared.manifests.install);
            let now = install::read(&self.sandbox, &place).await;
            let what = match now {
                Ok(now) if now["metadata"]["uid"] != before["metadata"]["uid"] => "was deleted and made anew",
                Ok(now) if !now["metadata"]["deletionTimestamp"].is_null() => "is being deleted",
                Ok(now) if content(&now) != content(before) => "was changed",
                Ok(_) => continue,
                Err(refused) if refused.code == 404 => "was deleted",
                Err(refused) => return Err(setup("an object of somebody else can't be read", refused)),
            };
            let (object, by) = (named_object(before), self.writes_to(&place));
            return Err(Trouble::Meddled(format!("{object} is somebody else's and {what} after {after}{by}")));
        }
        Ok(())
    }

    /// Which calls of the phase may have done that, by name or by the whole collection.
    fn writes_to(&self, place: &str) -> String {
        let collection = place.rsplit_once('/').map_or(place, |(collection, _)| collection);
        let path = |call: &str| call.split(' ').nth(1).unwrap_or_default().to_owned();
        let calls = self.writes.of_phase().into_iter().map(|write| write.call);
        let calls: Vec<String> = calls
            .filter(|call| path(call) == place || (call.starts_with("DELETE") && path(call) == collection))
            .collect();
        if calls.is_empty() { String::new() } else { format!(", by {}", calls.join(", ")) }
    }
}

/// What only its owner is to change.
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
