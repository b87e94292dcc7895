//! The garbage collector: what has no owner left goes, and a deletion in the foreground waits for the dependents.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Actor, Controller, Next, Outcome, Refused, Seen, Watches};
use crate::{
    kind::Kind,
    object::{self, Owner},
    store::Stored,
    verb::{FOREGROUND, ORPHAN},
};
use family::{Family, Member};

mod family;

/// Follows owner references.
#[derive(Debug, Default)]
pub(super) struct Collector {
    family: Family,
}

/// What has become of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Lives,
    /// It is being deleted, after its dependents.
    Waits,
    Absent,
    /// It can't be looked for: its kind isn't known, or it would be in a namespace while the dependent is in none.
    Unknown,
}

impl Controller for Collector {
    type Key = Member;

    fn watches(&self) -> Watches {
        Watches::Lives
    }

    fn forget(&mut self) {
        self.family = Family::default();
    }

    fn told(&mut self, _: &Actor, shelf: &str, seen: &Seen) -> Vec<Member> {
        let member = Member::new(shelf, &seen.object);
        self.family.learn(&member, seen)
    }

    async fn reconcile(&mut self, actor: &Actor, member: &Member) -> Outcome {
        let Some(kind) = actor.kind(&member.shelf) else { return Ok(Next::Rest) };
        let Some(held) = actor.server.store.get(&member.shelf, &member.namespace, &member.name) else {
            return Ok(Next::Rest);
        };
        let item = Item { actor, kind, held, member };
        let done = if item.held.deleting { self.deleted(&item).await } else { self.owned(&item).await };
        match done {
            // Somebody else was there first; what they did is told.
            Err(refused) if refused.is_gone() => Ok(Next::Rest),
            done => done,
        }
    }
}

/// An object that is looked at.
struct Item<'a> {
    actor: &'a Actor,
    kind: Arc<Kind>,
    held: Arc<Stored>,
    member: &'a Member,
}

impl Item<'_> {
    fn object(&self) -> Value {
        self.held.object(&self.kind)
    }

    /// Changes its metadata, if it is still as it was seen.
    async fn change_metadata(&self, mut metadata: Value) -> Result<Value, Refused> {
        metadata["uid"] = (*self.held.uid).into();
        metadata["resourceVersion"] = self.held.version.to_string().into();
        let at = (self.member.namespace.as_str(), self.member.name.as_str());
        self.actor.merge(&self.kind, at, "", &json!({"metadata": metadata})).await
    }

    async fn delete(&self, propagation: &str) -> Result<Value, Refused> {
        let at = (self.member.namespace.as_str(), self.member.name.as_str());
        let preconditions = json!({"uid": *self.held.uid, "resourceVersion": self.held.version.to_string()});
        let options = json!({
            "kind": "DeleteOptions", "apiVersion": "v1",
            "preconditions": preconditions, "propagationPolicy": propagation,
        });
        self.actor.delete(&self.kind, at, &options).await
    }

    async fn without_finalizer(&self, finalizer: &str) -> Result<(), Refused> {
        self.actor.release(&self.kind, &self.object(), finalizer).await
    }

    /// Takes references to owners away.
    async fn without_owners(&self, uids: &[&str]) -> Result<Value, Refused> {
        let mut object = self.object();
        let owners = object["metadata"]["ownerReferences"].take();
        let kept = owners.as_array().into_iter().flatten().filter(|owner| {
            let uid = owner["uid"].as_str().unwrap_or_default();
            !uids.contains(&uid)
        });
        let kept: Vec<_> = kept.cloned().collect();
        let kept = if kept.is_empty() { Value::Null } else { kept.into() };
        self.change_metadata(json!({"ownerReferences": kept})).await
    }
}

