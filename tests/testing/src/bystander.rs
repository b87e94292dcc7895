//! Objects of somebody else beside those of the program: it is to leave them alone.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    install,
    life::{Trouble, World, setup, text},
    rights,
};

/// The name of all of them.
const NAME: &str = "of-somebody-else";

/// An object of each kind that is harmless and that nobody else makes, for the namespaces of the samples.
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
    ]
}

impl World<'_> {
    /// Makes an object of each kind that the role lets the program delete or change, in each namespace of the samples.
    pub(crate) async fn add_bystanders(&mut self) -> Result<(), Trouble> {
        let manifests = &self.prepared.manifests;
        let in_reach = rights::in_reach(&manifests.install);
        let namespaces: BTreeSet<&str> =
            manifests.samples.iter().filter_map(|sample| sample["metadata"]["namespace"].as_str()).collect();
        for (resource, object) in candidates() {
            if !in_reach.contains(resource) {
                continue;
            }
            for namespace in &namespaces {
                let mut object = object.clone();
                object["metadata"]["namespace"] = json!(namespace);
                let made = install::create(&self.sandbox, &object, &manifests.install).await;
                made.map_err(|refused| setup("an object of somebody else can't be made", refused))?;
                self.bystanders.push(object);
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
            let metadata = &before["metadata"];
            let (kind, namespace) = (text(before, "/kind"), metadata["namespace"].as_str().unwrap_or_default());
            let by = self.writes_to(&place);
            return Err(Trouble::Meddled(format!(
                "{kind} {namespace}/{NAME} is somebody else's and {what} after {after}{by}"
            )));
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
