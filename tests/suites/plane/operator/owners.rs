//! Objects of one managed kind by the dozen, in a namespace of their own.

use std::sync::Arc;

use futures::{StreamExt as _, stream};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use opgen::{Managed, Status};
use opgen_tests::Plane;
use serde_json::{Value, json};

use super::mirror::{Mirror, Namespaced};

/// How many requests of a test are under way at a time.
const AT_ONCE: usize = 16;

/// Names the field manager of edits that are not the operator's.
const STRANGER: &str = "a-stranger";

pub(crate) struct Owners<K: Namespaced> {
    pub(crate) namespace: String,
    pub(crate) names: Vec<String>,
    pub(crate) client: Client,
    pub(crate) mirror: Mirror<K>,
    make: fn(&str) -> K,
}

impl<K: Namespaced> Owners<K> {
    /// A namespace for `count` objects called `<prefix>-000` and so on, none of which is there yet.
    pub(crate) async fn new(plane: &Plane, count: usize, prefix: &str, make: fn(&str) -> K) -> Self {
        let (namespace, client) = (plane.namespace("fleet").await, plane.client());
        let mirror = Mirror::follow(client.clone(), &namespace).await;
        let names = (0..count).map(|number| format!("{prefix}-{number:03}")).collect();
        Self { namespace, names, client, mirror, make }
    }

    pub(crate) fn api<C: Namespaced>(&self) -> Api<C> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Creates those of these names; gives them as they were made.
    pub(crate) async fn create(&self, names: &[String]) -> Vec<K> {
        let api = self.api::<K>();
        let made = stream::iter(names).map(|name| {
            let api = &api;
            async move { api.create(&PostParams::default(), &(self.make)(name)).await.unwrap() }
        });
        made.buffer_unordered(AT_ONCE).collect().await
    }

    /// Changes an object of each of these names by a merge patch.
    pub(crate) async fn patch<C: Namespaced>(&self, names: &[String], patch: &Value) {
        let (api, parameters) =
            (self.api::<C>(), PatchParams { field_manager: Some(STRANGER.to_owned()), ..PatchParams::default() });
        let patches = stream::iter(names);
        patches
            .for_each_concurrent(AT_ONCE, |name| async {
                api.patch(name, &parameters, &Patch::Merge(patch)).await.unwrap();
            })
            .await;
    }

    /// Deletes the objects of these names.
    pub(crate) async fn delete<C: Namespaced>(&self, names: &[String]) {
        let api = self.api::<C>();
        let deletions = stream::iter(names);
        deletions
            .for_each_concurrent(AT_ONCE, |name| async {
                api.delete(name, &DeleteParams::default()).await.unwrap();
            })
            .await;
    }
}

impl<K: Namespaced + Managed<Status = Status>> Owners<K> {
    /// Waits until `count` owners are there and each is available as it is now wanted.
    #[track_caller]
    pub(crate) fn available(&self, count: usize) -> impl Future<Output = Vec<Arc<K>>> {
        self.mirror.until("are available", count, is_available)
    }
}

/// Says True of its present generation.
pub(crate) fn is_available<K: Managed<Status = Status>>(owner: &K) -> bool {
    let Some(status) = owner.status() else { return false };
    let says_true = status.conditions.iter().any(|held| held.type_ == "Available" && held.status == "True");
    says_true && status.observed_generation == owner.metadata().generation
}

/// A merge patch of a spec.
pub(crate) fn spec(fields: Value) -> Value {
    json!({"spec": fields})
}
