//! Binds each PersistentVolumeClaim to a volume, provisions new volumes, and reclaims released ones.

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult, pods,
};
use crate::{kind::Kind, object, quantity::Quantity};

const CLAIMS: &str = "persistentvolumeclaims";
const VOLUMES: &str = "persistentvolumes";
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

/// Binds claims and reclaims volumes.
#[derive(Debug)]
pub(super) struct Claims;

impl Controller for Claims {
    /// The key of a claim or, without a namespace, of a volume.
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[CLAIMS, VOLUMES])
    }

    /// Returns the changed PersistentVolumeClaim or PersistentVolume. Adds the volume of a deleted claim, and all claims for a new volume.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        let mut keys = vec![pods::key(event)];
        if group_resource == CLAIMS && event.deleted {
            // The volume of the deleted claim is released.
            let claim: Value = serde_json::from_slice(&event.object.json).unwrap_or_default();
            keys.push((String::new(), object::text(&claim, &["spec", "volumeName"]).to_owned()));
        } else if group_resource == VOLUMES && event.before.is_none() && !event.deleted {
            // A claim may be waiting for this volume.
            let (_, claims) = client.server.store.list(CLAIMS, None);
            keys.extend(claims.iter().map(|claim| (claim.namespace.to_string(), claim.name.to_string())));
        }
        keys
    }

    /// Binds a PersistentVolumeClaim, or reclaims the PersistentVolume of a key without a namespace.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let result =
            if namespace.is_empty() { reclaim(client, name).await } else { bind(client, namespace, name).await };
        match result {
            Err(refused) if !refused.is_not_found() => Err(refused),
            _ => Ok(Action::AwaitChange),
        }
    }
}

/// Binds a PersistentVolumeClaim to the volume that it names, to a suitable existing one, or to a new one. Leaves the claim pending if the
/// named volume is not available.
async fn bind(client: &ControllerClient, namespace: &str, name: &str) -> Result<(), ApiError> {
    let (kind, volumes) = (client.served_kind(CLAIMS)?, client.served_kind(VOLUMES)?);
    let Some(mut claim) = client.get(&kind, namespace, name) else { return Ok(()) };
    if object::is_deleting(&claim) || claim["status"]["phase"] == "Bound" {
        return Ok(());
    }
    let volume_name = object::text(&claim, &["spec", "volumeName"]).to_owned();
    // An earlier reconcile may have reserved a volume for the claim; otherwise a free one is needed.
    let found = client.list(&volumes, None).into_iter().find(|volume| {
        let is_reserved = volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"];
        is_reserved || satisfies(volume, &claim) && (volume_name.is_empty() || object::name(volume) == volume_name)
    });
    let mut volume = match found {
        Some(volume) => volume,
        None if volume_name.is_empty() => provision(client, &volumes, &claim).await?,
        None => return Ok(()),
    };
    if volume["spec"]["claimRef"]["uid"] != claim["metadata"]["uid"] {
        volume["spec"]["claimRef"] = claim_reference(&claim);
        volume = client.replace(&volumes, "", &volume).await?;
    }
    if volume["status"]["phase"] != "Bound" {
        volume["status"]["phase"] = "Bound".into();
        volume = client.replace(&volumes, "status", &volume).await?;
    }
    if claim["metadata"]["annotations"][BIND_COMPLETED] != "yes" {
        claim["spec"]["volumeName"] = volume["metadata"]["name"].clone();
        object::map_at(&mut claim, &["metadata", "annotations"])
            .extend([BIND_COMPLETED, BOUND_BY_CONTROLLER].map(|key| (key.to_owned(), Value::from("yes"))));
        claim = client.replace(&kind, "", &claim).await?;
    }
    claim["status"] = json!({
        "phase": "Bound", "accessModes": volume["spec"]["accessModes"], "capacity": volume["spec"]["capacity"],
    });
    client.replace(&kind, "status", &claim).await.map(drop)
}

