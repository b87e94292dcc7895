//! The calls of hand-written nodes.

use crate::{
    access,
    client::{Deletion, Target, strip_nulls},
    error::{Error, Result},
    event::EventType,
    kind::{Kind, Typed, kind_of},
    pass::Core,
    patch::{Snapshot, with_status},
};
use futures::future::{BoxFuture, FutureExt};
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt, marker::PhantomData};

/// The calls of a hand-written node; each asks for its permission at compile time.
///
/// Reads are live: they ask the API server. Namespaced kinds are meant in the owner's namespace (where
/// the owner is a Namespace, in that), unless [`Calls::in_namespace`] says another.
pub struct Calls<'a, P> {
    core: &'a Core<'a>,
    namespace: Option<String>,
    node: PhantomData<fn() -> P>,
}

// Boxed, so that a missing permission is one message of the compiler and not one for each use of the future.
impl<'a, P> Calls<'a, P> {
    pub(super) fn new(core: &'a Core<'a>) -> Self {
        Self { core, namespace: core.owner.home().map(str::to_owned), node: PhantomData }
    }

    /// The same calls in another namespace.
    pub fn in_namespace(&self, namespace: impl Into<String>) -> Self {
        Self { core: self.core, namespace: Some(namespace.into()), node: PhantomData }
    }

    /// The namespace that the operator runs in.
    pub fn operator_namespace(&self) -> &'a str {
        &self.core.shared.namespace
    }

    /// The time, by the runtime's clock.
    pub fn now(&self) -> Timestamp {
        self.core.shared.environment.now()
    }

    /// Records an event about the object, where the controller has events on. Repeats are counted, not piled up.
    pub fn event(&self, type_: EventType, reason: &str, message: &str) {
        self.core.shared.recorder.record(&self.core.owner.regarding(), type_, reason, "Provision", message);
    }

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
            let kind = kind_of::<K>();
            let found = self.core.shared.client.get(self.target(&kind, name)?).await?;
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
            let kind = kind_of::<K>();
            let selector = Some(labels).filter(|labels| !labels.is_empty());
            let mut list = self.core.shared.client.list(self.target(&kind, "")?, selector).await?;
            Ok(serde_json::from_value(list["items"].take())?)
        }
        .boxed()
    }

    /// Makes an object.
    ///
    /// # Errors
    /// As the call fails; an object of that name is one.
    pub fn create<'c, K>(&'c self, object: &'c K) -> BoxFuture<'c, Result<K>>
    where
        K: Typed + access::Create<P> + Serialize + DeserializeOwned,
    {
        async move {
            let kind = kind_of::<K>();
            let object = named(&kind, serde_json::to_value(object)?);
            let name = name_of(&object);
            let made = self.core.shared.client.create(self.target(&kind, &name)?, &object, self.manager()).await?;
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
            let object = named(&kind, serde_json::to_value(object)?);
            let name = name_of(&object);
            let applied = self.core.shared.client.apply(self.target(&kind, &name)?, &object, self.manager()).await?;
            Ok(serde_json::from_value(applied.object)?)
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
            let kind = kind_of::<K>();
            let target = self.target(&kind, name)?;
            let patched = self.core.shared.client.patch(target, &Patch::Merge(patch), self.manager()).await?;
            Ok(serde_json::from_value(patched)?)
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
            let (client, target) = (&self.core.shared.client, self.target(&kind, &name)?);
            if let Some(patch) = &changes.main {
                object = client.patch(target, &Patch::Merge(patch), self.manager()).await?;
            }
            if let Some(status) = changes.status {
                let object_with_status = named(&kind, with_status(object, status));
                object = client.replace_status(target, &object_with_status, self.manager()).await?;
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
            let kind = kind_of::<K>();
            let client = &self.core.shared.client;
            let deletion = client.delete(self.target(&kind, name)?, &DeleteParams::background()).await?;
            Ok(deletion != Deletion::Absent)
        }
        .boxed()
    }

    fn manager(&self) -> &str {
        &self.core.shared.operator
    }

    fn target<'t>(&'t self, kind: &'t Kind, name: &'t str) -> Result<Target<'t>> {
        let namespace = self.namespace.as_deref().filter(|_| kind.namespaced);
        if kind.namespaced && namespace.is_none() {
            let message = format!("{kind} {name} needs a namespace; say which with `in_namespace`");
            return Err(Error::terminal("NoNamespace", message));
        }
        Ok(Target { kind, namespace, name })
    }
}

fn named(kind: &Kind, mut object: serde_json::Value) -> serde_json::Value {
    object["apiVersion"] = kind.api_version().into();
    object["kind"] = kind.kind.clone().into();
    strip_nulls(object)
}

fn name_of(object: &serde_json::Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

impl<P> fmt::Debug for Calls<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}
