//! Lets claims and volumes go that are deleted, as soon as nobody uses them.

use serde_json::Value;

use super::{Actor, Controller, Next, Outcome, Seen, Watches};
use crate::object;

const CLAIMS: &str = "persistentvolumeclaims";
const VOLUMES: &str = "persistentvolumes";
const CLASSES: &str = "volumeattributesclasses.storage.k8s.io";

/// The finalizer that admission puts on each kind.
const FINALIZERS: [(&str, &str); 3] = [
    (CLAIMS, "kubernetes.io/pvc-protection"),
    (VOLUMES, "kubernetes.io/pv-protection"),
    (CLASSES, "kubernetes.io/vac-protection"),
];

/// Looks whether they are in use.
#[derive(Debug)]
pub(super) struct Protection;

impl Controller for Protection {
    /// Shelf, namespace and name.
    type Key = (String, String, String);

    fn watches(&self) -> Watches {
        Watches::Lives
    }

    fn told(&mut self, actor: &Actor, shelf: &str, seen: &Seen) -> Vec<Self::Key> {
        let (shelf, namespace) = match shelf {
            CLAIMS | VOLUMES | CLASSES if !seen.gone => {
                let object = &seen.object;
                return vec![(shelf.to_owned(), object.namespace.to_string(), object.name.to_string())];
            }
            // A Pod or a claim that is gone may have been the last one in the way.
            "pods" => (CLAIMS, Some(&*seen.object.namespace)),
            CLAIMS => {
                return [deleting(actor, VOLUMES, None), deleting(actor, CLASSES, None)].concat();
            }
            VOLUMES => (CLASSES, None),
            _ => return Vec::new(),
        };
        deleting(actor, shelf, namespace)
    }

    async fn reconcile(&mut self, actor: &Actor, (shelf, namespace, name): &Self::Key) -> Outcome {
        let kind = actor.known(shelf)?;
        let Some(held) = actor.get(&kind, namespace, name).filter(object::is_deleting) else { return Ok(Next::Rest) };
        let finalizer = FINALIZERS.iter().find(|(own, _)| own == shelf).map_or("", |(_, finalizer)| finalizer);
        if object::finalizers(&held).contains(&finalizer) && !is_used(actor, shelf, &held) {
            actor.release(&kind, &held, finalizer).await?;
        }
        Ok(Next::Rest)
    }
}

/// What is on the way out on a shelf.
fn deleting(actor: &Actor, shelf: &str, namespace: Option<&str>) -> Vec<(String, String, String)> {
    let (_, items) = actor.server.store.list(shelf, namespace);
    let deleting = items.iter().filter(|item| item.deleting);
    deleting.map(|item| (shelf.to_owned(), item.namespace.to_string(), item.name.to_string())).collect()
}

/// Whether a claim or a volume names a class.
fn is_class_used(actor: &Actor, class: &Value) -> bool {
    let names = |shelf: &str, path: &[&str]| {
        let Some(kind) = actor.kind(shelf) else { return false };
        actor.list(&kind, None).iter().any(|object| object::text(object, path) == object::name(class))
    };
    names(CLAIMS, &["spec", "volumeAttributesClassName"])
        || names(CLAIMS, &["status", "currentVolumeAttributesClassName"])
        || names(VOLUMES, &["spec", "volumeAttributesClassName"])
}

fn is_used(actor: &Actor, shelf: &str, held: &Value) -> bool {
    if shelf == CLASSES {
        return is_class_used(actor, held);
    }
    if shelf == VOLUMES {
        return held["status"]["phase"] == "Bound";
    }
    let Some(pods) = actor.kind("pods") else { return false };
    actor.list(&pods, Some(object::namespace(held))).iter().any(|pod| {
        let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
        let ended = matches!(object::text(pod, &["status", "phase"]), "Succeeded" | "Failed");
        !ended
            && volumes.into_iter().any(|volume| {
                volume["persistentVolumeClaim"]["claimName"] == held["metadata"]["name"]
                    || volume["ephemeral"].is_object()
                        && format!("{}-{}", object::name(pod), object::text(volume, &["name"])) == object::name(held)
            })
    })
}