/// Returns whether a volume is free or reserved for a claim by name, and has the storage class, access modes and size that the claim
/// requests.
fn satisfies(volume: &Value, claim: &Value) -> bool {
    let class = |object: &Value| object::text(object, &["spec", "storageClassName"]).to_owned();
    let modes = claim["spec"]["accessModes"].as_array().into_iter().flatten();
    let has_mode = |mode: &Value| volume["spec"]["accessModes"].as_array().is_some_and(|modes| modes.contains(mode));
    let is_free = volume["spec"]["claimRef"].is_null() || is_reserved_for(&volume["spec"]["claimRef"], claim);
    is_free
        && !object::is_deleting(volume)
        && class(volume) == class(claim)
        && modes.into_iter().all(has_mode)
        && is_large_enough(volume, claim)
}

/// Returns whether the capacity of a volume is at least the storage that a claim requests; also `true` if either quantity is missing or
/// invalid.
fn is_large_enough(volume: &Value, claim: &Value) -> bool {
    let size = |object: &Value, path: &[&str]| Quantity::parse(object::text(object, path)).ok();
    let capacity = size(volume, &["spec", "capacity", "storage"]);
    let request = size(claim, &["spec", "resources", "requests", "storage"]);
    capacity.zip(request).is_none_or(|(capacity, request)| capacity >= request)
}

/// Returns whether the `claimRef` of a volume names the claim but has no uid: a user has reserved the volume for it.
fn is_reserved_for(reference: &Value, claim: &Value) -> bool {
    reference["uid"].is_null()
        && reference["name"] == claim["metadata"]["name"]
        && reference["namespace"] == claim["metadata"]["namespace"]
}

/// Returns the `claimRef` that binds a volume to the claim.
fn claim_reference(claim: &Value) -> Value {
    let metadata = &claim["metadata"];
    json!({
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": metadata["namespace"],
        "name": metadata["name"], "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"],
    })
}

/// Creates a volume with the requested size and access modes, as a dynamic provisioner does. Returns the existing
/// volume if an earlier reconcile created it.
async fn provision(client: &ControllerClient, volumes: &Kind, claim: &Value) -> Result<Value, ApiError> {
    let name = format!("pvc-{}", object::uid(claim));
    let spec = &claim["spec"];
    let mut volume = json!({
        "metadata": {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": "opgen.test/sandbox"}},
        "spec": {
            "capacity": {"storage": spec["resources"]["requests"]["storage"]}, "accessModes": spec["accessModes"],
            "persistentVolumeReclaimPolicy": "Delete", "claimRef": claim_reference(claim),
            "hostPath": {"path": format!("/volumes/{name}")},
        },
    });
    for field in ["storageClassName", "volumeMode"] {
        if let Some(value) = object::at(spec, &[field]) {
            volume["spec"][field] = value.clone();
        }
    }
    match client.create(volumes, &volume).await {
        Err(refused) if refused.is_already_exists() => client.get(volumes, "", &name).ok_or(refused),
        created => created,
    }
}

/// Sets the phase of a PersistentVolume to `Released` if its claim is gone, and deletes the volume if its reclaim policy is `Delete`. A
/// volume that is not bound to a claim becomes `Available`. Does nothing while the claim exists.
async fn reclaim(client: &ControllerClient, name: &str) -> Result<(), ApiError> {
    let (kind, claims) = (client.served_kind(VOLUMES)?, client.served_kind(CLAIMS)?);
    let Some(mut volume) = client.get(&kind, "", name) else { return Ok(()) };
    let claim_ref = volume["spec"]["claimRef"].clone();
    let uid = object::text(&claim_ref, &["uid"]);
    let phase = if uid.is_empty() {
        "Available"
    } else {
        let claim = client.get(&claims, object::text(&claim_ref, &["namespace"]), object::text(&claim_ref, &["name"]));
        if claim.is_some_and(|claim| object::uid(&claim) == uid) { return Ok(()) } else { "Released" }
    };
    if volume["status"]["phase"] != phase {
        volume["status"]["phase"] = phase.into();
        volume = client.replace(&kind, "status", &volume).await?;
    }
    let is_deleted_with_claim = volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete";
    if phase == "Released" && is_deleted_with_claim && !object::is_deleting(&volume) {
        let options = json!({"preconditions": {"uid": object::uid(&volume)}});
        client.delete(&kind, ("", name), &options).await?;
    }
    Ok(())
}
