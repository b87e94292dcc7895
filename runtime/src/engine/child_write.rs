//! Creates or changes one child object by server-side apply, POST or merge patch, and records the response.
//!
//! # Methods
//! - By server-side apply, by the operator's field manager and with force: the method for all kinds.
//! - [Plain](crate::engine::plain) objects are created by a POST and changed by merge patches. The operator owns their fields as
//!   after any write, and sees drift by ownership as after an apply. An object that is not plain any more is applied; before
//!   that, its fields become those of an apply.
//! - If only the marks of the operator are missing, they are applied by a field manager of their own.

use crate::{
    cache::{Entry, Uid},
    client::{Applied, Target},
    engine::{
        applied_mark::AppliedMark,
        child::{Child, LostField, child_header},
        desired::Desired,
        managed_fields::{take_all_fields, transfer_patch},
        output::OutputObject,
        ownership::not_owned_error,
        pass::PassCore,
        plain::add_nulls,
    },
    error::{Error, Result},
    informer::watch::WatchedKind,
    readiness::Readiness,
    spans::{bridge::current_context, convergence::WriteCause},
};
use kube::api::Patch;
use serde_json::{Value, value::RawValue};

impl PassCore<'_> {
    /// Changes an existing child to its desired state, by a merge patch if it is plain (a ConfigMap or Secret without lists that other
    /// clients may share) and was before, else by server-side apply. Returns its readiness.
    pub(crate) async fn update_child(
        &self,
        children: &WatchedKind<Child>,
        desired: &Desired,
        entry: &Entry<Child>,
    ) -> Result<Readiness> {
        let precondition = ApplyPrecondition::Uid(&entry.header.uid);
        if entry.value.is_plain && desired.is_plain() {
            let patch = self.merge_patch(desired, entry).await?;
            let written = self.write_child(children, desired, WriteMethod::Merge(&patch), precondition).await?;
            if written.owns_all_fields {
                return Ok(written.readiness);
            }
            // By a merge patch, a manager does not become the owner of fields whose values stay the same; by an apply it does.
        }
        if entry.value.is_plain {
            // An apply removes only fields of earlier applies, so the fields of the merge patches become such fields first.
            self.apply_own_fields(desired).await?;
        }
        self.apply_child(children, desired, precondition).await
    }

    /// Applies one object by server-side apply, and returns its readiness. A plain object (a ConfigMap or Secret without lists that other
    /// clients may share) that does not exist is created by a POST instead, which costs less. If list items of another client prevent the
    /// apply of an existing object, takes over these items, which the next apply then removes, and applies the object again.
    pub(crate) async fn apply_child(
        &self,
        children: &WatchedKind<Child>,
        desired: &Desired,
        precondition: ApplyPrecondition<'_>,
    ) -> Result<Readiness> {
        if !matches!(precondition, ApplyPrecondition::Uid(_)) && desired.is_plain() {
            return Ok(self.write_child(children, desired, WriteMethod::Create, precondition).await?.readiness);
        }
        let apply = || {
            self.write_child(
                children,
                desired,
                WriteMethod::Apply { manager: &self.shared.operator, object: &desired.object },
                precondition,
            )
        };
        let written = match apply().await {
            Err(error)
                if matches!(precondition, ApplyPrecondition::Uid(_))
                    && self.take_duplicates(children, desired, &error).await? =>
            {
                apply().await
            }
            outcome => outcome,
        };
        Ok(written?.readiness)
    }

    /// Applies only the marks of the operator (label, annotations, owner reference), so that the watch shows the object and the
    /// content stays as it is. The field manager is a separate one: the API server removes the fields that a manager owns and
    /// does not apply again.
    pub(crate) async fn mark_child(
        &self,
        children: &WatchedKind<Child>,
        desired: &Desired,
        uid: &Uid,
    ) -> Result<Readiness> {
        let (manager, marks) = (format!("{}/marks", self.shared.operator), desired.marks(&self.owner.uid));
        let written = self
            .write_child(
                children,
                desired,
                WriteMethod::Apply { manager: &manager, object: &marks },
                ApplyPrecondition::Uid(uid),
            )
            .await?;
        Ok(written.readiness)
    }

    /// Writes the desired state of a child, and records the response: the version as an own write, the object as an output of the node,
    /// the set of owned fields if it lacks written fields, and an event if the object was created.
    ///
    /// # Errors
    /// `NotOwned` if the precondition is that no such object exists, and one does.
    async fn write_child(
        &self,
        children: &WatchedKind<Child>,
        desired: &Desired,
        method: WriteMethod<'_>,
        precondition: ApplyPrecondition<'_>,
    ) -> Result<WrittenChild> {
        let (kind, target) = (&desired.kind, desired.target());
        // Recorded before the request, since the watch event may come before the response.
        self.shared.chains.record_write(kind, &desired.key(), &desired.digest, self.trigger.chain);
        self.shared.chains.traces.record(kind, &desired.key(), &desired.digest, || {
            Some(WriteCause { context: current_context()?, started: self.trigger.trace_start? })
        });
        let client = &self.shared.client;
        let mut object = match method {
            WriteMethod::Apply { object, .. } => object.clone(),
            WriteMethod::Create => desired.object.clone(),
            WriteMethod::Merge(patch) => patch.clone(),
        };
        if let ApplyPrecondition::Uid(uid) = precondition {
            object["metadata"]["uid"] = uid.to_string().into();
        }
        let applied = match method {
            WriteMethod::Create => self.create_plain(target, &object).await?,
            WriteMethod::Merge(_) => {
                let patch = Patch::Merge(&object);
                Applied { object: client.patch_as(target, &patch, &self.shared.operator).await?, created: false }
            }
            WriteMethod::Apply { manager, .. } => {
                if matches!(precondition, ApplyPrecondition::Absent) {
                    object["metadata"]["resourceVersion"] = VERSION_OF_NO_OBJECT.into();
                }
                client.apply::<Box<RawValue>>(target, &object, manager).await?
            }
        };
        let bytes = applied.object.get().as_bytes();
        let header = child_header(bytes)?;
        self.record_child_write(children, &header);
        if !matches!(precondition, ApplyPrecondition::Uid(_)) && !applied.created {
            // The server ignored the resourceVersion, or another client created the object between the live read and the apply:
            // now both clients own it, although the node did not adopt it.
            return Err(not_owned_error(kind, &header.key, &header, false));
        }
        let child = Child::project(kind, &self.shared.operator, &header, bytes, children.keeps_objects)?;
        if let Some(json) = &child.object {
            let (uid, version) = (header.uid.to_string(), header.resource_version.to_string());
            let output = OutputObject { key: header.key.clone(), uid, version, json: json.clone() };
            self.outputs.add_object(&desired.node, output);
        }
        let owns_all_fields = child.first_lost_field(desired).is_none();
        if !owns_all_fields {
            self.owner_states().record_accepted_fields(&self.owner, kind, &header, child.fields);
        }
        if applied.created {
            let regarding = self.regarding_child(kind, &header.key, &header.uid);
            let note = format!("created {kind} {}", header.key);
            self.shared.recorder.normal(&regarding, "Created", "Apply", &note);
        }
        Ok(WrittenChild { readiness: child.readiness, owns_all_fields })
    }

    /// Creates an object by a POST.
    ///
    /// # Errors
    /// A conflict if an object of this name exists.
    async fn create_plain(&self, target: Target<'_>, object: &Value) -> Result<Applied<Box<RawValue>>> {
        match self.shared.client.create(target, object, &self.shared.operator).await {
            Ok(object) => Ok(Applied { object, created: true }),
            Err(error) if error.is_name_taken() => Err(Error::Conflict(Box::new(error))),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the merge patch that changes a plain child (a ConfigMap or Secret that is written without apply) to its desired state. If
    /// the child may have unwanted fields, or its owner reference is lost or has another version, this reads the object: the patch then has
    /// a null for each unwanted field that only the operator owns, the repaired list of references, and the resourceVersion as a
    /// precondition.
    async fn merge_patch(&self, desired: &Desired, entry: &Entry<Child>) -> Result<Value> {
        let mut patch = desired.object.as_object().cloned().unwrap_or_default();
        // `first_lost_field` reports a lost owner reference before all other fields.
        let is_reference = |lost: LostField| lost.path.starts_with("metadata.ownerReferences");
        let lost_reference = entry.value.first_lost_field(desired).is_some_and(is_reference)
            || self.has_other_owner_version(&entry.header);
        let has_same_fields =
            AppliedMark::paths_hash(entry.applied_digest()) == AppliedMark::paths_hash(&desired.digest);
        let live = if has_same_fields && !lost_reference {
            None
        } else {
            self.shared.client.get::<Value>(desired.target()).await?
        };
        if let Some(live) = &live {
            let (own, others) = field_sets(live, &self.shared.operator);
            own.iter().for_each(|own| add_nulls(&mut patch, own, &others));
        }
        let mut patch = Value::Object(patch);
        if let Some(metadata) = patch["metadata"].as_object_mut() {
            // A merge patch replaces the whole list, which may have references of other clients: they have to be in the patch, too.
            let own = metadata.remove("ownerReferences");
            if let Some(live) = live {
                metadata.insert("resourceVersion".into(), live["metadata"]["resourceVersion"].clone());
                if lost_reference {
                    let is_other = |reference: &&Value| reference["uid"] != self.owner.uid.to_string().as_str();
                    let references = |list: &Value| list.as_array().cloned().unwrap_or_default();
                    let all = references(&live["metadata"]["ownerReferences"]);
                    let others = all.iter().filter(is_other).cloned();
                    let references = others.chain(own.iter().flat_map(references)).collect();
                    metadata.insert("ownerReferences".into(), references);
                }
            }
        }
        Ok(patch)
    }

    /// Moves the fields that the operator has written without apply to its `Apply` entry in `managedFields` of the live object, so that its
    /// next apply removes the unwanted ones. Does nothing if the object does not exist, or if the operator has no such fields.
    pub(crate) async fn apply_own_fields(&self, desired: &Desired) -> Result<()> {
        let target = desired.target();
        let (client, operator) = (&self.shared.client, self.shared.operator.as_str());
        let Some(found) = client.get::<Value>(target).await? else { return Ok(()) };
        let Some(patch) = transfer_patch(&found, operator, |entry| take_all_fields(entry, &[operator])) else {
            return Ok(());
        };
        client.patch(target, &Patch::<()>::Json(serde_json::from_value(patch)?), operator).await?;
        Ok(())
    }
}

/// Returns the sets of fields (`fieldsV1`) in `managedFields` of an object, in two lists: the sets of the operator's writes without apply,
/// and all others, including the set of the operator's applies. Entries of subresources are left out.
fn field_sets<'a>(object: &'a Value, operator: &str) -> (Vec<&'a Value>, Vec<&'a Value>) {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let (own, others): (Vec<&Value>, Vec<&Value>) = entries
        .filter(|entry| entry["subresource"].as_str().unwrap_or_default().is_empty())
        .partition(|entry| entry["manager"] == operator && entry["operation"] == "Update");
    let fields = |entries: Vec<&'a Value>| entries.into_iter().map(|entry| &entry["fieldsV1"]).collect();
    (fields(own), fields(others))
}

/// A child as the response to its write shows it.
struct WrittenChild {
    readiness: Readiness,
    /// Whether the operator owns all fields that it wrote.
    owns_all_fields: bool,
}

/// The request that writes a child.
#[derive(Clone, Copy)]
enum WriteMethod<'a> {
    /// A POST of the desired object.
    Create,
    /// A merge patch.
    Merge(&'a Value),
    /// An apply of an object by a field manager.
    Apply { manager: &'a str, object: &'a Value },
}

/// The condition under which the API server accepts an apply.
#[derive(Clone, Copy)]
pub(crate) enum ApplyPrecondition<'a> {
    /// No object of this name exists; otherwise the API server answers with a conflict.
    Absent,
    /// A live read has found no object of this name; the API server checks nothing.
    ConfirmedAbsent,
    /// The object has this uid, and is no later object of the same name.
    Uid(&'a Uid),
}

/// A resourceVersion that no object has: the first write of a cluster gets a later one. An apply with a resourceVersion fails
/// with a conflict if the object has another one, and creates the object if it does not exist.
const VERSION_OF_NO_OBJECT: &str = "1";
