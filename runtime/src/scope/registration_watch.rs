//! Watches the Secrets that register clusters with CD systems, so that changes by other clients are repaired.

use crate::{
    cache::{Change, Header, ObjectKey, ResourceVersion, Store},
    cd::REGISTRATION_LABEL,
    client::Client,
    counters::Counters,
    error::Result,
    informer::{
        event_handler::EventHandler,
        namespaces::Namespaces,
        reflector::{self, WatchScope},
        watch::{Health, WatchedKind},
    },
    kind::kind_of,
    shape::{AccessTarget, Shape},
    tasks::{OnEnd, Tasks},
};
use futures::FutureExt as _;
use k8s_openapi::api::core::v1::Secret;
use std::sync::Arc;

/// The callback for a changed registration, with its version; `None` if it was deleted.
type OnRegistrationChange = Arc<dyn Fn(&ObjectKey, Option<&ResourceVersion>) + Send + Sync>;

/// Starts watches of the Secrets that register clusters for the applications of a tree. Each namespace that a driver names has a watch. If
/// a driver names none, its Secrets are watched in all namespaces of the operator. `on_change` is called for each changed Secret.
pub(super) fn start(
    tree: &'static Shape,
    client: &Client,
    namespaces: &Namespaces,
    on_change: &OnRegistrationChange,
    counters: &Counters,
) -> Tasks {
    let registrations = tree.remote_applications().into_iter().filter_map(|edge| edge.registration);
    let mut scopes: Vec<Namespaces> = Vec::new();
    for access in registrations.flat_map(|registration| registration.access) {
        let scope = match access.target {
            AccessTarget::Objects { namespace: Some(namespace), .. } => Namespaces::new(vec![namespace.to_owned()]),
            _ => namespaces.clone(),
        };
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    let mut tasks = Tasks::new(counters.clone());
    for scope in scopes {
        let watched = WatchedKind::new(kind_of::<Secret>(), false);
        let (client, on_change, health) = (client.clone(), on_change.clone(), watched.health.clone());
        let handler = Arc::new(RegistrationHandler { watched, on_change });
        tasks.spawn("informer of registrations of clusters", Some(health), OnEnd::Restart, move || {
            watch(client.clone(), scope.clone(), handler.clone()).boxed()
        });
    }
    tasks
}

/// Watches the Secrets with the label of registrations in these namespaces. The future never ends.
async fn watch(client: Client, namespaces: Namespaces, handler: Arc<RegistrationHandler>) {
    let WatchedKind { kind, health, .. } = &handler.watched;
    let scope = WatchScope { labels: Some(REGISTRATION_LABEL), ..WatchScope::all(&client, &namespaces) };
    reflector::run(client.metadata_kube_client(), kind, scope, &*handler, health).await;
}

/// Reports the changes of registrations. It stores their metadata only.
struct RegistrationHandler {
    watched: WatchedKind<()>,
    on_change: OnRegistrationChange,
}

impl EventHandler for RegistrationHandler {
    type Projection = ();

    fn health(&self) -> &Health {
        &self.watched.health
    }

    fn store(&self) -> &Store<()> {
        &self.watched.store
    }

    fn store_object(&self, json: &[u8], _from_list: bool) -> Result<Change<()>> {
        Ok(self.store().apply(Header::parse(json)?, || ()))
    }

    /// Reports the key of a changed Secret with its new version, or without a version if it was deleted. An unchanged Secret is not
    /// reported.
    fn on_change(&self, change: &Change<()>, _from_list: bool) {
        let new = change.new_entry();
        if let Some(entry) = new.or(change.old()) {
            (self.on_change)(&entry.header.key, new.map(|new| &new.header.resource_version));
        }
    }
}
