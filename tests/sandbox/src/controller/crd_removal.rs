//! Deletes the custom resources of a deleted CustomResourceDefinition, then removes the finalizer of the definition.

use std::{collections::BTreeSet, sync::Arc};

use http::Method;
use serde_json::Value;

use super::crd_client::{call, collection, write};
use crate::{
    condition::Condition,
    kind::definition::{self, set_condition},
    object::{self, text},
    server::Server,
    store::{Expect, Stored},
};

/// Removes the contents of a deleted CRD: sets its condition `Terminating`, deletes its custom resources, waits until the last one is gone,
/// and removes the finalizer of the CRD.
pub(super) async fn remove(server: Arc<Server>, crd: Value) {
    let set_terminating = |crd: &mut Value| {
        let message = "CustomResource deletion is in progress";
        let terminating = Condition::new("Terminating", true, "InstanceDeletionInProgress", message);
        set_condition(crd, &terminating, &server.environment.time());
    };
    if change(&server, &crd, "/status", set_terminating).await.is_none() {
        return;
    }
    // A CRD that was never established has no custom resources.
    if definition::has_condition(&crd, "Established") {
        delete_objects(&server, &crd).await;
        wait_until_deleted(&server, &crd).await;
    }
    let remove_finalizer = |crd: &mut Value| {
        let remaining = object::finalizers(crd).into_iter().filter(|finalizer| *finalizer != definition::CLEANUP);
        let remaining = remaining.map(str::to_owned).collect();
        object::set_finalizers(crd, remaining);
    };
    change(&server, &crd, "", remove_finalizer).await;
}

/// Applies `modify` to the stored CRD, writes the result, and retries on conflicts. Returns `None` if the CRD is gone or was replaced, or
/// if the server refuses the write for another reason.
async fn change(server: &Server, crd: &Value, subresource: &str, modify: impl Fn(&mut Value)) -> Option<Value> {
    let kind = server.kinds.find(definition::GROUP, "v1", definition::PLURAL)?;
    loop {
        let stored = server.store.get(&kind.group_resource, "", object::name(crd))?;
        let before = stored.version;
        let mut current = stored.object(&kind);
        if object::uid(&current) != object::uid(crd) {
            return None;
        }
        modify(&mut current);
        if let Some(written) = write(server, &current, subresource).await {
            return Some(written);
        }
        // The write failed although nobody wrote in between: a retry would not help.
        if server.store.get(&kind.group_resource, "", object::name(crd)).is_some_and(|stored| stored.version == before)
        {
            return None;
        }
    }
}

/// Deletes the custom resources of a CRD: first by one `deletecollection` request for each namespace, then directly in the store those that
/// no request has deleted.
async fn delete_objects(server: &Server, crd: &Value) {
    let (_, items) = server.store.list(&group_resource(crd), None);
    let namespaces: BTreeSet<&str> = items.iter().map(|item| &*item.namespace).collect();
    for namespace in namespaces {
        call(server, Method::DELETE, &collection(crd, namespace), String::new()).await;
    }
    let group_resource = group_resource(crd);
    for item in server.store.list(&group_resource, None).1.iter().filter(|item| !item.deleting) {
        delete_stored(server, &group_resource, item);
    }
}

/// Deletes an object in the store, because no API path leads to it or an admission webhook refuses the deletion. An
/// object with finalizers gets a deletion timestamp and the next generation instead. Retries if another client writes
/// the object meanwhile.
fn delete_stored(server: &Server, group_resource: &Arc<str>, item: &Arc<Stored>) {
    let mut stored = item.clone();
    loop {
        let Ok(mut object) = serde_json::from_slice::<Value>(&stored.json) else { return };
        let terminating_object = (!object::finalizers(&object).is_empty()).then(|| {
            let generation = object::number(&object, &["metadata", "generation"]);
            let metadata = object::metadata_mut(&mut object);
            if let Some(generation) = generation.filter(|generation| *generation > 0) {
                metadata.insert("generation".into(), (generation + 1).into());
            }
            metadata.insert("deletionTimestamp".into(), server.environment.time().into());
            metadata.insert("deletionGracePeriodSeconds".into(), 0.into());
            object
        });
        let (key, expected) = ((&*stored.namespace, &*stored.name), Expect::Version(stored.version));
        let result = server.store.commit(group_resource, key, expected, terminating_object, &stored.api_version);
        match server.store.get(group_resource, &stored.namespace, &stored.name) {
            // The commit failed because another client wrote the object.
            Some(newer) if result.is_err() && !newer.deleting => stored = newer,
            _ => return,
        }
    }
}

/// Waits until no custom resource of a CRD exists.
async fn wait_until_deleted(server: &Server, crd: &Value) {
    let group_resource = group_resource(crd);
    let mut subscription = server.store.subscribe(&group_resource);
    loop {
        subscription.mark_unchanged();
        if server.store.list(&group_resource, None).1.is_empty() || subscription.changed().await.is_err() {
            return;
        }
    }
}

/// Returns the group resource that a CRD defines.
fn group_resource(crd: &Value) -> Arc<str> {
    let (group, plural) = (text(crd, &["spec", "group"]), text(crd, &["status", "acceptedNames", "plural"]));
    format!("{plural}.{group}").into()
}
