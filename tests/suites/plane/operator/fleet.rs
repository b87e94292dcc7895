//! WebApps by the hundred in one namespace, and what they are made of.

use std::{ops::Deref, sync::Arc};

use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::{ConfigMap, Pod, Service},
};
use kube::ResourceExt as _;
use opgen_tests::{Plane, wait};
use webapp_api::{WebApp, WebAppSpec};

use super::{mirror::Mirror, owners::Owners};

pub(crate) struct Fleet {
    apps: Owners<WebApp>,
    pub(crate) configs: Mirror<ConfigMap>,
    pub(crate) deployments: Mirror<Deployment>,
    pub(crate) services: Mirror<Service>,
}

impl Deref for Fleet {
    type Target = Owners<WebApp>;
    fn deref(&self) -> &Owners<WebApp> {
        &self.apps
    }
}

impl Fleet {
    /// A namespace for `count` WebApps, none of which is there yet.
    pub(crate) async fn new(plane: &Plane, count: usize) -> Self {
        let apps = Owners::new(plane, count, "app", app).await;
        let (client, namespace) = (&apps.client, &apps.namespace);
        Self {
            configs: Mirror::follow(client.clone(), namespace).await,
            deployments: Mirror::follow(client.clone(), namespace).await,
            services: Mirror::follow(client.clone(), namespace).await,
            apps,
        }
    }

    /// Waits until all of the ConfigMaps of `count` WebApps greet like this.
    #[track_caller]
    pub(crate) fn greets(&self, count: usize, text: &str) -> impl Future<Output = Vec<Arc<ConfigMap>>> {
        let fits = move |config: &ConfigMap| is_the_clusters(config) || greeting(config) == text;
        self.configs.until("have the greeting", count + 1, fits)
    }

    /// Waits until there is no WebApp, and nothing of what they were made of.
    pub(crate) async fn gone(&self) {
        self.mirror.until("are left", 0, |_| false).await;
        self.deployments.until("are left", 0, |_| false).await;
        self.services.until("are left", 0, |_| false).await;
        self.configs.until("are left", 1, is_the_clusters).await;
        // Whoever removes them may have lost its watches, too.
        wait::until("all Pods and ReplicaSets are gone", wait::PATIENCE * 3, async || {
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
