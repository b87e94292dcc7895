//! Implements writes of objects by hand-written nodes: create, apply, patch, update and delete.

use crate::{
    access,
    cache::{ObjectKey, ResourceVersion},
    client::Deletion,
    error::Result,
    kind::{Typed, kind_of},
    patch::{Snapshot, with_status},
};
use futures::future::{BoxFuture, FutureExt};
use kube::api::{DeleteParams, Patch, Preconditions};
use serde::{Serialize, de::DeserializeOwned};
use {
    super::Calls,
    crate::context::calls::{
        node_calls::{name_of, require_version, with_type_meta},
        permission::Permission,
    },
};

impl<P> Calls<'_, P> {
    /// Creates an object.
    ///
    /// # Errors
    /// The error of the call, also if an object of that name exists.
    pub fn create<'c, K>(&'c self, object: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Create<P> + Serialize + DeserializeOwned,
    {
        async move {
            let (kind, permission) =
                (kind_of::<K>(), Permission::on_object("create", <K as access::Create<P>>::WITHIN));
            let object = with_type_meta(&kind, serde_json::to_value(object)?);
            let name = name_of(&object);
            let target = self.target(&kind, &name, &[permission])?;
            let call = self.client().create(target, &object, self.manager());
            let created = self.tracked_write((target, ""), &object, call).await?;
            Ok(serde_json::from_value(created)?)
        }
        .boxed()
    }

    /// Creates or changes an object by server-side apply. Fields that other managers own are taken over.
    ///
    /// # Errors
    /// The error of the call.
    pub fn apply<'c, K>(&'c self, object: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Create<P> + access::Patch<P> + Serialize + DeserializeOwned,
    {
        async move {
            let kind = kind_of::<K>();
            let permissions = [
                Permission::on_object("create", <K as access::Create<P>>::WITHIN),
                Permission::on_object("patch", <K as access::Patch<P>>::WITHIN),
            ];
            let object = with_type_meta(&kind, serde_json::to_value(object)?);
            let name = name_of(&object);
            let target = self.target(&kind, &name, &permissions)?;
            let call = async { Ok(self.client().apply(target, &object, self.manager()).await?.object) };
            let applied = self.tracked_write((target, ""), &object, call).await?;
            Ok(serde_json::from_value(applied)?)
        }
        .boxed()
    }

    /// Changes an object with a JSON merge patch, which must not touch finalizers.
    ///
    /// # Errors
    /// The error of the call.
    pub fn patch<'c, K>(&'c self, name: &'c str, patch: &'c serde_json::Value) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Patch<P> + DeserializeOwned,
    {
        async move {
            let (kind, permission) = (kind_of::<K>(), Permission::on_object("patch", <K as access::Patch<P>>::WITHIN));
            let target = self.target(&kind, name, &[permission])?;
            let body = Patch::Merge(patch);
            let patched =
                self.tracked_write((target, ""), patch, self.client().patch(target, &body, self.manager())).await?;
            Ok(serde_json::from_value(patched)?)
        }
        .boxed()
    }

    /// Changes an object with a JSON patch, which must not touch finalizers. With a `test` operation before each change, the
    /// patch overwrites no change by another client, and changes elsewhere in the object don't matter.
    ///
    /// If the object is the owner of the pass, the control loop writes the status to the version that this patch creates.
    ///
    /// # Errors
    /// A conflict, if a `test` fails or a path does not exist any more. Otherwise the error of the call.
    pub fn patch_json<'c, K>(&'c self, name: &'c str, operations: serde_json::Value) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Patch<P> + DeserializeOwned,
    {
        async move {
            let (kind, permission) = (kind_of::<K>(), Permission::on_object("patch", <K as access::Patch<P>>::WITHIN));
            let target = self.target(&kind, name, &[permission])?;
            let body = Patch::<()>::Json(serde_json::from_value(operations.clone())?);
            let call = self.client().patch(target, &body, self.manager());
            let patched = self.tracked_write((target, ""), &operations, call).await?;
            let owner = &self.core.owner;
            if kind == owner.kind && ObjectKey::new(target.namespace, name) == owner.key {
                let version = patched["metadata"]["resourceVersion"].as_str().unwrap_or_default();
                self.core.record_owner_write(ResourceVersion::from(version), patched["status"].clone());
            }
            Ok(serde_json::from_value(patched)?)
        }
        .boxed()
    }

    /// Replaces an object; a change by another client since the object was read is a conflict.
    ///
    /// # Errors
    /// The error of the call. Terminal, if the object has no `resourceVersion`: it was never read, and would replace any state.
    pub fn update<'c, K>(&'c self, object: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Update<P> + Serialize + DeserializeOwned,
    {
        async move {
            let (kind, permission) =
                (kind_of::<K>(), Permission::on_object("update", <K as access::Update<P>>::WITHIN));
            let object = with_type_meta(&kind, serde_json::to_value(object)?);
            let name = name_of(&object);
            require_version(&kind, &object)?;
            let target = self.target(&kind, &name, &[permission])?;
            let call = self.client().replace(target, &object, self.manager());
            let replaced = self.tracked_write((target, ""), &object, call).await?;
            Ok(serde_json::from_value(replaced)?)
        }
        .boxed()
    }

    /// Writes the differences between `before` and `edited`: first a merge patch of the object without its status, then the status. An
    /// equal part is not written.
    ///
    /// Returns the stored object. If the patch fails, the status is not written.
    ///
    /// # Errors
    /// The error of the call; a change of the status by another client since the object was read is a conflict.
    pub fn write<'c, K>(&'c self, before: Snapshot<K>, edited: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Patch<P> + access::UpdateStatus<P> + Serialize + DeserializeOwned,
    {
        async move {
            let kind = kind_of::<K>();
            let changes = before.changes(edited)?;
            let mut object = serde_json::to_value(edited)?;
            let name = name_of(&object);
            let permissions = [
                Permission::on_object("patch", <K as access::Patch<P>>::WITHIN),
                Permission::on_subresource("status", "update", <K as access::UpdateStatus<P>>::WITHIN),
            ];
            let (client, target) = (self.client(), self.target(&kind, &name, &permissions)?);
            if let Some(patch) = &changes.main {
                let body = Patch::Merge(patch);
                object = self.tracked_write((target, ""), patch, client.patch(target, &body, self.manager())).await?;
            }
            if let Some(status) = changes.status {
                let object_with_status = with_type_meta(&kind, with_status(object, status));
                let call = client.replace_subresource(target, "status", &object_with_status, self.manager());
                object = self.tracked_write((target, "status"), &object_with_status, call).await?;
            }
            Ok(serde_json::from_value(object)?)
        }
        .boxed()
    }

    /// Deletes an object; `false` if it does not exist. The deletion may take time (finalizers, grace period): only a later read
    /// shows that the object is gone.
    ///
    /// # Errors
    /// The error of the call.
    pub fn delete<'c, K: Typed + access::Delete<P>>(&'c self, name: &'c str) -> BoxFuture<'c, Result<bool>> {
        async move {
            let (kind, permission) =
                (kind_of::<K>(), Permission::on_object("delete", <K as access::Delete<P>>::WITHIN));
            let target = self.target(&kind, name, &[permission])?;
            self.core.delete_from_node(target);
            let deletion = self.client().delete(target, &DeleteParams::background()).await?;
            Ok(deletion != Deletion::Absent)
        }
        .boxed()
    }

    /// Deletes an object if it still has the uid and the resourceVersion with which it was read; `false` if it does not exist. If the
    /// object is the owner of the pass, the control loop writes no status afterwards.
    ///
    /// # Errors
    /// A conflict, if the object has changed since, or is a later object of the same name. Otherwise the error of the call.
    /// Terminal, if the object has no `resourceVersion`.
    pub fn delete_as_read<'c, K: Typed + access::Delete<P>>(&'c self, object: &'c K) -> BoxFuture<'c, Result<bool>> {
        async move {
            let (kind, permission) =
                (kind_of::<K>(), Permission::on_object("delete", <K as access::Delete<P>>::WITHIN));
            let metadata = object.meta();
            require_version(&kind, &serde_json::json!({"metadata": metadata}))?;
            let target = self.target(&kind, metadata.name.as_deref().unwrap_or_default(), &[permission])?;
            let preconditions =
                Preconditions { uid: metadata.uid.clone(), resource_version: metadata.resource_version.clone() };
            let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() };
            self.core.delete_from_node(target);
            let deletion = self.client().delete(target, &params).await?;
            let owner = &self.core.owner;
            if kind == owner.kind && metadata.uid.as_deref() == Some(owner.uid.to_string().as_str()) {
                self.core.side_effects().owner_deleted = true;
            }
            Ok(deletion != Deletion::Absent)
        }
        .boxed()
    }

    /// Deletes all objects of a kind that match a label selector (`""` matches all).
    ///
    /// # Errors
    /// The error of the call.
    pub fn delete_collection<'c, K: Typed + access::DeleteCollection<P>>(
        &'c self,
        labels: &'c str,
    ) -> BoxFuture<'c, Result<()>> {
        async move {
            let (kind, permission) =
                (kind_of::<K>(), Permission::on_object("deletecollection", <K as access::DeleteCollection<P>>::WITHIN));
            let selector = Some(labels).filter(|labels| !labels.is_empty());
            Ok(self.client().delete_collection(self.target(&kind, "", &[permission])?, selector).await?)
        }
        .boxed()
    }
}
