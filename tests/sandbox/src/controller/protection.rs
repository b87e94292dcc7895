//! Removes the protection finalizers of terminating PersistentVolumeClaims, PersistentVolumes and VolumeAttributesClasses that are no
//! longer in use.

use serde_json::Value;

use super::{Action, ChangeEvent, Controller, ControllerClient, EventSources, ReconcileResult};
use crate::{object, store::Stored};

const CLAIMS: &str = "persistentvolumeclaims";
const VOLUMES: &str = "persistentvolumes";
const CLASSES: &str = "volumeattributesclasses.storage.k8s.io";

/// The finalizer that admission adds to each kind.
const FINALIZERS: [(&str, &str); 3] = [
    (CLAIMS, "kubernetes.io/pvc-protection"),
    (VOLUMES, "kubernetes.io/pv-protection"),
    (CLASSES, "kubernetes.io/vac-protection"),
];

/// Removes the finalizer of a terminating object once nothing uses it.
#[derive(Debug)]
pub(super) struct Protection;

/// The identity of a protected object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ProtectedObject {
    group_resource: String,
    namespace: String,
    name: String,
}

impl ProtectedObject {
    /// Returns the identity of a stored object: its group resource, namespace and name.
    fn new(group_resource: &str, object: &Stored) -> Self {
        Self {
            group_resource: group_resource.to_owned(),
            namespace: object.namespace.to_string(),
            name: object.name.to_string(),
        }
    }
}

impl Controller for Protection {
    type Key = ProtectedObject;

    fn sources(&self) -> EventSources {
        EventSources::Lifecycle
    }

    /// Returns the changed PersistentVolumeClaim, PersistentVolume or VolumeAttributesClass, or the terminating objects that may have lost
    /// their last user: claims after a change of a Pod, volumes and classes after the deletion of a claim, and classes after the deletion
    /// of a volume.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<Self::Key> {
        let (group_resource, namespace) = match group_resource {
            CLAIMS | VOLUMES | CLASSES if !event.deleted => {
                return vec![ProtectedObject::new(group_resource, &event.object)];
            }
            // The Pod, or the deleted claim, may have been the last user.
            "pods" => (CLAIMS, Some(&*event.object.namespace)),
            CLAIMS => {
                return [terminating_objects(client, VOLUMES, None), terminating_objects(client, CLASSES, None)]
                    .concat();
            }
            VOLUMES => (CLASSES, None),
            _ => return Vec::new(),
        };
        terminating_objects(client, group_resource, namespace)
    }

    /// Removes the protection finalizer of a terminating claim, volume or class that is no longer in use.
    async fn reconcile(&mut self, client: &ControllerClient, key: &ProtectedObject) -> ReconcileResult {
        let ProtectedObject { group_resource, namespace, name } = key;
        let kind = client.served_kind(group_resource)?;
        let Some(object) = client.get(&kind, namespace, name).filter(object::is_deleting) else {
            return Ok(Action::AwaitChange);
        };
        let finalizer =
            FINALIZERS.iter().find(|(resource, _)| resource == group_resource).map_or("", |(_, finalizer)| finalizer);
        if object::finalizers(&object).contains(&finalizer) && !is_used(client, group_resource, &object) {
            client.remove_finalizer(&kind, &object, finalizer).await?;
        }
        Ok(Action::AwaitChange)
    }
}

/// Returns the terminating objects of a group resource, in one namespace or in all.
fn terminating_objects(
    client: &ControllerClient,
    group_resource: &str,
    namespace: Option<&str>,
) -> Vec<ProtectedObject> {
    let (_, items) = client.server.store.list(group_resource, namespace);
    let terminating = items.iter().filter(|item| item.deleting);
    terminating.map(|item| ProtectedObject::new(group_resource, item)).collect()
}

/// Returns whether a claim or a volume refers to a VolumeAttributesClass by name.
fn is_class_used(client: &ControllerClient, class: &Value) -> bool {
    let is_named_by = |group_resource: &str, path: &[&str]| {
        let Some(kind) = client.kind(group_resource) else { return false };
        client.list(&kind, None).iter().any(|object| object::text(object, path) == object::name(class))
    };
    is_named_by(CLAIMS, &["spec", "volumeAttributesClassName"])
        || is_named_by(CLAIMS, &["status", "currentVolumeAttributesClassName"])
        || is_named_by(VOLUMES, &["spec", "volumeAttributesClassName"])
}

/// Returns whether an object is in use: a PersistentVolumeClaim by a Pod, a PersistentVolume by a bound claim, a VolumeAttributesClass by a
/// claim or a volume.
fn is_used(client: &ControllerClient, group_resource: &str, object: &Value) -> bool {
    match group_resource {
        CLASSES => is_class_used(client, object),
        VOLUMES => object["status"]["phase"] == "Bound",
        _ => client.kind("pods").is_some_and(|pods| {
            client.list(&pods, Some(object::namespace(object))).iter().any(|pod| uses_claim(pod, object))
        }),
    }
}

/// Returns whether a Pod uses a PersistentVolumeClaim. A Pod without a node does not: the kubelet starts no Pod with a terminating claim. A
/// Pod that has ended does, until it is deleted.
fn uses_claim(pod: &Value, claim: &Value) -> bool {
    if object::text(pod, &["spec", "nodeName"]).is_empty() {
        return false;
    }
    // With a grace period of 0 the kubelet has stopped the Pod. Its ephemeral volumes may go before it: it may itself wait for their
    // claims.
    let is_shut_down = object::is_deleting(pod) && pod["metadata"]["deletionGracePeriodSeconds"] == 0;
    let owns_claim = || object::owners(claim).iter().any(|owner| owner.controller && owner.uid == object::uid(pod));
    pod["spec"]["volumes"].as_array().into_iter().flatten().any(|volume| {
        // The claim of an ephemeral volume has the name `POD-VOLUME`.
        let ephemeral_claim = || format!("{}-{}", object::name(pod), object::text(volume, &["name"]));
        volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
            || volume["ephemeral"].is_object()
                && !is_shut_down
                && ephemeral_claim() == object::name(claim)
                && owns_claim()
    })
}
