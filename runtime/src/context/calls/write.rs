//! Writes of objects.

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
        node_calls::{name_of, named, versioned},
        right::Right,
    },
};

impl<P> Calls<'_, P> {
    /// Makes an object.
    ///
    /// # Errors
    /// As the call fails; an object of that name is one.
    pub fn create<'c, K>(&'c self, object: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Create<P> + Serialize + DeserializeOwned,
    {
        async move {
            let (kind, right) = (kind_of::<K>(), Right::to("create", <K as access::Create<P>>::WITHIN));
            let object = named(&kind, serde_json::to_value(object)?);
            let name = name_of(&object);
            let target = self.target(&kind, &name, &[right])?;
            let call = self.client().create(target, &object, self.manager());
            let made = self.write_noted((target, ""), &object, call).await?;
            Ok(serde_json::from_value(made)?)
        }
        .boxed()
    }

    /// Applies an object (server-side, taking over fields from other managers).
    ///
    /// # Errors
    /// As the call fails.
    pub fn apply<'c, K>(&'c self, object: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Create<P> + access::Patch<P> + Serialize + DeserializeOwned,
    {
        async move {
            let kind = kind_of::<K>();
            let rights = [
                Right::to("create", <K as access::Create<P>>::WITHIN),
                Right::to("patch", <K as access::Patch<P>>::WITHIN),
            ];
            let object = named(&kind, serde_json::to_value(object)?);
            let name = name_of(&object);
            let target = self.target(&kind, &name, &rights)?;
            let call = async { Ok(self.client().apply(target, &object, self.manager()).await?.object) };
            let applied = self.write_noted((target, ""), &object, call).await?;
            Ok(serde_json::from_value(applied)?)
        }
        .boxed()
    }

    /// Changes an object by a JSON merge patch; it must not touch finalizers.
    ///
    /// # Errors
    /// As the call fails.
    pub fn patch<'c, K>(&'c self, name: &'c str, patch: &'c serde_json::Value) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Patch<P> + DeserializeOwned,
    {
        async move {
            let (kind, right) = (kind_of::<K>(), Right::to("patch", <K as access::Patch<P>>::WITHIN));
            let target = self.target(&kind, name, &[right])?;
            let body = Patch::Merge(patch);
            let patched =
                self.write_noted((target, ""), patch, self.client().patch(target, &body, self.manager())).await?;
            Ok(serde_json::from_value(patched)?)
        }
        .boxed()
    }

    /// Changes an object by a JSON patch. With a `test` of what is to be changed in front of each change, nothing that others
    /// wrote is lost, and what they write elsewhere in the object does not matter. It must not touch finalizers.
    ///
    /// Of the object that the pass is about, the status is written to the state that this leaves.
    ///
    /// # Errors
    /// A conflict, if a `test` fails or a path is not there any more. Otherwise as the call fails.
    pub fn patch_json<'c, K>(&'c self, name: &'c str, operations: serde_json::Value) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Patch<P> + DeserializeOwned,
    {
        async move {
            let (kind, right) = (kind_of::<K>(), Right::to("patch", <K as access::Patch<P>>::WITHIN));
            let target = self.target(&kind, name, &[right])?;
            let body = Patch::<()>::Json(serde_json::from_value(operations.clone())?);
            let call = self.client().patch(target, &body, self.manager());
            let patched = self.write_noted((target, ""), &operations, call).await?;
            let owner = &self.core.owner;
            if kind == owner.kind && ObjectKey::new(target.namespace, name) == owner.key {
                let version = patched["metadata"]["resourceVersion"].as_str().unwrap_or_default();
                self.core.wrote_owner(ResourceVersion::from(version), patched["status"].clone());
            }
            Ok(serde_json::from_value(patched)?)
        }
        .boxed()
    }

    /// Replaces an object as it was read; a change by somebody else since then is a conflict.
    ///
    /// # Errors
    /// As the call fails. Terminal, if the object has no `resourceVersion`: it was never read, and would replace whatever is
    /// there.
    pub fn update<'c, K>(&'c self, object: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Update<P> + Serialize + DeserializeOwned,
    {
        async move {
            let (kind, right) = (kind_of::<K>(), Right::to("update", <K as access::Update<P>>::WITHIN));
            let object = named(&kind, serde_json::to_value(object)?);
            let name = name_of(&object);
            versioned(&kind, &object)?;
            let target = self.target(&kind, &name, &[right])?;
            let call = self.client().replace(target, &object, self.manager());
            let replaced = self.write_noted((target, ""), &object, call).await?;
            Ok(serde_json::from_value(replaced)?)
        }
        .boxed()
    }

    /// Writes what an edit changed: nothing, a patch, a status, or first the patch and then the status (frameworks P4–P7).
    ///
    /// Gives the object as it is stored afterwards. If the patch fails, the status isn't tried (P9).
    ///
    /// # Errors
    /// As the call fails; a status that was changed by somebody else since it was read is a conflict.
    pub fn write<'c, K>(&'c self, before: Snapshot<K>, edited: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Patch<P> + access::UpdateStatus<P> + Serialize + DeserializeOwned,
    {
        async move {
            let kind = kind_of::<K>();
            let changes = before.changes(edited)?;
            let mut object = serde_json::to_value(edited)?;
            let name = name_of(&object);
            let rights = [
                Right::to("patch", <K as access::Patch<P>>::WITHIN),
                Right::on("status", "update", <K as access::UpdateStatus<P>>::WITHIN),
            ];
            let (client, target) = (self.client(), self.target(&kind, &name, &rights)?);
            if let Some(patch) = &changes.main {
                let body = Patch::Merge(patch);
                object = self.write_noted((target, ""), patch, client.patch(target, &body, self.manager())).await?;
            }
            if let Some(status) = changes.status {
                let object_with_status = named(&kind, with_status(object, status));
                let call = client.replace_part(target, "status", &object_with_status, self.manager());
                object = self.write_noted((target, "status"), &object_with_status, call).await?;
            }
            Ok(serde_json::from_value(object)?)
        }
        .boxed()
    }

    /// Asks for the deletion of an object; `false` if it is gone. Gone for sure is only what a later call says is gone.
    ///
    /// # Errors
    /// As the call fails.
    pub fn delete<'c, K: Typed + access::Delete<P>>(&'c self, name: &'c str) -> BoxFuture<'c, Result<bool>> {
        async move {
            let (kind, right) = (kind_of::<K>(), Right::to("delete", <K as access::Delete<P>>::WITHIN));
            let target = self.target(&kind, name, &[right])?;
            self.core.delete_by_hand(target);
            let deletion = self.client().delete(target, &DeleteParams::background()).await?;
            Ok(deletion != Deletion::Absent)
        }
        .boxed()
    }

    /// Asks for the deletion of an object in the state in which it was read; `false` if it is gone. Of the object that the pass
    /// is about, nothing is said in the status then.
    ///
    /// # Errors
    /// A conflict, if it has changed since, or is another one of its name. Otherwise as the call fails. Terminal, if it has no
    /// `resourceVersion`.
    pub fn delete_as_read<'c, K: Typed + access::Delete<P>>(&'c self, object: &'c K) -> BoxFuture<'c, Result<bool>> {
        async move {
            let (kind, right) = (kind_of::<K>(), Right::to("delete", <K as access::Delete<P>>::WITHIN));
            let metadata = object.meta();
            versioned(&kind, &serde_json::json!({"metadata": metadata}))?;
            let target = self.target(&kind, metadata.name.as_deref().unwrap_or_default(), &[right])?;
            let state =
                Preconditions { uid: metadata.uid.clone(), resource_version: metadata.resource_version.clone() };
            let params = DeleteParams { preconditions: Some(state), ..DeleteParams::background() };
            self.core.delete_by_hand(target);
            let deletion = self.client().delete(target, &params).await?;
            let owner = &self.core.owner;
            if kind == owner.kind && metadata.uid.as_deref() == Some(owner.uid.to_string().as_str()) {
                *self.core.left.deleted.lock() = true;
            }
            Ok(deletion != Deletion::Absent)
        }
        .boxed()
    }

    /// Asks for the deletion of all objects of a kind that match a label selector (`""` matches all).
    ///
    /// # Errors
    /// As the call fails.
    pub fn delete_collection<'c, K: Typed + access::DeleteCollection<P>>(
        &'c self,
        labels: &'c str,
    ) -> BoxFuture<'c, Result<()>> {
        async move {
            let (kind, right) =
                (kind_of::<K>(), Right::to("deletecollection", <K as access::DeleteCollection<P>>::WITHIN));
            let selector = Some(labels).filter(|labels| !labels.is_empty());
            Ok(self.client().delete_collection(self.target(&kind, "", &[right])?, selector).await?)
        }
        .boxed()
    }
}
