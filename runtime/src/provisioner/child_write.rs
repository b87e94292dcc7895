//! Writes one child: creates it, applies it, or applies its owner marks alone.
//!
//! # Why only an object that is made once is created by POST
//! A POST costs the API server a fifth less CPU than an apply that creates, and it fails where the name is taken, so it needs no
//! look before it. But the server records the fields of a POST as an `Update` of the field manager, which has two effects that
//! last until another write of `managedFields`:
//! - A later apply removes no field of the `Update`: what the node gives up would stay.
//! - The fields that the server defaults are among them: another client that applies such a field, of which the node says
//!   nothing, gets a conflict.
//!
//! The object of a `once` node is never applied again, so neither matters. Where a later release drops the `once`, the fields are
//! first handed over to the operator's `Apply`: one write more, once. For every other node that write would come with the first
//! change, so its objects are created by apply.

use crate::{
    cache::{Header, ObjectKey, Uid},
    client::Target,
    error::Result,
    pass::Core,
    provisioner::{
        child::{Child, header_of},
        desired::{APPLIED, Desired, MANAGED_BY, NODE},
        made::Written,
        ownership::foreign,
    },
    readiness::Readiness,
    watch::Watched,
};
use serde_json::Value;

impl Core<'_> {
    /// Creates the object of a node that is made once. `None` if there is an object of its name.
    pub(super) async fn create_child(
        &self,
        children: &Watched<Child>,
        key: &ObjectKey,
        desired: &Desired,
    ) -> Result<Option<Readiness>> {
        let kind = &children.kind;
        let target = Target { kind, namespace: desired.namespace.as_deref(), name: &desired.name };
        let created = match self.shared.client.create_strictly(target, &desired.object, &self.shared.operator).await {
            Ok(created) => created,
            Err(error) if error.is_already_there() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let bytes = serde_json::to_vec(&created)?;
        let header = header_of(&bytes)?;
        self.wrote(children, &header);
        self.note_creation(kind, key);
        self.record_creation(children, &header, "Create");
        Ok(Some(self.take_in(children, desired, &header, &bytes)?.readiness))
    }

    /// Applies one object: a new one, or the one with this uid and no other that may have taken its name.
    pub(super) async fn apply_child(
        &self,
        children: &Watched<Child>,
        desired: &Desired,
        uid: Option<&Uid>,
    ) -> Result<Readiness> {
        self.apply_as(children, desired, &self.shared.operator, desired.object.clone(), uid).await
    }

    /// Makes an object findable again and leaves its content alone. By a manager of its own: what the operator's holds and
    /// doesn't apply again would be removed.
    pub(super) async fn mark_child(
        &self,
        children: &Watched<Child>,
        desired: &Desired,
        uid: &Uid,
    ) -> Result<Readiness> {
        let manager = format!("{}/marks", self.shared.operator);
        self.apply_as(children, desired, &manager, desired.marks(&self.owner.uid), Some(uid)).await
    }

    async fn apply_as(
        &self,
        children: &Watched<Child>,
        desired: &Desired,
        manager: &str,
        mut object: Value,
        uid: Option<&Uid>,
    ) -> Result<Readiness> {
        let kind = &children.kind;
        let target = Target { kind, namespace: desired.namespace.as_deref(), name: &desired.name };
        if let Some(uid) = uid {
            object["metadata"]["uid"] = uid.to_string().into();
        }
        let applied = self.shared.client.apply(target, &object, manager).await?;
        let bytes = serde_json::to_vec(&applied.object)?;
        let header = header_of(&bytes)?;
        self.wrote(children, &header);
        if uid.is_none() && !applied.created {
            // Made by somebody else between the look and the apply: from now on it is shared, which nobody asked for.
            return Err(foreign(kind, &header.key, &header, false));
        }
        let child = self.take_in(children, desired, &header, &bytes)?;
        if child.lost(desired).is_some() {
            self.memory().settle(&self.owner, kind, &header, child.fields);
        }
        if applied.created {
            self.record_creation(children, &header, "Apply");
        }
        Ok(child.readiness)
    }

    /// The state that the server answered a write with; the nodes behind this one read the object from here.
    fn take_in(&self, children: &Watched<Child>, desired: &Desired, header: &Header, json: &[u8]) -> Result<Child> {
        let child = Child::project(&children.kind, &self.shared.operator, header, json, children.whole)?;
        if let Some(json) = &child.object {
            let (uid, version) = (header.uid.to_string(), header.resource_version.to_string());
            self.made.write(&desired.node, Written { key: header.key.clone(), uid, version, json: json.clone() });
        }
        Ok(child)
    }

    fn record_creation(&self, children: &Watched<Child>, header: &Header, action: &'static str) {
        let note = format!("created {} {}", children.kind, header.key);
        self.shared.recorder.normal(&self.owner.regarding(), "Created", action, &note);
    }
}

/// Whether the fields of an `Update` by the operator's manager (`fieldsV1`) are those of a creation: with the marks of a child.
pub(super) fn is_of_creation(fields: &str) -> bool {
    [MANAGED_BY, NODE, APPLIED].iter().any(|mark| fields.contains(&format!("\"f:{mark}\"")))
}
