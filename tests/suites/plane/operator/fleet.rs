//! WebApps by the hundred in one namespace, and what they are made of.

use std::sync::Arc;

use futures::{StreamExt as _, stream};
use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::{ConfigMap, Pod, Service},
};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use opgen_tests::{Plane, wait};
use serde_json::{Value, json};
use webapp_api::{WebApp, WebAppSpec};

use super::mirror::Mirror;

/// How many requests of a test are under way at a time.
const AT_ONCE: usize = 16;

/// Names the field manager of edits that are not the operator's.
pub(crate) const STRANGER: &str = "a-stranger";

pub(crate) struct Fleet {
    pub(crate) namespace: String,
    pub(crate) names: Vec<String>,
    client: Client,
    pub(crate) apps: Mirror<WebApp>,
    pub(crate) configs: Mirror<ConfigMap>,
    pub(crate) deployments: Mirror<Deployment>,
    pub(crate) services: Mirror<Service>,
}

impl Fleet {
    /// A namespace for `count` WebApps, none of which is there yet.
    pub(crate) async fn new(plane: &Plane, count: usize) -> Self {
        let (namespace, client) = (plane.namespace("fleet").await, plane.client());
        Self {
            apps: Mirror::follow(client.clone(), &namespace).await,
            configs: Mirror::follow(client.clone(), &namespace).await,
            deployments: Mirror::follow(client.clone(), &namespace).await,
            services: Mirror::follow(client.clone(), &namespace).await,
            names: (0..count).map(|number| format!("app-{number:03}")).collect(),
            namespace,
            client,
        }
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Creates those of these names; gives them as they were made.
    pub(crate) async fn create(&self, names: &[String]) -> Vec<WebApp> {
        let api = self.api::<WebApp>();
        let made = stream::iter(names).map(|name| {
            let api = &api;
            async move { api.create(&PostParams::default(), &app(name)).await.unwrap() }
        });
        made.buffer_unordered(AT_ONCE).collect().await
    }

    /// Changes an object of each of these names by a merge patch.
    pub(crate) async fn patch<K>(&self, names: &[String], patch: &Value)
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let (api, parameters) =
            (self.api::<K>(), PatchParams { field_manager: Some(STRANGER.to_owned()), ..PatchParams::default() });
        let patches = stream::iter(names);
        patches
            .for_each_concurrent(AT_ONCE, |name| async {
                api.patch(name, &parameters, &Patch::Merge(patch)).await.unwrap();
            })
            .await;
    }

    /// Deletes the objects of these names.
    pub(crate) async fn delete<K>(&self, names: &[String])
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let api = self.api::<K>();
        let deletions = stream::iter(names);
        deletions
            .for_each_concurrent(AT_ONCE, |name| async {
                api.delete(name, &DeleteParams::default()).await.unwrap();
            })
            .await;
    }

    /// Waits until `count` WebApps are there and each is available as it is now wanted.
    #[track_caller]
    pub(crate) fn available(&self, count: usize) -> impl Future<Output = Vec<Arc<WebApp>>> {
        self.apps.until("are available", count, is_available)
    }

    /// Waits until all of the ConfigMaps of `count` WebApps greet like this.
    #[track_caller]
    pub(crate) fn greets(&self, count: usize, text: &str) -> impl Future<Output = Vec<Arc<ConfigMap>>> {
        let fits = move |config: &ConfigMap| is_the_clusters(config) || greeting(config) == text;
        self.configs.until("have the greeting", count + 1, fits)
    }

    /// Waits until there is no WebApp, and nothing of what they were made of.
    pub(crate) async fn gone(&self) {
        self.apps.until("are left", 0, |_| false).await;
        self.deployments.until("are left", 0, |_| false).await;
        self.services.until("are left", 0, |_| false).await;
        self.configs.until("are left", 1, is_the_clusters).await;
        wait::until("all Pods and ReplicaSets are gone", wait::PATIENCE, async || {
            let pods = self.api::<Pod>().list(&Default::default()).await.map_err(|error| error.to_string())?;
            let sets = self.api::<ReplicaSet>().list(&Default::default()).await.map_err(|error| error.to_string())?;
            match (pods.items.len(), sets.items.len()) {
                (0, 0) => Ok(()),
                left => Err(format!("{left:?} are left")),
            }
        })
        .await;
    }
}

/// Says True of its present generation.
pub(crate) fn is_available(app: &WebApp) -> bool {
    let Some(status) = &app.status else { return false };
    let says_true = status.conditions.iter().any(|held| held.type_ == "Available" && held.status == "True");
    says_true && status.observed_generation == app.metadata.generation
}

/// A small WebApp of that name.
pub(crate) fn app(name: &str) -> WebApp {
    WebApp::new(name, WebAppSpec { image: "example.com/web:1".to_owned(), replicas: 1, port: 8080, greeting: None })
}

/// The image that a Deployment runs.
pub(crate) fn image(deployment: &Deployment) -> &str {
    let containers = deployment.spec.as_ref().and_then(|spec| spec.template.spec.as_ref()).map(|pod| &pod.containers);
    containers.and_then(|all| all.first()).and_then(|container| container.image.as_deref()).unwrap_or_default()
}

/// The one that every namespace has.
fn is_the_clusters(config: &ConfigMap) -> bool {
    config.name_any() == "kube-root-ca.crt"
}

/// What the ConfigMap of a WebApp greets with.
fn greeting(config: &ConfigMap) -> &str {
    config.data.as_ref().and_then(|data| data.get("greeting")).map_or("", String::as_str)
}

/// A merge patch of a spec.
pub(crate) fn spec(fields: Value) -> Value {
    json!({"spec": fields})
}
