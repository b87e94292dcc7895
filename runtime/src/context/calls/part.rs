//! Calls on subresources: status, scale, and every other by its type.

use crate::{
    access::{self, part::Part},
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
        node_calls::{name_of, named, versioned},
        right::Right,
    },
};

impl<'a, P> Calls<'a, P> {
    /// Reads one object by its status subresource.
    ///
    /// # Errors
    /// As the call fails.
    pub fn get_status<'c, K>(&'c self, name: &'c str) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::GetStatus<P> + DeserializeOwned,
    {
        self.read::<K, K>(name, Right::on("status", "get", <K as access::GetStatus<P>>::WITHIN))
    }

    /// Changes a status by a JSON merge patch: `{"status": {...}}`.
    ///
    /// # Errors
    /// As the call fails.
    pub fn patch_status<'c, K>(&'c self, name: &'c str, patch: &'c Value) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::PatchStatus<P> + DeserializeOwned,
    {
        let right = Right::on("status", "patch", <K as access::PatchStatus<P>>::WITHIN);
        self.change::<K, K>(name, right, patch.clone())
    }

    /// Replaces the status of an object as it was read; a change by somebody else since then is a conflict.
    ///
    /// # Errors
    /// As the call fails. Terminal, if the object has no `resourceVersion`.
    pub fn update_status<'c, K>(&'c self, object: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::UpdateStatus<P> + Serialize + DeserializeOwned,
    {
        async move {
            let kind = kind_of::<K>();
            let object = named(&kind, serde_json::to_value(object)?);
            versioned(&kind, &object)?;
            let right = Right::on("status", "update", <K as access::UpdateStatus<P>>::WITHIN);
            self.replace::<K, K>(&name_of(&object), right, object).await
        }
        .boxed()
    }

    /// Reads how many replicas an object has.
    ///
    /// # Errors
    /// As the call fails.
    pub fn get_scale<'c, K>(&'c self, name: &'c str) -> BoxFuture<'c, Result<Scale>>
    where
        K: Typed + access::GetScale<P>,
    {
        self.read::<K, Scale>(name, Right::on("scale", "get", <K as access::GetScale<P>>::WITHIN))
    }

    /// Sets how many replicas an object has.
    ///
    /// # Errors
    /// As the call fails.
    pub fn patch_scale<'c, K>(&'c self, name: &'c str, replicas: i32) -> BoxFuture<'c, Result<Scale>>
    where
        K: Typed + access::PatchScale<P>,
    {
        let right = Right::on("scale", "patch", <K as access::PatchScale<P>>::WITHIN);
        self.change::<K, Scale>(name, right, json!({"spec": {"replicas": replicas}}))
    }

    /// Replaces a scale as it was read; a change by somebody else since then is a conflict.
    ///
    /// # Errors
    /// As the call fails. Terminal, if the scale has no `resourceVersion`.
    pub fn update_scale<'c, K>(&'c self, scale: &'c Scale) -> BoxFuture<'c, Result<Scale>>
    where
        K: Typed + access::UpdateScale<P>,
    {
        async move {
            let scale = serde_json::to_value(scale)?;
            versioned(&kind_of::<K>(), &scale)?;
            let right = Right::on("scale", "update", <K as access::UpdateScale<P>>::WITHIN);
            self.replace::<K, Scale>(&name_of(&scale), right, scale).await
        }
        .boxed()
    }

    /// A subresource of one object: `cx.part::<Pod, part::Eviction>("web-0").create(&eviction)`.
    pub fn part<'c, K: Typed, S: Part>(&'c self, name: &'c str) -> PartCalls<'c, 'a, P, K, S> {
        PartCalls { calls: self, name, of: PhantomData }
    }

    fn read<'c, K: Typed, T: DeserializeOwned>(&'c self, name: &'c str, right: Right) -> BoxFuture<'c, Result<T>> {
        async move {
            let (kind, part) = (kind_of::<K>(), right.part);
            let found = self.client().get_part(self.target(&kind, name, &[right])?, part).await?;
            Ok(serde_json::from_value(found)?)
        }
        .boxed()
    }

    fn change<'c, K: Typed, T: DeserializeOwned>(
        &'c self,
        name: &'c str,
        right: Right,
        patch: Value,
    ) -> BoxFuture<'c, Result<T>> {
        async move {
            let (kind, part) = (kind_of::<K>(), right.part);
            let target = self.target(&kind, name, &[right])?;
            let call = self.client().patch_part(target, part, &patch, self.manager());
            let patched = self.write_noted((target, part), &patch, call).await?;
            Ok(serde_json::from_value(patched)?)
        }
        .boxed()
    }

    async fn replace<K: Typed, T: DeserializeOwned>(&self, name: &str, right: Right, body: Value) -> Result<T> {
        let (kind, part) = (kind_of::<K>(), right.part);
        let target = self.target(&kind, name, &[right])?;
        let call = self.client().replace_part(target, part, &body, self.manager());
        let replaced = self.write_noted((target, part), &body, call).await?;
        Ok(serde_json::from_value(replaced)?)
    }
}

