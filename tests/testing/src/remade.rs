//! Finds objects that the program deleted and made anew although they were wanted all the time.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    install,
    life::{World, text},
    state::{Kept, State},
};

/// Kinds whose content is lost with the object, whatever is made in its place.
const HOLDS_DATA: [&str; 4] = ["PersistentVolumeClaim", "PersistentVolume", "Namespace", "CustomResourceDefinition"];

/// The annotation that says which node of a tree has made an object.
pub(crate) const NODE: &str = "opgen.dev/node";

/// An object that is another one than before, by its uid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remade {
    /// Kind, namespace, name, and the node that made it.
    pub(crate) what: String,
    /// What happened before.
    pub(crate) after: &'static str,
    /// Whether what was in it is lost.
    pub(crate) held_data: bool,
}

impl World<'_> {
    /// The objects of the program that are in both states with different uids, without those that went with an object that
    /// somebody `lost`, and those that the server lets nobody change to what they are now.
    pub(crate) async fn remade(
        &self,
        (before, now): (&State, &State),
        lost: Option<&Value>,
        after: &'static str,
    ) -> Vec<Remade> {
        let gone = replaced(before, now, lost);
        let samples = &self.prepared.manifests.samples;
        let mut remade = Vec::new();
        for kept in before.children(&self.prepared.name, samples) {
            let (old, uid) = (&kept.origin, uid(&kept.origin));
            let Some(new) = now.sample(old).filter(|new| gone.contains(uid) && self::uid(new) != uid) else { continue };
            // Whoever goes with its owner, or because somebody deleted it, is not deleted by the program.
            if is_owned_by(old, &gone) || lost.is_some_and(|lost| self::uid(lost) == uid) {
                continue;
            }
            let held_data = HOLDS_DATA.contains(&text(old, "/kind"));
            if held_data || self.could_be_changed(old, new).await {
                remade.push(Remade { what: named(kept), after, held_data });
            }
        }
        remade
    }

    /// Whether the server would take the change, tried from the new object back to the old one.
    async fn could_be_changed(&self, old: &Value, new: &Value) -> bool {
        let mut back = old.clone();
        if let Some(metadata) = back["metadata"].as_object_mut() {
            metadata.remove("managedFields");
            metadata.remove("creationTimestamp");
        }
        for field in ["uid", "resourceVersion"] {
            back["metadata"][field] = new["metadata"][field].clone();
        }
        let place = install::place(new, &self.prepared.manifests.install);
        install::could_replace(&self.sandbox, &place, &back).await.is_ok()
    }
}

/// The uids of what is there no more, and of what somebody deleted.
fn replaced<'a>(before: &'a State, now: &State, lost: Option<&'a Value>) -> BTreeSet<&'a str> {
    let there: BTreeSet<&str> = now.objects.values().map(|kept| uid(&kept.origin)).collect();
    let all = before.objects.values().map(|kept| uid(&kept.origin));
    all.filter(|uid| !there.contains(uid)).chain(lost.map(uid)).collect()
}

fn is_owned_by(object: &Value, uids: &BTreeSet<&str>) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    owners.filter_map(|owner| owner["uid"].as_str()).any(|uid| uids.contains(uid))
}

fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

/// An object with its place, and with the node of the tree that made it where that is known.
pub(crate) fn named(kept: &Kept) -> String {
    let node = kept.origin["metadata"]["annotations"][NODE].as_str();
    let node = node.map(|node| format!(" (node `{node}`)")).unwrap_or_default();
    format!("{}{node}", named_object(&kept.origin))
}

/// An object with its place.
pub(crate) fn named_object(object: &Value) -> String {
    let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
    let namespace =
        object["metadata"]["namespace"].as_str().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{kind} {namespace}{name}")
}
