//! All objects of a kind and namespace as a watch shows them, so that a wait over hundreds of them costs the API server
//! nothing.

use std::{fmt::Debug, sync::Arc, time::Duration};

use futures::StreamExt as _;
use k8s_openapi::NamespaceResourceScope;
use kube::{
    Api, Client, Resource,
    runtime::{
        WatchStreamExt as _,
        reflector::{self, Store},
        watcher,
    },
};
use opgen_tests::wait;
use serde::{Serialize, de::DeserializeOwned};
use tokio::task::JoinHandle;

/// A kind of namespaced objects.
pub(crate) trait Namespaced:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + Send
    + Sync
    + Serialize
    + DeserializeOwned
    + 'static
{
}

impl<K> Namespaced for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + Send
        + Sync
        + Serialize
        + DeserializeOwned
        + 'static
{
}

/// Follows a kind in a namespace until it is dropped.
pub(crate) struct Mirror<K: Namespaced> {
    store: Store<K>,
    task: JoinHandle<()>,
}

impl<K: Namespaced> Mirror<K> {
    pub(crate) async fn follow(client: Client, namespace: &str) -> Self {
        let (store, writer) = reflector::store();
        let changes = watcher(Api::<K>::namespaced(client, namespace), watcher::Config::default()).default_backoff();
        let changes = reflector::reflector(writer, changes);
        let task = tokio::spawn(changes.for_each(|_| std::future::ready(())));
        store.wait_until_ready().await.expect("a watch that lives");
        Self { store, task }
    }

    /// Waits until there are exactly `count` objects and all fit.
    #[track_caller]
    pub(crate) fn until(
        &self,
        what: &str,
        count: usize,
        fits: impl Fn(&K) -> bool,
    ) -> impl Future<Output = Vec<Arc<K>>> {
        let what = format!("{count} of {} {what}", K::plural(&()));
        wait::until(what, LONG, async move || {
            let all = self.store.state();
            let (here, fit) = (all.len(), all.iter().filter(|object| fits(object)).count());
            if (here, fit) == (count, count) {
                return Ok(all);
            }
            let unfit = all.iter().find(|object| !fits(object)).map(|object| show(object.as_ref()));
            Err(format!("{here} are there, {fit} fit; one that does not: {}", unfit.unwrap_or_default()))
        })
    }
}

/// Hundreds of workloads on a busy two-core machine.
const LONG: Duration = Duration::from_secs(240);

impl<K: Namespaced> Drop for Mirror<K> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An object without the long list of who owns its fields.
fn show(object: &impl Serialize) -> String {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(metadata) = value.get_mut("metadata").and_then(serde_json::Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    value.to_string()
}