impl Collector {
    /// An object that is being deleted may wait for what becomes of its dependents.
    async fn deleted(&mut self, item: &Item<'_>) -> Outcome {
        let object = item.object();
        let finalizers = object::finalizers(&object);
        if finalizers.contains(&FOREGROUND) {
            let blocks = |dependent: &Item<'_>| {
                let dependent = dependent.object();
                object::owners(&dependent).iter().any(|owner| owner.uid == *item.held.uid && owner.blocks_deletion)
            };
            if self.dependents(item).iter().any(blocks) {
                return Ok(Next::Rest);
            }
            item.without_finalizer(FOREGROUND).await?;
        } else if finalizers.contains(&ORPHAN) {
            for dependent in self.dependents(item) {
                match dependent.without_owners(&[&item.held.uid]).await {
                    Err(refused) if !refused.is_gone() => return Err(refused),
                    _ => {}
                }
            }
            item.without_finalizer(ORPHAN).await?;
        }
        Ok(Next::Rest)
    }

    /// An object goes when none of its owners is left.
    async fn owned(&mut self, item: &Item<'_>) -> Outcome {
        let object = item.object();
        let owners = object::owners(&object);
        if owners.is_empty() {
            return Ok(Next::Rest);
        }
        let fates: Vec<(&Owner, Fate)> = owners.iter().map(|owner| (owner, fate(item, owner))).collect();
        let any = |wanted: Fate| fates.iter().any(|(_, fate)| *fate == wanted);
        if any(Fate::Unknown) {
            return match fates.iter().find(|(owner, fate)| *fate == Fate::Unknown && !is_known(item, owner)) {
                // A kind may come to be known.
                Some((owner, _)) => Err(unknown(owner)),
                None => Ok(Next::Rest),
            };
        }
        if any(Fate::Lives) {
            let useless: Vec<&str> =
                fates.iter().filter(|(_, fate)| *fate != Fate::Lives).map(|(owner, _)| owner.uid.as_str()).collect();
            if !useless.is_empty() {
                item.without_owners(&useless).await?;
            }
            return Ok(Next::Rest);
        }
        let propagation = if any(Fate::Waits) && !self.dependents(item).is_empty() {
            self.unblock_circle(item).await?;
            "Foreground"
        } else if object::finalizers(&object).contains(&ORPHAN) {
            "Orphan"
        } else if object::finalizers(&object).contains(&FOREGROUND) {
            "Foreground"
        } else {
            "Background"
        };
        item.delete(propagation).await?;
        Ok(Next::Rest)
    }

    /// Dependents that wait for their own dependents may be owners further up: the item must not wait for these.
    async fn unblock_circle(&self, item: &Item<'_>) -> Result<(), Refused> {
        let waits = |dependent: &Item<'_>| {
            dependent.held.deleting && object::finalizers(&dependent.object()).contains(&FOREGROUND)
        };
        if !self.dependents(item).iter().any(waits) {
            return Ok(());
        }
        let mut object = item.object();
        let mut owners = object["metadata"]["ownerReferences"].take();
        for owner in owners.as_array_mut().into_iter().flatten() {
            owner["blockOwnerDeletion"] = false.into();
        }
        item.change_metadata(json!({"ownerReferences": owners})).await.map(drop)
    }

    fn dependents<'a>(&'a self, item: &Item<'a>) -> Vec<Item<'a>> {
        let members = self.family.dependents(&item.held.uid);
        let dependent = |member: &'a Member| {
            let held = item.actor.server.store.get(&member.shelf, &member.namespace, &member.name)?;
            let is_still = held.owners.contains(&item.held.uid);
            is_still.then_some(Item { actor: item.actor, kind: item.actor.kind(&member.shelf)?, held, member })
        };
        members.filter_map(dependent).collect()
    }
}

fn is_known(item: &Item<'_>, owner: &Owner) -> bool {
    item.actor.server.kinds.of_kind(&owner.api_version, &owner.kind).is_some()
}

fn unknown(owner: &Owner) -> Refused {
    let message = format!("no matches for kind {:?} in version {:?}", owner.kind, owner.api_version);
    Refused { code: 0, message, status: Value::Null }
}

/// Looks where the reference points; an owner of the same name but another uid is not the one.
fn fate(item: &Item<'_>, owner: &Owner) -> Fate {
    let server = &item.actor.server;
    let Some(kind) = server.kinds.of_kind(&owner.api_version, &owner.kind) else { return Fate::Unknown };
    let namespace = if kind.namespaced { item.member.namespace.as_str() } else { "" };
    if kind.namespaced && namespace.is_empty() {
        return Fate::Unknown;
    }
    match server.store.get(&kind.shelf, namespace, &owner.name) {
        Some(held) if *held.uid != *owner.uid => Fate::Absent,
        None => Fate::Absent,
        Some(held) if held.deleting && object::finalizers(&held.object(&kind)).contains(&FOREGROUND) => Fate::Waits,
        Some(_) => Fate::Lives,
    }
}
