//! `ObjectReader`: reads other objects for a webhook, each with a permission that the webhook declares.

use super::denied::Denied;
use crate::{
    access,
    client::{Client, Target},
    context::{Permission, node_type_name},
    kind::{Kind, Typed, kind_of},
};
use futures::future::{BoxFuture, FutureExt as _};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::{fmt, marker::PhantomData};

// The reads return boxed futures, so that a missing permission is one compiler error, and not one for each use of the future.
/// Reads objects for a webhook. A read compiles only if the webhook declares the permission for it.
///
/// Reads ask the API server, since the webhooks of an operator work before its caches. The write waits for them. Namespaced objects
/// are read in the namespace of the written object, or in that of [`ObjectReader::in_namespace`]. A failed read makes the webhook fail, so
/// that its failure policy decides about the write.
pub struct ObjectReader<W> {
    client: Client,
    namespace: Option<String>,
    webhook: PhantomData<fn() -> W>,
}

impl<W> ObjectReader<W> {
    pub(crate) fn new(client: Client, namespace: Option<&str>) -> Self {
        Self { client, namespace: namespace.map(str::to_owned), webhook: PhantomData }
    }

    /// Returns the same reader for another namespace.
    #[must_use]
    pub fn in_namespace(&self, namespace: impl Into<String>) -> Self {
        Self { client: self.client.clone(), namespace: Some(namespace.into()), webhook: PhantomData }
    }

    /// Reads one object; `None` if it does not exist.
    ///
    /// # Errors
    /// A failure if the API server can't be reached, if the object can't be decoded, or if it is outside the names and namespaces that
    /// the webhook declares.
    pub fn find<'c, K: Typed + access::Get<W> + DeserializeOwned>(
        &'c self,
        name: &'c str,
    ) -> BoxFuture<'c, Result<Option<K>, Denied>> {
        async move {
            let (kind, permission) = (kind_of::<K>(), Permission::on_object("get", <K as access::Get<W>>::WITHIN));
            let target = self.target(&kind, name, &permission)?;
            let found = self.client.get::<Box<RawValue>>(target).await.map_err(Denied::unexpected)?;
            found.map(|object| serde_json::from_str(object.get())).transpose().map_err(Denied::unexpected)
        }
        .boxed()
    }

    /// Reads all objects of a kind that match a label selector; `""` matches all.
    ///
    /// # Errors
    /// Those of [`ObjectReader::find`].
    pub fn list<'c, K: Typed + access::List<W> + DeserializeOwned>(
        &'c self,
        labels: &'c str,
    ) -> BoxFuture<'c, Result<Vec<K>, Denied>> {
        async move {
            let (kind, permission) = (kind_of::<K>(), Permission::on_object("list", <K as access::List<W>>::WITHIN));
            let selector = Some(labels).filter(|labels| !labels.is_empty());
            let target = self.target(&kind, "", &permission)?;
            let list = self.client.list::<Box<RawValue>>(target, selector).await.map_err(Denied::unexpected)?;
            let objects = list.iter().map(|object| serde_json::from_str(object.get()));
            objects.collect::<Result<_, _>>().map_err(Denied::unexpected)
        }
        .boxed()
    }

    /// Returns the kind, namespace and name of a read. `name` is empty for a list.
    ///
    /// # Errors
    /// A failure if a namespaced object has no namespace, or if the object is outside the names and namespaces of the permission.
    fn target<'t>(&'t self, kind: &'t Kind, name: &'t str, permission: &Permission) -> Result<Target<'t>, Denied> {
        let namespace = self.namespace.as_deref().filter(|_| kind.namespaced);
        if kind.namespaced && namespace.is_none() {
            return Err(Denied::unexpected(format!("{kind} {name} needs a namespace; set it with `in_namespace`")));
        }
        let target = Target { kind, namespace, name };
        if permission.allows(&target) {
            return Ok(target);
        }
        Err(Denied::unexpected(permission.denial_message(&target, namespace, node_type_name::<W>())))
    }
}

impl<W> fmt::Debug for ObjectReader<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectReader").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}
