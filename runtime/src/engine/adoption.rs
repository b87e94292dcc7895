//! Makes existing objects of other clients children of the owner, and takes over the fields of their field managers.
//!
//! A node with the option `adopt` makes an object without a controller its child. The node may name field managers
//! (`adopt_from`): the operator then becomes the manager of their fields, so that its next apply removes the unwanted ones. The
//! fields of all other managers stay theirs; the operator takes only those that it applies.

use crate::{
    cache::{Header, ObjectKey, Uid},
    engine::{
        child::Child,
        child_write::ApplyPrecondition,
        desired::Desired,
        managed_fields::{take_all_fields, transfer_patch},
        ownership::not_owned_error,
        pass::PassCore,
    },
    error::{Error, Result},
    informer::watch::WatchedKind,
    readiness::Readiness,
    shape::ResourceOptions,
};
use kube::api::Patch;
use serde_json::Value;

impl PassCore<'_> {
    /// Adopts an object that another client created: makes it a child of the owner, applies the desired state, and returns its readiness.
    /// Does so only if the tree node has the option `adopt` and the object has no controller reference.
    ///
    /// # Errors
    /// `NotOwned` if the node lacks the option, or if the object has a controller.
    pub(crate) async fn adopt(
        &self,
        children: &WatchedKind<Child>,
        options: ResourceOptions,
        header: &Header,
        desired: &Desired,
    ) -> Result<Readiness> {
        let kind = &children.kind;
        if !options.adopt || header.controller().is_some() {
            return Err(not_owned_error(kind, &header.key, header, options.adopt));
        }
        self.take_over(children, options, &header.uid, desired).await
    }

    /// Applies an object that exists and that this operator has not applied for this owner: an adopted object, or a child of the owner
    /// from an earlier operator. First takes over the fields of the field managers in `adopt_from`. If the node creates its objects only
    /// once (`once`), applies only the marks of the operator: label, annotations and owner reference. Records the event `Adopted`.
    pub(crate) async fn take_over(
        &self,
        children: &WatchedKind<Child>,
        options: ResourceOptions,
        uid: &Uid,
        desired: &Desired,
    ) -> Result<Readiness> {
        let readiness = if options.once {
            self.mark_child(children, desired, uid).await?
        } else {
            if !options.adopt_from.is_empty() {
                self.take_over_fields(options, desired).await?;
            }
            self.apply_child(children, desired, ApplyPrecondition::Uid(uid)).await?
        };
        let key = ObjectKey::new(desired.namespace.as_deref(), &desired.name);
        let note = format!("took over {} {key}", children.kind);
        let regarding = self.regarding_child(&children.kind, &key, uid);
        self.shared.recorder.normal(&regarding, "Adopted", "Apply", &note);
        Ok(readiness)
    }

    /// Transfers all fields of the field managers in `adopt_from` to the operator: reads the live object, and patches its
    /// `managedFields`. Sends no patch if these managers own no fields.
    ///
    /// # Errors
    /// A yield (the error of a pass that is not done yet) if the object no longer exists.
    async fn take_over_fields(&self, options: ResourceOptions, desired: &Desired) -> Result<()> {
        let target = desired.target();
        let Some(found) = self.shared.client.get::<Value>(target).await? else {
            return Err(Error::yielding("AdoptedGone", "the object to adopt no longer exists"));
        };
        let operator = &self.shared.operator;
        let Some(patch) = transfer_patch(&found, operator, |entry| take_all_fields(entry, options.adopt_from)) else {
            return Ok(());
        };
        self.shared.client.patch(target, &Patch::<()>::Json(serde_json::from_value(patch)?), operator).await?;
        Ok(())
    }
}
