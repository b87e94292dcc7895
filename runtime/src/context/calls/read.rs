//! Implements live reads of objects by hand-written nodes: get, find and list.

use crate::{
    access,
    error::{Error, Result},
    kind::{Typed, kind_of},
};
use futures::future::{BoxFuture, FutureExt};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use {super::Calls, crate::context::calls::permission::Permission};

impl<P> Calls<'_, P> {
    /// Reads one object, in the namespace of the owner or of [`Calls::in_namespace`].
    ///
    /// # Errors
    /// [`Error::Yield`] with the reason `NotFound` if it does not exist: the object is reconciled again later. To handle absence,
    /// use [`Calls::find`]. Otherwise the error of the call.
    pub fn get<'c, K: Typed + access::Get<P> + DeserializeOwned>(&'c self, name: &'c str) -> BoxFuture<'c, Result<K>> {
        async move {
            let missing = || Error::yielding("NotFound", format!("{} {name} does not exist", kind_of::<K>()));
            self.find(name).await?.ok_or_else(missing)
        }
        .boxed()
    }

    /// Reads one object, in the namespace of the owner or of [`Calls::in_namespace`]; `None` if it does not exist.
    ///
    /// # Errors
    /// The error of the call.
    pub fn find<'c, K: Typed + access::Get<P> + DeserializeOwned>(
        &'c self,
        name: &'c str,
    ) -> BoxFuture<'c, Result<Option<K>>> {
        async move {
            let (kind, permission) = (kind_of::<K>(), Permission::on_object("get", <K as access::Get<P>>::WITHIN));
            let found = self.client().get::<Box<RawValue>>(self.target(&kind, name, &[permission])?).await?;
            Ok(found.map(|object| serde_json::from_str(object.get())).transpose()?)
        }
        .boxed()
    }

    /// Reads all objects of a kind that match a label selector (`""` matches all), in the namespace of the owner or of
    /// [`Calls::in_namespace`].
    ///
    /// # Errors
    /// The error of the call.
    pub fn list<'c, K: Typed + access::List<P> + DeserializeOwned>(
        &'c self,
        labels: &'c str,
    ) -> BoxFuture<'c, Result<Vec<K>>> {
        async move {
            let (kind, permission) = (kind_of::<K>(), Permission::on_object("list", <K as access::List<P>>::WITHIN));
            let selector = Some(labels).filter(|labels| !labels.is_empty());
            let target = self.target(&kind, "", &[permission])?;
            let list = self.client().list::<Box<RawValue>>(target, selector).await?;
            Ok(list.iter().map(|object| serde_json::from_str(object.get())).collect::<Result<_, _>>()?)
        }
        .boxed()
    }

    /// Reads all objects of a kind that match a label selector (`""` matches all), in all namespaces that the operator watches; in
    /// another cluster, in all namespaces.
    ///
    /// # Errors
    /// A terminal error if the permission is for one namespace only. The error of the call.
    pub fn list_all<'c, K: Typed + access::List<P> + DeserializeOwned>(
        &'c self,
        labels: &'c str,
    ) -> BoxFuture<'c, Result<Vec<K>>> {
        async move {
            let (kind, permission) = (kind_of::<K>(), Permission::on_object("list", <K as access::List<P>>::WITHIN));
            let selector = Some(labels).filter(|labels| !labels.is_empty());
            let namespaces = &self.core.shared.namespaces;
            let target = self.target_in(namespaces.request_namespace(), &kind, "", &[permission])?;
            let mut list = self.client().list::<Box<RawValue>>(target, selector).await?;
            // The request may cover all namespaces, of which the operator watches only some.
            list.retain(|object| namespaces.contains_object(object.get().as_bytes()));
            Ok(list.iter().map(|object| serde_json::from_str(object.get())).collect::<Result<_, _>>()?)
        }
        .boxed()
    }
}
