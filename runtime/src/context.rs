//! What a provisioner is handed: its object, and what it may do.

use crate::{
    access,
    client::Target,
    error::{Error, Result},
    event::EventType,
    kind::{Kind, Typed, kind_of},
    managed::{Managed, Owner},
    pass::{Core, Pass},
};
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt, marker::PhantomData, ops::Deref};

/// Where a node is in its tree; shown as `workload/service`.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    up: Option<&'a Path<'a>>,
    name: &'a str,
}

impl<'a> Path<'a> {
    pub(crate) const ROOT: Path<'static> = Path { up: None, name: "" };

    pub(crate) fn child(&'a self, name: &'a str) -> Path<'a> {
        Path { up: Some(self), name }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(up) = self.up.filter(|up| !up.name.is_empty()) {
            write!(f, "{up}/")?;
        }
        f.write_str(self.name)
    }
}

/// Why something is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The owner is being deleted.
    Deleting,
}

/// The way up: the object as it is wanted, its status, and the calls that the node `P` has declared.
pub struct Context<'a, O: Owner, P> {
    pass: &'a Pass<'a, O>,
    path: Path<'a>,
    calls: Calls<'a, P>,
}

/// The way down: identity and cause. What is wanted doesn't matter any more, so a build function is never called.
pub struct Teardown<'a, O: Owner, P> {
    pass: &'a Pass<'a, O>,
    path: Path<'a>,
    cause: Cause,
    calls: Calls<'a, P>,
}

/// What a build function sees; derefs to the object.
pub struct Draft<'a, O: Owner> {
    /// The object that the tree is for.
    pub owner: &'a O::Object,
    /// The options of the controller.
    pub options: &'a O::Options,
}

impl<O: Owner> Deref for Draft<'_, O> {
    type Target = O::Object;
    fn deref(&self) -> &O::Object {
        self.owner
    }
}

impl<'a, O: Owner, P> Context<'a, O, P> {
    pub(crate) fn new(pass: &'a Pass<'a, O>, path: Path<'a>) -> Self {
        Self { pass, path, calls: Calls::new(&pass.core) }
    }

    pub(crate) fn below<'b, Q>(&'b self, name: &'b str) -> Context<'b, O, Q> {
        Context::new(self.pass, self.path.child(name))
    }

    pub(crate) fn core(&self) -> &'a Core<'a> {
        &self.pass.core
    }

    /// The object, as the cache had it when the pass began.
    pub fn object(&self) -> &'a O::Object {
        self.pass.object
    }

    /// The options of the controller.
    pub fn options(&self) -> &'a O::Options {
        self.pass.options
    }

    /// The node's place in the tree.
    pub fn path(&self) -> &Path<'a> {
        &self.path
    }

    /// Reads or sets fields of the status, in memory. They are written once, with the conditions, however the pass ends
    /// (unikorn R6).
    pub fn status<T>(&self, edit: impl FnOnce(&mut <O::Object as Managed>::Status) -> T) -> T {
        edit(&mut self.pass.status.lock())
    }
}

impl<'a, O: Owner, P> Teardown<'a, O, P> {
    pub(crate) fn new(pass: &'a Pass<'a, O>, path: Path<'a>, cause: Cause) -> Self {
        Self { pass, path, cause, calls: Calls::new(&pass.core) }
    }

    pub(crate) fn below<'b, Q>(&'b self, name: &'b str) -> Teardown<'b, O, Q> {
        Teardown::new(self.pass, self.path.child(name), self.cause)
    }

    pub(crate) fn core(&self) -> &'a Core<'a> {
        &self.pass.core
    }

    /// The object that is going.
    pub fn object(&self) -> &'a O::Object {
        self.pass.object
    }

    /// The options of the controller.
    pub fn options(&self) -> &'a O::Options {
        self.pass.options
    }

    /// The node's place in the tree.
    pub fn path(&self) -> &Path<'a> {
        &self.path
    }

    /// Why it goes.
    pub fn cause(&self) -> Cause {
        self.cause
    }
}

impl<'a, O: Owner, P> Deref for Context<'a, O, P> {
    type Target = Calls<'a, P>;
    fn deref(&self) -> &Calls<'a, P> {
        &self.calls
    }
}

impl<'a, O: Owner, P> Deref for Teardown<'a, O, P> {
    type Target = Calls<'a, P>;
    fn deref(&self) -> &Calls<'a, P> {
        &self.calls
    }
}

