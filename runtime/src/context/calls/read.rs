//! Reads of objects.

use crate::{
    access,
    error::{Error, Result},
    kind::{Typed, kind_of},
};
use futures::future::{BoxFuture, FutureExt};
use serde::de::DeserializeOwned;
use {super::Calls, crate::context::calls::right::Right};

impl<P> Calls<'_, P> {
    /// Reads one object.
    ///
    /// # Errors
    /// A yield with reason `NotFound` if there is none; see [`Calls::find`]. Otherwise as the call fails.
    pub fn get<'c, K: Typed + access::Get<P> + DeserializeOwned>(&'c self, name: &'c str) -> BoxFuture<'c, Result<K>> {
        async move {
            let missing = || Error::yielding("NotFound", format!("{} {name} does not exist", kind_of::<K>()));
            self.find(name).await?.ok_or_else(missing)
        }
        .boxed()
    }

    /// Reads one object, or learns that there is none.
    ///
    /// # Errors
    /// As the call fails.
    pub fn find<'c, K: Typed + access::Get<P> + DeserializeOwned>(
        &'c self,
        name: &'c str,
    ) -> BoxFuture<'c, Result<Option<K>>> {
        async move {
            let (kind, right) = (kind_of::<K>(), Right::to("get", <K as access::Get<P>>::WITHIN));
            let found = self.client().get(self.target(&kind, name, &[right])?).await?;
            Ok(found.map(serde_json::from_value).transpose()?)
        }
        .boxed()
    }

    /// Reads all objects of a kind that match a label selector (`""` matches all).
    ///
    /// # Errors
    /// As the call fails.
    pub fn list<'c, K: Typed + access::List<P> + DeserializeOwned>(
        &'c self,
        labels: &'c str,
    ) -> BoxFuture<'c, Result<Vec<K>>> {
        async move {
            let (kind, right) = (kind_of::<K>(), Right::to("list", <K as access::List<P>>::WITHIN));
            let selector = Some(labels).filter(|labels| !labels.is_empty());
            let list = self.client().list(self.target(&kind, "", &[right])?, selector).await?;
            Ok(serde_json::from_value(list.into())?)
        }
        .boxed()
    }
}
