//! The end of a CustomResourceDefinition: its objects first.

use std::{collections::BTreeSet, sync::Arc};

use http::Method;
use serde_json::Value;

use super::crd::{call, collection, write};
use crate::{
    kind::definition::{self, condition, set_condition},
    object::{self, text},
    sandbox::Server,
};

/// Deletes the objects of a CRD, waits for the last to be gone, and lets the CRD go.
pub(super) async fn remove(server: Arc<Server>, crd: Value) {
    let begun = |crd: &mut Value| {
        let message = "CustomResource deletion is in progress";
        let begun = condition("Terminating", true, "InstanceDeletionInProgress", message);
        set_condition(crd, begun, &server.environment.time());
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

/// Changes the CRD as it is now, as often as somebody else is faster; `None` if it is gone.
async fn change(server: &Server, crd: &Value, part: &str, change: impl Fn(&mut Value)) -> Option<Value> {
    let kind = server.kinds.find(definition::GROUP, "v1", definition::PLURAL)?;
    loop {
        let held = server.store.get(&kind.shelf, "", object::name(crd))?;
        let before = held.version;
        let mut now = held.object(&kind);
        if object::uid(&now) != object::uid(crd) {
            return None;
        }
        change(&mut now);
        if let Some(written) = write(server, &now, part).await {
            return Some(written);
        }
        // Refused although nobody wrote in between: trying again would not help.
        if server.store.get(&kind.shelf, "", object::name(crd)).is_some_and(|held| held.version == before) {
            return None;
        }
    }
}

async fn delete_objects(server: &Server, crd: &Value) {
    let (_, items) = server.store.list(&shelf(crd), None);
    let namespaces: BTreeSet<&str> = items.iter().map(|item| &*item.namespace).collect();
    for namespace in namespaces {
        call(server, Method::DELETE, &collection(crd, namespace), String::new()).await;
    }
}

async fn all_gone(server: &Server, crd: &Value) {
    let shelf = shelf(crd);
    let mut news = server.store.news(&shelf);
    loop {
        news.borrow_and_update();
        if server.store.list(&shelf, None).1.is_empty() || news.changed().await.is_err() {
            return;
        }
    }
}

fn shelf(crd: &Value) -> Arc<str> {
    let (group, plural) = (text(crd, &["spec", "group"]), text(crd, &["status", "acceptedNames", "plural"]));
    format!("{plural}.{group}").into()
}