/// The calls of a hand-written node; each asks for its permission at compile time.
///
/// Reads are live: they ask the API server. Namespaced kinds are meant in the owner's namespace, unless
/// [`Calls::in_namespace`] says another.
pub struct Calls<'a, P> {
    core: &'a Core<'a>,
    namespace: Option<String>,
    node: PhantomData<fn() -> P>,
}

impl<'a, P> Calls<'a, P> {
    fn new(core: &'a Core<'a>) -> Self {
        Self { core, namespace: core.owner.namespace().map(str::to_owned), node: PhantomData }
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
    pub async fn get<K: Typed + access::Get<P> + DeserializeOwned>(&self, name: &str) -> Result<K> {
        let missing = || Error::yielding("NotFound", format!("{} {name} does not exist", kind_of::<K>()));
        self.find(name).await?.ok_or_else(missing)
    }

    /// Reads one object, or learns that there is none.
    ///
    /// # Errors
    /// As the call fails.
    pub async fn find<K: Typed + access::Get<P> + DeserializeOwned>(&self, name: &str) -> Result<Option<K>> {
        let kind = kind_of::<K>();
        let found = self.core.shared.client.get(self.target(&kind, name)?).await?;
        Ok(found.map(serde_json::from_value).transpose()?)
    }

    /// Reads all objects of a kind that match a label selector (`""` matches all).
    ///
    /// # Errors
    /// As the call fails.
    pub async fn list<K: Typed + access::List<P> + DeserializeOwned>(&self, labels: &str) -> Result<Vec<K>> {
        let kind = kind_of::<K>();
        let selector = Some(labels).filter(|labels| !labels.is_empty());
        let mut list = self.core.shared.client.list(self.target(&kind, "")?, selector).await?;
        Ok(serde_json::from_value(list["items"].take())?)
    }

    /// Makes an object.
    ///
    /// # Errors
    /// As the call fails; an object of that name is one.
    pub async fn create<K>(&self, object: &K) -> Result<K>
    where
        K: Typed + access::Create<P> + Serialize + DeserializeOwned,
    {
        let kind = kind_of::<K>();
        let object = named(&kind, serde_json::to_value(object)?);
        let name = name_of(&object);
        let made = self.core.shared.client.create(self.target(&kind, &name)?, &object, self.manager()).await?;
        Ok(serde_json::from_value(made)?)
    }

    /// Applies an object (server-side, taking over fields from other managers).
    ///
    /// # Errors
    /// As the call fails.
    pub async fn apply<K>(&self, object: &K) -> Result<K>
    where
        K: Typed + access::Create<P> + access::Patch<P> + Serialize + DeserializeOwned,
    {
        let kind = kind_of::<K>();
        let object = named(&kind, serde_json::to_value(object)?);
        let name = name_of(&object);
        let applied = self.core.shared.client.apply(self.target(&kind, &name)?, &object, self.manager()).await?;
        Ok(serde_json::from_value(applied.object)?)
    }

    /// Changes an object by a JSON merge patch; it must not touch finalizers.
    ///
    /// # Errors
    /// As the call fails.
    pub async fn patch<K>(&self, name: &str, patch: &serde_json::Value) -> Result<K>
    where
        K: Typed + access::Patch<P> + DeserializeOwned,
    {
        let kind = kind_of::<K>();
        let target = self.target(&kind, name)?;
        let patched = self.core.shared.client.patch(target, &Patch::Merge(patch), self.manager()).await?;
        Ok(serde_json::from_value(patched)?)
    }

    /// Asks for the deletion of an object; `false` if it is gone. Gone for sure is only what a later call says is gone.
    ///
    /// # Errors
    /// As the call fails.
    pub async fn delete<K: Typed + access::Delete<P>>(&self, name: &str) -> Result<bool> {
        let kind = kind_of::<K>();
        Ok(self.core.shared.client.delete(self.target(&kind, name)?, &DeleteParams::background()).await?)
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
    crate::provisioner::desired::strip_nulls(object)
}

fn name_of(object: &serde_json::Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

impl<O: Owner, P> fmt::Debug for Context<'_, O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<O: Owner, P> fmt::Debug for Teardown<'_, O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Teardown").field("path", &self.path).field("cause", &self.cause).finish_non_exhaustive()
    }
}

impl<O: Owner> fmt::Debug for Draft<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft").finish_non_exhaustive()
    }
}

impl<P> fmt::Debug for Calls<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}
