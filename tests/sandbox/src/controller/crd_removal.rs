//! Deletes the custom resources of a deleted CustomResourceDefinition, then releases it.

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

/// Deletes the objects of a CRD, waits until the last one is gone, and releases the CRD.
pub(super) async fn remove(server: Arc<Server>, crd: Value) {
    let begun = |crd: &mut Value| {
        let message = "CustomResource deletion is in progress";
        let begun = Condition::new("Terminating", true, "InstanceDeletionInProgress", message);
        set_condition(crd, &begun, &server.environment.time());
    };
    if change(&server, &crd, "/status", begun).await.is_none() {
        return;
    }
    if definition::has_condition(&crd, "Established") {
        delete_objects(&server, &crd).await;
        all_gone(&server, &crd).await;
    }
    let release = |crd: &mut Value| {
        let kept = object::finalizers(crd).into_iter().filter(|finalizer| *finalizer != definition::CLEANUP);
        let kept = kept.map(str::to_owned).collect();
        object::set_finalizers(crd, kept);
    };
    change(&server, &crd, "", release).await;
}

/// Changes the current CRD and retries on conflicts; `None` if it is gone.
async fn change(server: &Server, crd: &Value, part: &str, change: impl Fn(&mut Value)) -> Option<Value> {
    let kind = server.kinds.find(definition::GROUP, "v1", definition::PLURAL)?;
    loop {
        let held = server.store.get(&kind.group_resource, "", object::name(crd))?;
        let before = held.version;
        let mut now = held.object(&kind);
        if object::uid(&now) != object::uid(crd) {
            return None;
        }
        change(&mut now);
        if let Some(written) = write(server, &now, part).await {
            return Some(written);
        }
        // The write failed although nobody wrote in between: a retry would not help.
        if server.store.get(&kind.group_resource, "", object::name(crd)).is_some_and(|held| held.version == before) {
            return None;
        }
    }
}

async fn delete_objects(server: &Server, crd: &Value) {
    let (_, items) = server.store.list(&group_resource(crd), None);
    let namespaces: BTreeSet<&str> = items.iter().map(|item| &*item.namespace).collect();
    for namespace in namespaces {
        call(server, Method::DELETE, &collection(crd, namespace), String::new()).await;
    }
    let group_resource = group_resource(crd);
    for item in server.store.list(&group_resource, None).1.iter().filter(|item| !item.deleting) {
        delete_held(server, &group_resource, item);
    }
}

/// Deletes an object from the store directly, because no API path leads to it or an admission webhook refuses the
/// deletion.
fn delete_held(server: &Server, group_resource: &Arc<str>, item: &Arc<Stored>) {
    let mut held = item.clone();
    loop {
        let Ok(mut object) = serde_json::from_slice::<Value>(&held.json) else { return };
        let next = (!object::finalizers(&object).is_empty()).then(|| {
            let metadata = object::metadata_mut(&mut object);
            metadata.insert("deletionTimestamp".into(), server.environment.time().into());
            metadata.insert("deletionGracePeriodSeconds".into(), 0.into());
            object
        });
        let (at, expected) = ((&*held.namespace, &*held.name), Expect::Version(held.version));
        let done = server.store.commit(group_resource, at, expected, next, &held.api_version);
        match server.store.get(group_resource, &held.namespace, &held.name) {
            Some(newer) if done.is_err() && !newer.deleting => held = newer,
            _ => return,
        }
    }
}

async fn all_gone(server: &Server, crd: &Value) {
    let group_resource = group_resource(crd);
    let mut subscription = server.store.subscribe(&group_resource);
    loop {
        subscription.mark_unchanged();
        if server.store.list(&group_resource, None).1.is_empty() || subscription.changed().await.is_err() {
            return;
        }
    }
}

fn group_resource(crd: &Value) -> Arc<str> {
    let (group, plural) = (text(crd, &["spec", "group"]), text(crd, &["status", "acceptedNames", "plural"]));
    format!("{plural}.{group}").into()
}
