//! Implements API calls on subresources: status, scale, and all others through `SubresourceCalls`.

use crate::{
    access::{self, subresource::Subresource},
    error::Result,
    kind::{Typed, kind_of},
};
use futures::future::{BoxFuture, FutureExt};
use k8s_openapi::api::autoscaling::v1::Scale;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{fmt, marker::PhantomData};
use {
    super::Calls,
    crate::context::calls::{
        node_calls::{name_of, require_version, with_type_meta},
        permission::Permission,
    },
};

impl<'a, P> Calls<'a, P> {
    /// Reads one object through its status subresource.
    ///
    /// # Errors
    /// The error of the call.
    pub fn get_status<'c, K>(&'c self, name: &'c str) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::GetStatus<P> + DeserializeOwned,
    {
        self.read::<K, K>(name, Permission::on_subresource("status", "get", <K as access::GetStatus<P>>::WITHIN))
    }

    /// Changes a status with a JSON merge patch: `{"status": {...}}`.
    ///
    /// # Errors
    /// The error of the call.
    pub fn patch_status<'c, K>(&'c self, name: &'c str, patch: &'c Value) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::PatchStatus<P> + DeserializeOwned,
    {
        let permission = Permission::on_subresource("status", "patch", <K as access::PatchStatus<P>>::WITHIN);
        self.change::<K, K>(name, permission, patch.clone())
    }

    /// Replaces the status of an object; a change by another client since the object was read is a conflict.
    ///
    /// # Errors
    /// The error of the call. Terminal, if the object has no `resourceVersion`.
    pub fn update_status<'c, K>(&'c self, object: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::UpdateStatus<P> + Serialize + DeserializeOwned,
    {
        async move {
            let kind = kind_of::<K>();
            let object = with_type_meta(&kind, serde_json::to_value(object)?);
            require_version(&kind, &object)?;
            let permission = Permission::on_subresource("status", "update", <K as access::UpdateStatus<P>>::WITHIN);
            self.replace::<K, K>(&name_of(&object), permission, object).await
        }
        .boxed()
    }

    /// Reads the number of replicas of an object.
    ///
    /// # Errors
    /// The error of the call.
    pub fn get_scale<'c, K>(&'c self, name: &'c str) -> BoxFuture<'c, Result<Scale>>
    where
        K: Typed + access::GetScale<P>,
    {
        self.read::<K, Scale>(name, Permission::on_subresource("scale", "get", <K as access::GetScale<P>>::WITHIN))
    }

    /// Sets the number of replicas of an object.
    ///
    /// # Errors
    /// The error of the call.
    pub fn patch_scale<'c, K>(&'c self, name: &'c str, replicas: i32) -> BoxFuture<'c, Result<Scale>>
    where
        K: Typed + access::PatchScale<P>,
    {
        let permission = Permission::on_subresource("scale", "patch", <K as access::PatchScale<P>>::WITHIN);
        self.change::<K, Scale>(name, permission, json!({"spec": {"replicas": replicas}}))
    }

    /// Replaces the scale of an object; a change by another client since the scale was read is a conflict.
    ///
    /// # Errors
    /// The error of the call. Terminal, if the scale has no `resourceVersion`.
    pub fn update_scale<'c, K>(&'c self, scale: &'c Scale) -> BoxFuture<'c, Result<Scale>>
    where
        K: Typed + access::UpdateScale<P>,
    {
        async move {
            let scale = serde_json::to_value(scale)?;
            require_version(&kind_of::<K>(), &scale)?;
            let permission = Permission::on_subresource("scale", "update", <K as access::UpdateScale<P>>::WITHIN);
            self.replace::<K, Scale>(&name_of(&scale), permission, scale).await
        }
        .boxed()
    }

    /// Returns the calls on a subresource of one object: `cx.subresource::<Pod, part::Eviction>("web-0").create(&eviction)`.
    pub fn subresource<'c, K: Typed, S: Subresource>(&'c self, name: &'c str) -> SubresourceCalls<'c, 'a, P, K, S> {
        SubresourceCalls { calls: self, name, of: PhantomData }
    }

    /// Reads the subresource that `permission` names, of the object `name` of kind `K`, and decodes it as `T`.
    fn read<'c, K: Typed, T: DeserializeOwned>(
        &'c self,
        name: &'c str,
        permission: Permission,
    ) -> BoxFuture<'c, Result<T>> {
        async move {
            let (kind, subresource) = (kind_of::<K>(), permission.part);
            let found = self.client().get_subresource(self.target(&kind, name, &[permission])?, subresource).await?;
            Ok(serde_json::from_value(found)?)
        }
        .boxed()
    }

    /// Changes the subresource that `permission` names, of the object `name` of kind `K`, with a JSON merge patch. Returns the response as
    /// `T`.
    fn change<'c, K: Typed, T: DeserializeOwned>(
        &'c self,
        name: &'c str,
        permission: Permission,
        patch: Value,
    ) -> BoxFuture<'c, Result<T>> {
        async move {
            let (kind, subresource) = (kind_of::<K>(), permission.part);
            let target = self.target(&kind, name, &[permission])?;
            let call = self.client().patch_subresource(target, subresource, &patch, self.manager());
            let patched = self.tracked_write((target, subresource), &patch, call).await?;
            Ok(serde_json::from_value(patched)?)
        }
        .boxed()
    }

    /// Replaces the subresource that `permission` names, of the object `name` of kind `K`. Returns the response as `T`.
    async fn replace<K: Typed, T: DeserializeOwned>(
        &self,
        name: &str,
        permission: Permission,
        body: Value,
    ) -> Result<T> {
        let (kind, subresource) = (kind_of::<K>(), permission.part);
        let target = self.target(&kind, name, &[permission])?;
        let call = self.client().replace_subresource(target, subresource, &body, self.manager());
        let replaced = self.tracked_write((target, subresource), &body, call).await?;
        Ok(serde_json::from_value(replaced)?)
    }
}

