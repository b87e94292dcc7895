//! A namespace with objects of an example and all that they are made of.

use std::{collections::BTreeMap, marker::PhantomData};

use k8s_openapi::api::{apps::v1::ReplicaSet, core::v1::Pod, scheduling::v1::PriorityClass};
use kube::{
    Api, Client, ResourceExt as _,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use opgen::Managed as _;
use opgen_tests::{Plane, wait};
use serde_json::{Value, json};

use super::stock::Stock;
use crate::operator::owners::is_available;

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// Kind and name.
pub(super) type Key = (String, String);

pub(super) struct World<S: Stock> {
    pub(super) client: Client,
    pub(super) namespace: String,
    _stock: PhantomData<S>,
}

impl<S: Stock> World<S> {
    pub(super) async fn new(plane: &Plane) -> Self {
        Self { client: plane.client(), namespace: plane.namespace("chaos").await, _stock: PhantomData }
    }

    pub(super) fn owners(&self) -> Api<S::Kind> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(super) fn of(&self, kind: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, kind)
    }

    /// The specs of all objects that are there and stay, by name.
    pub(super) async fn specs(&self) -> BTreeMap<String, Value> {
        // As they are: the type of the example may leave out empty lists.
        let all = self.of(&ApiResource::erase::<S::Kind>(&())).list(&Default::default()).await.unwrap().items;
        let kept = all.into_iter().filter(|object| object.metadata.deletion_timestamp.is_none());
        kept.map(|mut object| (object.name_any(), object.data["spec"].take())).collect()
    }

    pub(super) async fn create_all(&self, specs: &BTreeMap<String, Value>) {
        for (name, spec) in specs {
            let mut object = serde_json::to_value(S::object(name)).unwrap();
            object["spec"] = spec.clone();
            let object = serde_json::from_value(object).unwrap();
            let owners = self.of(&ApiResource::erase::<S::Kind>(&()));
            owners.create(&PostParams::default(), &object).await.unwrap();
        }
    }

    /// Whether exactly so many objects are there, and each is available.
    pub(super) async fn available(&self, count: usize) -> Result<(), String> {
        let all = self.owners().list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        if let Some(unfit) = all.iter().find(|object| !is_available(*object)) {
            return Err(format!("{} is not available: {}", unfit.name_any(), json!(unfit.status())));
        }
        if all.len() == count { Ok(()) } else { Err(format!("{} instead of {count}", all.len())) }
    }

    /// All objects and children, without what may differ between two worlds.
    pub(super) async fn snapshot(&self) -> kube::Result<BTreeMap<Key, Value>> {
        let mut all = BTreeMap::new();
        let owner = ApiResource::erase::<S::Kind>(&());
        for kind in S::children().iter().chain([&owner]) {
            for object in self.of(kind).list(&Default::default()).await?.items {
                if is_the_clusters(&object) {
                    continue;
                }
                let key = (kind.kind.clone(), object.name_any());
                all.insert(key, self.essence(&kind.kind, serde_json::to_value(&object).unwrap_or_default()));
            }
        }
        Ok(all)
    }

    /// Whether a world is like another one.
    pub(super) fn compare(found: &BTreeMap<Key, Value>, wanted: &BTreeMap<Key, Value>) -> Result<(), String> {
        let missing: Vec<_> = wanted.keys().filter(|key| !found.contains_key(key)).collect();
        let more: Vec<_> = found.keys().filter(|key| !wanted.contains_key(key)).collect();
        if !missing.is_empty() || !more.is_empty() {
            return Err(format!("missing: {missing:?}; too many: {more:?}"));
        }
        match found.iter().find(|(key, value)| wanted[*key] != **value) {
            Some((key, value)) => Err(format!("{key:?} is\n{value}\ninstead of\n{}", wanted[key])),
            None => Ok(()),
        }
    }

    /// The uid of each object and child that the world can't be without.
    pub(super) async fn uids(&self) -> kube::Result<BTreeMap<Key, String>> {
        let mut all = BTreeMap::new();
        let owner = ApiResource::erase::<S::Kind>(&());
        let kinds = S::children();
        for kind in kinds.iter().filter(|kind| !S::OPTIONAL.contains(&kind.kind.as_str())).chain([&owner]) {
            let objects = self.of(kind).list(&Default::default()).await?.items;
            let ours = objects.iter().filter(|object| !is_the_clusters(object));
            all.extend(ours.map(|object| ((kind.kind.clone(), object.name_any()), object.uid().unwrap_or_default())));
        }
        Ok(all)
    }

    pub(super) async fn delete_all(&self) {
        self.owners().delete_collection(&DeleteParams::default(), &Default::default()).await.unwrap();
    }

    /// Whether nothing is left, Pods included.
    pub(super) async fn is_empty(&self) -> Result<(), String> {
        let left = self.snapshot().await.map_err(|error| error.to_string())?;
        let mut left: Vec<_> = left.into_keys().collect();
        for kind in [ApiResource::erase::<Pod>(&()), ApiResource::erase::<ReplicaSet>(&())] {
            let more = self.of(&kind).list(&Default::default()).await.map_err(|error| error.to_string())?.items;
            left.extend(more.iter().map(|object| (kind.kind.clone(), object.name_any())));
        }
        // What a shop has in the cluster is named after its namespace.
        let classes = Api::<PriorityClass>::all(self.client.clone()).list(&Default::default()).await;
        let classes = classes.map_err(|error| error.to_string())?.items;
        let ours = |class: &&PriorityClass| class.name_any().starts_with(&format!("{}-", self.namespace));
        left.extend(classes.iter().filter(ours).map(|class| ("PriorityClass".to_owned(), class.name_any())));
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    }

    /// Waits until each child that has an owner has the operator's label.
    pub(super) async fn labelled(&self) {
        wait::until("the children have their labels", super::LONG, async || {
            for kind in S::children() {
                let all = self.of(&kind).list(&Default::default()).await.map_err(|error| error.to_string())?.items;
                let ours =
                    all.iter().filter(|object| !is_the_clusters(object) && !object.owner_references().is_empty());
                let mut kept = ours.filter(|object| object.metadata.deletion_timestamp.is_none());
                if let Some(stripped) = kept.find(|object| !object.labels().contains_key(MANAGED_BY)) {
                    return Err(format!("{} {}", kind.kind, stripped.name_any()));
                }
            }
            Ok(())
        })
        .await;
    }

    /// What is being deleted, since when, and what it waits for: the text of a failure.
    pub(super) async fn terminating(&self) -> String {
        let mut kinds = vec![ApiResource::erase::<Pod>(&()), ApiResource::erase::<ReplicaSet>(&())];
        kinds.extend(S::children());
        kinds.push(ApiResource::erase::<S::Kind>(&()));
        let mut lines = Vec::new();
        for kind in &kinds {
            let all = self.of(kind).list(&Default::default()).await.map(|list| list.items).unwrap_or_default();
            for object in all.iter().filter(|object| object.metadata.deletion_timestamp.is_some()) {
                let since = json!(object.metadata.deletion_timestamp);
                let owners: Vec<_> = object.owner_references().iter().map(|owner| &owner.name).collect();
                let (name, waits) = (object.name_any(), object.finalizers());
                lines.push(format!("{} {name} of {owners:?} since {since} for {waits:?}", kind.kind));
            }
        }
        lines.join("\n")
    }

    pub(super) async fn json_patch(&self, kind: &ApiResource, name: &str, patch: &Value) -> kube::Result<()> {
        let patch = Patch::<()>::Json(serde_json::from_value(patch.clone()).expect("a JSON patch"));
        self.of(kind).patch(name, &PatchParams::default(), &patch).await.map(drop)
    }

    pub(super) async fn merge(&self, kind: &ApiResource, name: &str, patch: &Value) -> kube::Result<()> {
        self.of(kind).patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
    }

    /// Without uids, versions, times and addresses, what controllers wrote, secrets, and the name of this namespace.
    fn essence(&self, kind: &str, mut object: Value) -> Value {
        let status = object["status"].take();
        if let Some(conditions) = status["conditions"].as_array().filter(|_| kind == S::kind()) {
            let essence = |held: &Value| json!([held["type"], held["status"], held["reason"]]);
            object["status"] = conditions.iter().map(essence).collect();
        }
        for path in ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"] {
            object["metadata"][path].take();
        }
        object["metadata"]["annotations"]["deployment.kubernetes.io/revision"].take();
        // The hash covers the uid of the owner.
        object["metadata"]["annotations"]["opgen.dev/applied"].take();
        for owner in object["metadata"]["ownerReferences"].as_array_mut().into_iter().flatten() {
            owner["uid"].take();
        }
        for path in ["clusterIP", "clusterIPs"] {
            object["spec"][path].take();
        }
        if kind == "Secret" {
            object["data"].take();
        }
        let text = without_null(object).to_string().replace(&self.namespace, "(the namespace)");
        serde_json::from_str(&text).unwrap_or_default()
    }
}

fn is_the_clusters(object: &DynamicObject) -> bool {
    let name = object.name_any();
    name == "kube-root-ca.crt" || name == "default" && object.owner_references().is_empty()
}

fn without_null(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().map(|(key, value)| (key, without_null(value)));
            Value::Object(kept.filter(|(_, value)| !value.is_null() && *value != json!({})).collect())
        }
        Value::Array(items) => items.into_iter().map(without_null).collect(),
        other => other,
    }
}
