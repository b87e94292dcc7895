//! Removes the protection finalizers of deleted claims and volumes that are no longer in use.

use serde_json::Value;

use super::{Action, ChangeEvent, Controller, ControllerClient, EventSources, ReconcileResult};
use crate::object;

const CLAIMS: &str = "persistentvolumeclaims";
const VOLUMES: &str = "persistentvolumes";
const CLASSES: &str = "volumeattributesclasses.storage.k8s.io";

/// The finalizer that admission adds to each kind.
const FINALIZERS: [(&str, &str); 3] = [
    (CLAIMS, "kubernetes.io/pvc-protection"),
    (VOLUMES, "kubernetes.io/pv-protection"),
    (CLASSES, "kubernetes.io/vac-protection"),
];

/// Checks whether the protected objects are in use.
#[derive(Debug)]
pub(super) struct Protection;

impl Controller for Protection {
    /// Group resource, namespace and name.
    type Key = (String, String, String);

    fn sources(&self) -> EventSources {
        EventSources::Lifecycle
    }

    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<Self::Key> {
        let (group_resource, namespace) = match group_resource {
            CLAIMS | VOLUMES | CLASSES if !event.gone => {
                let object = &event.object;
                return vec![(group_resource.to_owned(), object.namespace.to_string(), object.name.to_string())];
            }
            // A deleted Pod or claim may have been the last user.
            "pods" => (CLAIMS, Some(&*event.object.namespace)),
            CLAIMS => {
                return [deleting(client, VOLUMES, None), deleting(client, CLASSES, None)].concat();
            }
            VOLUMES => (CLASSES, None),
            _ => return Vec::new(),
        };
        deleting(client, group_resource, namespace)
    }

    async fn reconcile(
        &mut self,
        client: &ControllerClient,
        (group_resource, namespace, name): &Self::Key,
    ) -> ReconcileResult {
        let kind = client.served_kind(group_resource)?;
        let Some(held) = client.get(&kind, namespace, name).filter(object::is_deleting) else {
            return Ok(Action::AwaitChange);
        };
        let finalizer = FINALIZERS.iter().find(|(own, _)| own == group_resource).map_or("", |(_, finalizer)| finalizer);
        if object::finalizers(&held).contains(&finalizer) && !is_used(client, group_resource, &held) {
            client.remove_finalizer(&kind, &held, finalizer).await?;
        }
        Ok(Action::AwaitChange)
    }
}

/// Returns the terminating objects of a group resource.
fn deleting(client: &ControllerClient, group_resource: &str, namespace: Option<&str>) -> Vec<(String, String, String)> {
    let (_, items) = client.server.store.list(group_resource, namespace);
    let deleting = items.iter().filter(|item| item.deleting);
    deleting.map(|item| (group_resource.to_owned(), item.namespace.to_string(), item.name.to_string())).collect()
}

/// Whether a claim or a volume refers to a class.
fn is_class_used(client: &ControllerClient, class: &Value) -> bool {
    let names = |group_resource: &str, path: &[&str]| {
        let Some(kind) = client.kind(group_resource) else { return false };
        client.list(&kind, None).iter().any(|object| object::text(object, path) == object::name(class))
    };
    names(CLAIMS, &["spec", "volumeAttributesClassName"])
        || names(CLAIMS, &["status", "currentVolumeAttributesClassName"])
        || names(VOLUMES, &["spec", "volumeAttributesClassName"])
}

fn is_used(client: &ControllerClient, group_resource: &str, held: &Value) -> bool {
    if group_resource == CLASSES {
        return is_class_used(client, held);
    }
    if group_resource == VOLUMES {
        return held["status"]["phase"] == "Bound";
    }
    let Some(pods) = client.kind("pods") else { return false };
    client.list(&pods, Some(object::namespace(held))).iter().any(|pod| {
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