/// The API calls on the subresource `S` of one object of kind `K`.
pub struct SubresourceCalls<'c, 'a, P, K, S> {
    calls: &'c Calls<'a, P>,
    name: &'c str,
    of: PhantomData<fn() -> (K, S)>,
}

impl<'c, P, K: Typed, S: Subresource> SubresourceCalls<'c, '_, P, K, S> {
    /// Reads the subresource.
    ///
    /// # Errors
    /// The error of the call.
    pub fn get(&self) -> BoxFuture<'c, Result<S::Body>>
    where
        K: access::GetSubresource<P, S>,
    {
        self.calls.read::<K, S::Body>(
            self.name,
            Permission::on_subresource(S::NAME, "get", <K as access::GetSubresource<P, S>>::WITHIN),
        )
    }

    /// Reads the subresource as text, such as a log.
    ///
    /// # Errors
    /// The error of the call.
    pub fn text(&self) -> BoxFuture<'c, Result<String>>
    where
        K: access::GetSubresource<P, S>,
    {
        let (calls, name) = (self.calls, self.name);
        async move {
            let (kind, permission) = (
                kind_of::<K>(),
                Permission::on_subresource(S::NAME, "get", <K as access::GetSubresource<P, S>>::WITHIN),
            );
            Ok(calls.client().get_subresource_text(calls.target(&kind, name, &[permission])?, S::NAME).await?)
        }
        .boxed()
    }

    /// Creates the subresource: an eviction, a binding, a token request.
    ///
    /// # Errors
    /// The error of the call. An eviction that a disruption budget forbids for now fails with the code 429.
    pub fn create(&self, body: &S::Body) -> BoxFuture<'c, Result<S::Response>>
    where
        K: access::CreateSubresource<P, S>,
    {
        let (calls, name, body) = (self.calls, self.name, serde_json::to_value(body));
        async move {
            let (kind, permission) = (
                kind_of::<K>(),
                Permission::on_subresource(S::NAME, "create", <K as access::CreateSubresource<P, S>>::WITHIN),
            );
            let target = calls.target(&kind, name, &[permission])?;
            let created = calls.client().create_subresource(target, S::NAME, &body?, calls.manager()).await?;
            Ok(serde_json::from_value(created)?)
        }
        .boxed()
    }

    /// Replaces the subresource.
    ///
    /// # Errors
    /// The error of the call.
    pub fn update(&self, body: &S::Body) -> BoxFuture<'c, Result<S::Body>>
    where
        K: access::UpdateSubresource<P, S>,
    {
        let (calls, name, body) = (self.calls, self.name, serde_json::to_value(body));
        let permission = Permission::on_subresource(S::NAME, "update", <K as access::UpdateSubresource<P, S>>::WITHIN);
        async move { calls.replace::<K, S::Body>(name, permission, body?).await }.boxed()
    }

    /// Changes the subresource with a JSON merge patch.
    ///
    /// # Errors
    /// The error of the call.
    pub fn patch(&self, patch: &Value) -> BoxFuture<'c, Result<S::Body>>
    where
        K: access::PatchSubresource<P, S>,
    {
        let permission = Permission::on_subresource(S::NAME, "patch", <K as access::PatchSubresource<P, S>>::WITHIN);
        self.calls.change::<K, S::Body>(self.name, permission, patch.clone())
    }
}

impl<P, K, S> fmt::Debug for SubresourceCalls<'_, '_, P, K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubresourceCalls").field("name", &self.name).finish_non_exhaustive()
    }
}
