//! Creates the default ServiceAccount and the ConfigMap `kube-root-ca.crt` in each namespace.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ReconcileResult};
use crate::{server::Server, store::Expect};

const DEFAULT_ACCOUNT: &str = "default";
const ROOT_CA: &str = "kube-root-ca.crt";

const NAMESPACES: &str = "namespaces";
const SERVICE_ACCOUNTS: &str = "serviceaccounts";
const CONFIG_MAPS: &str = "configmaps";

/// The description that the ConfigMap carries in every cluster.
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// Maintains the default ServiceAccount and the ConfigMap of each namespace.
#[derive(Debug)]
pub(super) struct Accounts;

impl Controller for Accounts {
    /// The name of a namespace.
    type Key = String;

    fn sources(&self) -> EventSources {
        EventSources::ResourcesAndName(&[NAMESPACES, SERVICE_ACCOUNTS], (CONFIG_MAPS, ROOT_CA))
    }

    /// Returns the namespace to reconcile: a new Namespace, or the namespace of a deleted default ServiceAccount or of a changed ConfigMap
    /// `kube-root-ca.crt`.
    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<String> {
        let name = &*event.object.name;
        match group_resource {
            NAMESPACES if !event.deleted && event.before.is_none() => vec![name.to_owned()],
            SERVICE_ACCOUNTS if event.deleted && name == DEFAULT_ACCOUNT => vec![event.object.namespace.to_string()],
            // Also for a created ConfigMap: the server may have started to listen on a new certificate in the meantime.
            CONFIG_MAPS if name == ROOT_CA => vec![event.object.namespace.to_string()],
            _ => Vec::new(),
        }
    }

    /// Creates the default ServiceAccount and the ConfigMap `kube-root-ca.crt` of a namespace if they are missing, and restores the data of
    /// the ConfigMap. Does nothing if the namespace is terminating or does not exist.
    async fn reconcile(&mut self, client: &ControllerClient, namespace: &String) -> ReconcileResult {
        let store = &client.server.store;
        if store.get(NAMESPACES, "", namespace).is_none_or(|stored| stored.deleting) {
            return Ok(Action::AwaitChange);
        }
        if store.get(SERVICE_ACCOUNTS, namespace, DEFAULT_ACCOUNT).is_none() {
            let metadata = json!({"name": DEFAULT_ACCOUNT, "namespace": namespace});
            create_if_missing(client, SERVICE_ACCOUNTS, json!({"metadata": metadata})).await?;
        }
        let data = json!({"ca.crt": client.server.authorities()});
        match client.kind(CONFIG_MAPS).and_then(|kind| client.get(&kind, namespace, ROOT_CA).map(|map| (kind, map))) {
            None => {
                let annotations = json!({"kubernetes.io/description": DESCRIPTION});
                let metadata = json!({"name": ROOT_CA, "namespace": namespace, "annotations": annotations});
                create_if_missing(client, CONFIG_MAPS, json!({"metadata": metadata, "data": data})).await?;
            }
            Some((kind, mut map)) if map["data"] != data => {
                map["data"] = data;
                client.replace(&kind, "", &map).await?;
            }
            Some(_) => {}
        }
        Ok(Action::AwaitChange)
    }
}

/// Creates the default ServiceAccount in each namespace of a new cluster, directly in the store before the first request, because Pods need
/// one.
pub(super) fn create_default_accounts(server: &Server) {
    let Some(kind) = server.kinds.find("", "v1", SERVICE_ACCOUNTS) else { return };
    for stored in server.store.list(NAMESPACES, None).1 {
        let namespace = &*stored.name;
        if server.store.get(SERVICE_ACCOUNTS, namespace, DEFAULT_ACCOUNT).is_some() {
            continue;
        }
        let (uid, time) = (server.environment.uid(), server.environment.time());
        let metadata = json!({"name": DEFAULT_ACCOUNT, "namespace": namespace, "uid": uid, "creationTimestamp": time});
        let account = json!({"metadata": metadata});
        let key = (namespace, DEFAULT_ACCOUNT);
        // The commit cannot conflict: there is no other writer before the start.
        let _ = server.store.commit(&kind.group_resource, key, Expect::Absent, Some(account), &kind.api_version());
    }
}

/// Adds the CA certificate of a listener that has just started to the trusted ones, and writes all of them into the ConfigMap
/// `kube-root-ca.crt` of every namespace.
pub(crate) fn publish_authority(server: &Server, authority: &str) {
    let data = json!({"ca.crt": server.trust(authority)});
    for stored in server.store.list(CONFIG_MAPS, None).1.iter().filter(|stored| *stored.name == *ROOT_CA) {
        let mut map: Value = serde_json::from_slice(&stored.json).unwrap_or_default();
        map["data"] = data.clone();
        let (key, expected) = ((&*stored.namespace, ROOT_CA), Expect::Version(stored.version));
        // On a conflict the event of the other write makes the controller restore the ConfigMap.
        let _ = server.store.commit(&Arc::from(CONFIG_MAPS), key, expected, Some(map), &stored.api_version);
    }
}

/// Creates an object. Succeeds if the object already exists, or if its namespace or kind does not exist.
async fn create_if_missing(client: &ControllerClient, group_resource: &str, object: Value) -> Result<(), ApiError> {
    let Some(kind) = client.kind(group_resource) else { return Ok(()) };
    match client.create(&kind, &object).await {
        Err(refused) if !refused.is_already_exists() && !refused.is_not_found() => Err(refused),
        _ => Ok(()),
    }
}
