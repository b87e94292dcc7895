//! The resource node: a set of objects of one kind, made exactly the wanted one.
//!
//! # Flow
//! 1. Each wanted object is compared with what the cache remembers of it: the digest of what was applied, and whether the
//!    fields that were applied are still ours. Equal means no call at all.
//! 2. What differs is applied (server-side, by the operator's field manager, taking over fields). The first apply of a name
//!    is refused by the API server if an object of that name is there; then one look tells whose it is.
//! 3. What the node made and no longer wants is deleted, unless another node of the tree wants it: see [`claim`](crate::engine::claim).
//! 4. The node succeeds when all wanted objects are ready and all unwanted ones are really gone.

use crate::{
    cache::{Entry, Header, ObjectKey, Uid},
    client::{CallError, Target},
    engine::{
        child::{Child, Lost, header_of},
        desired::{APPLIED, Desired},
        memory::Built,
        output::OutputObject,
        ownership::foreign,
        pass::Core,
        repair::Damage,
        waits::Waits,
    },
    error::{Error, Result},
    informer::watch::{WatchState, Watched},
    kind::Kind,
    readiness::Readiness,
    shape::ResourceOptions,
};
use serde_json::Value;
use std::sync::Arc;

impl Core<'_> {
    /// Makes the objects of a node exactly the wanted ones.
    pub(crate) async fn converge(
        &self,
        node: &Arc<str>,
        kind: &Kind,
        options: ResourceOptions,
        inputs: Option<u64>,
        wanted: Vec<Value>,
    ) -> Result<()> {
        if let Some(rehearsal) = &self.shared.rehearsal {
            return rehearsal.converge(node, &wanted);
        }
        let wanted = self.claim_all(node, wanted.into_iter().map(|object| (kind.clone(), object)).collect())?;
        if self.is_plan {
            return Ok(());
        }
        let children = self.shared.children(kind)?;
        // An API that is gone has taken its objects along.
        if (options.if_api || options.retired) && children.health.state() == WatchState::Missing {
            return Ok(());
        }
        children.readable()?;
        let mut waits = Waits::new(node);
        let mut built = Vec::with_capacity(wanted.len());
        for (_, desired) in wanted {
            let key = desired.key();
            let readiness = match self.ensure(children, options, &key, &desired).await {
                Err(error) if options.if_api && is_api_going(&error) => {
                    self.look_again();
                    return Ok(());
                }
                Ok(readiness) if options.pods => self.look_behind(kind, &desired, readiness).await?,
                outcome => outcome?,
            };
            waits.add(kind, &key, &readiness);
            built.push(Built { key, digest: desired.digest.into() });
        }
        let mut unwanted = self.of_node(children, node);
        unwanted.retain(|entry| !built.iter().any(|built| built.key == entry.header.key));
        for entry in self.unclaimed(kind, node, unwanted).await {
            self.delete_child(kind, &entry).await?;
        }
        self.still_there(children, kind, node, &mut waits).await?;
        self.memory().built(&self.owner, kind, node, inputs, built);
        waits.over()
    }

    /// Applies one object unless it is as wanted; says whether it is ready.
    pub(crate) async fn ensure(
        &self,
        children: &Watched<Child>,
        options: ResourceOptions,
        key: &ObjectKey,
        desired: &Desired,
    ) -> Result<Readiness> {
        let kind = &children.kind;
        match children.store.get(key) {
            Some(entry) if self.is_of_former_owner(&entry.header) => {
                Ok(Readiness::HeldUp("it belongs to an earlier object of this name, and is being collected".into()))
            }
            Some(entry) if entry.header.deleting => Ok(Readiness::HeldUp("the one before it is being deleted".into())),
            Some(entry) if !self.is_ours(&entry) => self.adopt(children, options, &entry.header, desired).await,
            Some(entry) if entry.value.applied.is_empty() => {
                let readiness = self.take_over(children, options, &entry.header.uid, desired).await?;
                self.note_marks(kind, key);
                Ok(readiness)
            }
            // Made once: whatever it has become since then is as wanted, under the mark of the node that wants it now.
            Some(entry) if options.once && self.is_owner_of(&entry.header) => {
                if *entry.value.node == *desired.node {
                    return Ok(entry.value.readiness.clone());
                }
                self.mark_child(children, desired, &entry.header.uid).await
            }
            Some(entry) if options.once => {
                let readiness = self.mark_child(children, desired, &entry.header.uid).await?;
                self.note_marks(kind, key);
                Ok(readiness)
            }
            Some(entry) => match self.difference(kind, &entry, desired) {
                None => Ok(entry.value.readiness.clone()),
                Some((why, damage)) => {
                    tracing::debug!(kind = %kind, object = %key, %why, "applying");
                    let readiness = self.apply_child(children, desired, Expected::Is(&entry.header.uid)).await?;
                    self.note_repair(kind, key, damage);
                    Ok(readiness)
                }
            },
            None => match self.apply_child(children, desired, Expected::Absent).await {
                // There is an object of that name, which the cache does not show.
                Err(Error::Conflict(_)) => self.ensure_unseen(children, options, key, desired).await,
                created => {
                    let readiness = created?;
                    self.note_creation(kind, key);
                    Ok(readiness)
                }
            },
        }
    }

    /// As [`Core::ensure`], for an object that may be there although the cache does not show it.
    async fn ensure_unseen(
        &self,
        children: &Watched<Child>,
        options: ResourceOptions,
        key: &ObjectKey,
        desired: &Desired,
    ) -> Result<Readiness> {
        let kind = &children.kind;
        match self.is_free(kind, key).await? {
            Free::Yes => {
                let readiness = self.apply_child(children, desired, Expected::AbsentWhenLookedFor).await?;
                self.note_creation(kind, key);
                Ok(readiness)
            }
            Free::Ours(header) if header.annotations.get(APPLIED).is_none() => {
                let readiness = self.take_over(children, options, &header.uid, desired).await?;
                self.note_marks(kind, key);
                Ok(readiness)
            }
            // Made by an earlier pass, and not in the cache yet.
            Free::Ours(header) if options.once && self.is_labelled(&header) => {
                Ok(Readiness::NotReady("it has just been made".into()))
            }
            Free::Ours(header) if options.once => {
                let readiness = self.mark_child(children, desired, &header.uid).await?;
                self.note_marks(kind, key);
                Ok(readiness)
            }
            Free::Ours(header) => {
                let readiness = self.apply_child(children, desired, Expected::Is(&header.uid)).await?;
                self.note_marks(kind, key);
                Ok(readiness)
            }
            Free::Ending => Ok(Readiness::HeldUp("an object of its name is being deleted".into())),
            Free::Foreign(header) => self.adopt(children, options, &header, desired).await,
        }
    }

    /// Why an object has to be applied again, if it has to, and what is repaired by that.
    fn difference(
        &self,
        kind: &Kind,
        entry: &Arc<Entry<Child>>,
        desired: &Desired,
    ) -> Option<(String, Option<Damage>)> {
        if *entry.value.applied != *desired.digest {
            return Some(("the wanted state changed".to_owned(), self.is_for_children().then_some(Damage::Rebuilt)));
        }
        let Lost { path, manager } = entry.value.lost(desired)?;
        // Some servers change the ownership of an apply on its way in; what our own apply left is no drift.
        if self.memory().is_settled(&self.owner, kind, &entry.header, entry.value.fields) {
            return None;
        }
        Some((format!("another client changed {path}"), Some(Damage::Field { path, manager })))
    }

    pub(crate) fn note_repair(&self, kind: &Kind, key: &ObjectKey, damage: Option<Damage>) {
        if let Some(damage) = damage {
            self.memory().repaired(&self.owner, kind, key, damage);
        }
    }

    fn note_creation(&self, kind: &Kind, key: &ObjectKey) {
        let is_again = self.memory().is_written_again(&self.owner, kind, key);
        self.note_repair(kind, key, is_again.then_some(Damage::Deleted));
    }

    fn note_marks(&self, kind: &Kind, key: &ObjectKey) {
        self.note_repair(kind, key, Some(Damage::Marks));
    }

    /// Applies one object.
    pub(crate) async fn apply_child(
        &self,
        children: &Watched<Child>,
        desired: &Desired,
        expected: Expected<'_>,
    ) -> Result<Readiness> {
        let apply = || self.apply_as(children, desired, &self.shared.operator, desired.object.clone(), expected);
        match apply().await {
            Err(error)
                if matches!(expected, Expected::Is(_)) && self.take_duplicates(children, desired, &error).await? =>
            {
                apply().await
            }
            outcome => outcome,
        }
    }

    /// Makes an object findable again and leaves its content alone. By a manager of its own: what the operator's holds and
    /// doesn't apply again would be removed.
    pub(crate) async fn mark_child(
        &self,
        children: &Watched<Child>,
        desired: &Desired,
        uid: &Uid,
    ) -> Result<Readiness> {
        let manager = format!("{}/marks", self.shared.operator);
        self.apply_as(children, desired, &manager, desired.marks(&self.owner.uid), Expected::Is(uid)).await
    }

    async fn apply_as(
        &self,
        children: &Watched<Child>,
        desired: &Desired,
        manager: &str,
        mut object: Value,
        expected: Expected<'_>,
    ) -> Result<Readiness> {
        let kind = &children.kind;
        let target = Target { kind, namespace: desired.namespace.as_deref(), name: &desired.name };
        match expected {
            Expected::Absent => object["metadata"]["resourceVersion"] = NO_VERSION.into(),
            Expected::AbsentWhenLookedFor => {}
            Expected::Is(uid) => object["metadata"]["uid"] = uid.to_string().into(),
        }
        let applied = self.shared.client.apply(target, &object, manager).await?;
        let bytes = serde_json::to_vec(&applied.object)?;
        let header = header_of(&bytes)?;
        self.wrote(children, &header);
        if !matches!(expected, Expected::Is(_)) && !applied.created {
            // The server did not mind the version, or somebody made it between the look and the apply: from now on it is shared,
            // which nobody asked for.
            return Err(foreign(kind, &header.key, &header, false));
        }
        let child = Child::project(kind, &self.shared.operator, &header, &bytes, children.whole)?;
        if let Some(json) = &child.object {
            let (uid, version) = (header.uid.to_string(), header.resource_version.to_string());
            self.made.write(&desired.node, OutputObject { key: header.key.clone(), uid, version, json: json.clone() });
        }
        if child.lost(desired).is_some() {
            self.memory().settle(&self.owner, kind, &header, child.fields);
        }
        if applied.created {
            self.shared.recorder.normal(
                &self.owner.regarding(),
                "Created",
                "Apply",
                &format!("created {kind} {}", header.key),
            );
        }
        Ok(child.readiness)
    }

    async fn is_free(&self, kind: &Kind, key: &ObjectKey) -> Result<Free> {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let Some(found) = self.shared.client.get_metadata(target).await? else { return Ok(Free::Yes) };
        let header = header_of(&serde_json::to_vec(&found)?)?;
        match self.is_owner_of(&header) {
            _ if header.deleting => Ok(Free::Ending),
            true => Ok(Free::Ours(header)),
            false => Ok(Free::Foreign(header)),
        }
    }
}

fn is_api_going(error: &Error) -> bool {
    match error {
        Error::Unexpected(source) => source.downcast_ref::<CallError>().is_some_and(CallError::is_api_going),
        _ => false,
    }
}

/// What an apply finds.
#[derive(Clone, Copy)]
pub(crate) enum Expected<'a> {
    /// No object: the API server refuses the apply with a conflict if there is one.
    Absent,
    /// No object, by an earlier call.
    AbsentWhenLookedFor,
    /// The object with this uid, and no other that may have taken its name.
    Is(&'a Uid),
}

/// A version that no object has: the first write of a cluster gets a later one. An apply that names a version is refused where an
/// object has another one, and creates the object where there is none.
const NO_VERSION: &str = "1";

enum Free {
    Yes,
    Ours(Header),
    Foreign(Header),
    Ending,
}
