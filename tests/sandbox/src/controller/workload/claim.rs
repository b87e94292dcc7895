//! Claims get a volume, as from a provisioner, and give it back.

use serde_json::{Value, json};

use super::{
    super::{Controller, Next, Outcome, Watches},
    Actor, Key, Refused, Seen, pods,
};
use crate::{kind::Kind, object, quantity::Quantity};

const CLAIMS: &str = "persistentvolumeclaims";
const VOLUMES: &str = "persistentvolumes";
const COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

#[derive(Debug)]
pub(super) struct Claims;

impl Controller for Claims {
    /// A claim, or, without a namespace, a volume.
    type Key = Key;

    fn watches(&self) -> Watches {
        Watches::Shelves(&[CLAIMS, VOLUMES])
    }

    fn told(&mut self, actor: &Actor, shelf: &str, seen: &Seen) -> Vec<Key> {
        let mut keys = vec![pods::key(seen)];
        if shelf == CLAIMS && seen.gone {
            // Its volume is free.
            let claim: Value = serde_json::from_slice(&seen.object.json).unwrap_or_default();
            keys.push((String::new(), object::text(&claim, &["spec", "volumeName"]).to_owned()));
        } else if shelf == VOLUMES && seen.before.is_none() && !seen.gone {
            // A claim may wait for just this one.
            let (_, claims) = actor.server.store.list(CLAIMS, None);
            keys.extend(claims.iter().map(|claim| (claim.namespace.to_string(), claim.name.to_string())));
        }
        keys
    }

    async fn reconcile(&mut self, actor: &Actor, (namespace, name): &Key) -> Outcome {
        let done = if namespace.is_empty() { reclaim(actor, name).await } else { bind(actor, namespace, name).await };
        match done {
            Err(refused) if !refused.is_gone() => Err(refused),
            _ => Ok(Next::Rest),
        }
    }
}

/// Binds a claim to the volume it names, to one that suits it, or to a new one.
async fn bind(actor: &Actor, namespace: &str, name: &str) -> Result<(), Refused> {
    let (kind, volumes) = (actor.known(CLAIMS)?, actor.known(VOLUMES)?);
    let Some(mut claim) = actor.get(&kind, namespace, name) else { return Ok(()) };
    if object::is_deleting(&claim) || claim["status"]["phase"] == "Bound" {
        return Ok(());
    }
    let named = object::text(&claim, &["spec", "volumeName"]).to_owned();
    let found = actor.list(&volumes, None).into_iter().find(|volume| {
        let own = volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"];
        own || suits(volume, &claim) && (named.is_empty() || object::name(volume) == named)
    });
    let mut volume = match found {
        Some(volume) => volume,
        None if named.is_empty() => provision(actor, &volumes, &claim).await?,
        None => return Ok(()),
    };
    if volume["spec"]["claimRef"]["uid"] != claim["metadata"]["uid"] {
        volume["spec"]["claimRef"] = reference(&claim);
        volume = actor.replace(&volumes, "", &volume).await?;
    }
    if volume["status"]["phase"] != "Bound" {
        volume["status"]["phase"] = "Bound".into();
        volume = actor.replace(&volumes, "status", &volume).await?;
    }
    if claim["metadata"]["annotations"][COMPLETED] != "yes" {
        claim["spec"]["volumeName"] = volume["metadata"]["name"].clone();
        object::map_at(&mut claim, &["metadata", "annotations"])
            .extend([COMPLETED, BY_CONTROLLER].map(|key| (key.to_owned(), Value::from("yes"))));
        claim = actor.replace(&kind, "", &claim).await?;
    }
    claim["status"] = json!({
        "phase": "Bound", "accessModes": volume["spec"]["accessModes"], "capacity": volume["spec"]["capacity"],
    });
    actor.replace(&kind, "status", &claim).await.map(drop)
}

/// Whether a volume is free and of the class, modes and size that a claim wants.
fn suits(volume: &Value, claim: &Value) -> bool {
    let class = |object: &Value| object::text(object, &["spec", "storageClassName"]).to_owned();
    let modes = claim["spec"]["accessModes"].as_array().into_iter().flatten();
    let has = |mode: &Value| volume["spec"]["accessModes"].as_array().is_some_and(|own| own.contains(mode));
    let free = volume["spec"]["claimRef"].is_null() || is_meant(&volume["spec"]["claimRef"], claim);
    free && !object::is_deleting(volume)
        && class(volume) == class(claim)
        && modes.into_iter().all(has)
        && is_large_enough(volume, claim)
}

fn is_large_enough(volume: &Value, claim: &Value) -> bool {
    let size = |object: &Value, path: &[&str]| Quantity::parse(object::text(object, path)).ok();
    let has = size(volume, &["spec", "capacity", "storage"]);
    let wants = size(claim, &["spec", "resources", "requests", "storage"]);
    has.zip(wants).is_none_or(|(has, wants)| has >= wants)
}

/// Whether a volume was made for the claim by name.
fn is_meant(reference: &Value, claim: &Value) -> bool {
    reference["uid"].is_null()
        && reference["name"] == claim["metadata"]["name"]
        && reference["namespace"] == claim["metadata"]["namespace"]
}

fn reference(claim: &Value) -> Value {
    let metadata = &claim["metadata"];
    json!({
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": metadata["namespace"],
        "name": metadata["name"], "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"],
    })
}

async fn provision(actor: &Actor, volumes: &Kind, claim: &Value) -> Result<Value, Refused> {
    let name = format!("pvc-{}", object::uid(claim));
    let spec = &claim["spec"];
    let mut volume = json!({
        "metadata": {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": "opgen.test/sandbox"}},
        "spec": {
            "capacity": {"storage": spec["resources"]["requests"]["storage"]}, "accessModes": spec["accessModes"],
            "persistentVolumeReclaimPolicy": "Delete", "claimRef": reference(claim),
            "hostPath": {"path": format!("/volumes/{name}")},
        },
    });
    for part in ["storageClassName", "volumeMode"] {
        if let Some(value) = object::at(spec, &[part]) {
            volume["spec"][part] = value.clone();
        }
    }
    match actor.create(volumes, &volume).await {
        Err(refused) if refused.is_there_already() => actor.get(volumes, "", &name).ok_or(refused),
        made => made,
    }
}

/// A volume whose claim is gone goes too, or says that it is released.
async fn reclaim(actor: &Actor, name: &str) -> Result<(), Refused> {
    let (kind, claims) = (actor.known(VOLUMES)?, actor.known(CLAIMS)?);
    let Some(mut volume) = actor.get(&kind, "", name) else { return Ok(()) };
    let wanted = volume["spec"]["claimRef"].clone();
    let uid = object::text(&wanted, &["uid"]);
    let phase = if uid.is_empty() {
        "Available"
    } else {
        let claim = actor.get(&claims, object::text(&wanted, &["namespace"]), object::text(&wanted, &["name"]));
        if claim.is_some_and(|claim| object::uid(&claim) == uid) { return Ok(()) } else { "Released" }
    };
    if volume["status"]["phase"] != phase {
        volume["status"]["phase"] = phase.into();
        volume = actor.replace(&kind, "status", &volume).await?;
    }
    let deletes = volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete";
    if phase == "Released" && deletes && !object::is_deleting(&volume) {
        let options = json!({"preconditions": {"uid": object::uid(&volume)}});
        actor.delete(&kind, ("", name), &options).await?;
    }
    Ok(())
}