/// The calls on a subresource of one object.
pub struct PartCalls<'c, 'a, P, K, S> {
    calls: &'c Calls<'a, P>,
    name: &'c str,
    of: PhantomData<fn() -> (K, S)>,
}

impl<'c, P, K: Typed, S: Part> PartCalls<'c, '_, P, K, S> {
    /// Reads it.
    ///
    /// # Errors
    /// As the call fails.
    pub fn get(&self) -> BoxFuture<'c, Result<S::Body>>
    where
        K: access::GetPart<P, S>,
    {
        self.calls.read::<K, S::Body>(self.name, Right::on(S::NAME, "get", <K as access::GetPart<P, S>>::WITHIN))
    }

    /// Reads it, where it is no JSON: a log.
    ///
    /// # Errors
    /// As the call fails.
    pub fn text(&self) -> BoxFuture<'c, Result<String>>
    where
        K: access::GetPart<P, S>,
    {
        let (calls, name) = (self.calls, self.name);
        async move {
            let (kind, right) = (kind_of::<K>(), Right::on(S::NAME, "get", <K as access::GetPart<P, S>>::WITHIN));
            Ok(calls.client().get_part_text(calls.target(&kind, name, &[right])?, S::NAME).await?)
        }
        .boxed()
    }

    /// Makes it: evicts, binds, asks for a token.
    ///
    /// # Errors
    /// As the call fails. An eviction that a disruption budget forbids for now fails with the code 429.
    pub fn create(&self, body: &S::Body) -> BoxFuture<'c, Result<S::Made>>
    where
        K: access::CreatePart<P, S>,
    {
        let (calls, name, body) = (self.calls, self.name, serde_json::to_value(body));
        async move {
            let (kind, right) = (kind_of::<K>(), Right::on(S::NAME, "create", <K as access::CreatePart<P, S>>::WITHIN));
            let target = calls.target(&kind, name, &[right])?;
            let made = calls.client().create_part(target, S::NAME, &body?, calls.manager()).await?;
            Ok(serde_json::from_value(made)?)
        }
        .boxed()
    }

    /// Replaces it.
    ///
    /// # Errors
    /// As the call fails.
    pub fn update(&self, body: &S::Body) -> BoxFuture<'c, Result<S::Body>>
    where
        K: access::UpdatePart<P, S>,
    {
        let (calls, name, body) = (self.calls, self.name, serde_json::to_value(body));
        let right = Right::on(S::NAME, "update", <K as access::UpdatePart<P, S>>::WITHIN);
        async move { calls.replace::<K, S::Body>(name, right, body?).await }.boxed()
    }

    /// Changes it by a JSON merge patch.
    ///
    /// # Errors
    /// As the call fails.
    pub fn patch(&self, patch: &Value) -> BoxFuture<'c, Result<S::Body>>
    where
        K: access::PatchPart<P, S>,
    {
        let right = Right::on(S::NAME, "patch", <K as access::PatchPart<P, S>>::WITHIN);
        self.calls.change::<K, S::Body>(self.name, right, patch.clone())
    }
}

impl<P, K, S> fmt::Debug for PartCalls<'_, '_, P, K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartCalls").field("name", &self.name).finish_non_exhaustive()
    }
}
