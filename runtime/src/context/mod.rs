//! Defines `Context` and `Teardown`, the arguments of the functions of a tree node: the object that is reconciled, and the API calls that
//! the node may make.

mod calls;
mod draft;
mod unversioned_reads;

use crate::{
    engine::pass::{Pass, PassCore},
    managed::{Each, Managed, Owner},
    shape::{Path, Provisioner},
};
pub use calls::{Calls, References, SubresourceCalls};
pub(crate) use calls::{Permission, node_type_name};
pub use draft::Draft;
pub(crate) use unversioned_reads::UnversionedReads;

use std::{fmt, marker::PhantomData, ops::Deref, sync::Arc};

/// Why a node is deprovisioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The owner is being deleted, or is no longer selected by the controller.
    Deleting,
    /// The predicate of its `when` is false.
    NotWanted,
    /// Its item is no longer in the list of the `each`.
    KeyGone,
}

/// The argument of `provision`: the object, its status, and the API calls that the node `P` has declared.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{Namespace, Secret};
/// # use opgen::prelude::*;
/// #[derive(Provisioner)]
/// #[provisioner(access(Secret: get))]
/// struct TokenCheck;
///
/// impl Provision<Foreign<Namespace>> for TokenCheck {
///     async fn provision(cx: &Context<'_, Foreign<Namespace>, Self>) -> Result<()> {
///         // `Secret: get` permits this call. It yields if the Secret doesn't exist.
///         let token = cx.get::<Secret>("token").await?;
///         cx.report("TokenFound", format!("Secret {} exists", token.name_any()));
///         Ok(())
///     }
///
///     async fn deprovision(_: &Teardown<'_, Foreign<Namespace>, Self>) -> Result<()> {
///         Ok(())
///     }
/// }
/// ```
pub struct Context<'a, O: Owner, P: Provisioner> {
    pass: &'a Pass<'a, O::Object, O::Options>,
    /// The pass in the cluster of the node.
    core: &'a PassCore<'a>,
    item: &'a O::Item,
    inputs: &'a P::Inputs,
    path: Path<'a>,
    /// Hash of the inputs that all build functions below share; `None` if one of them has no version.
    inputs_digest: Option<u64>,
    /// The unversioned reads of the `each` functions of this group.
    item_reads: UnversionedReads,
    calls: Calls<'a, P>,
}

/// The argument of `deprovision`: the identity of the node and the cause. It gives no access to the wanted state, so no build
/// function runs.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{Namespace, Secret};
/// # use opgen::prelude::*;
/// # #[derive(Provisioner)]
/// # #[provisioner(access(Secret: delete))]
/// # struct Token;
/// impl Provision<Foreign<Namespace>> for Token {
///     # async fn provision(_: &Context<'_, Foreign<Namespace>, Self>) -> Result<()> {
///     #     Ok(())
///     # }
///     async fn deprovision(cx: &Teardown<'_, Foreign<Namespace>, Self>) -> Result<()> {
///         // `delete` returns `false` if the Secret is gone.
///         if cx.delete::<Secret>("token").await? {
///             return yield_because("Deleting", "waiting for the deletion of Secret token");
///         }
///         Ok(())
///     }
/// }
/// ```
pub struct Teardown<'a, O: Owner, P> {
    pass: &'a Pass<'a, O::Object, O::Options>,
    /// The pass in the cluster of the node.
    core: &'a PassCore<'a>,
    path: Path<'a>,
    cause: Cause,
    calls: Calls<'a, P>,
    owner: PhantomData<fn() -> O>,
}

impl<'a, O: Owner, P: Provisioner> Context<'a, O, P> {
    /// Returns the context of the root of the tree.
    pub(crate) fn root(pass: &'a Pass<'a, O::Object, O::Options>) -> Self
    where
        O: Owner<Item = ()>,
        P: Provisioner<Inputs = ()>,
    {
        Self {
            pass,
            core: &pass.core,
            item: &(),
            inputs: &(),
            path: Path::ROOT,
            // The root has no inputs of nodes. But every build function reads the owner, so the digest begins with its version.
            inputs_digest: Some(pass.core.version_digest),
            item_reads: UnversionedReads::default(),
            calls: Calls::new(&pass.core),
        }
    }

    /// Returns the context of a child node in the same cluster. `inputs_digest` is the hash of the inputs that its build functions share;
    /// `None` if one has no version.
    pub(crate) fn for_child<'b, Q: Provisioner>(
        &'b self,
        name: &'b str,
        inputs: &'b Q::Inputs,
        inputs_digest: Option<u64>,
    ) -> Context<'b, O, Q> {
        self.for_child_in(self.core, name, inputs, inputs_digest)
    }

    /// Returns the context of a child node in the cluster of `core`, which is the state of the pass for that cluster.
    pub(crate) fn for_child_in<'b, Q: Provisioner>(
        &'b self,
        core: &'b PassCore<'b>,
        name: &'b str,
        inputs: &'b Q::Inputs,
        inputs_digest: Option<u64>,
    ) -> Context<'b, O, Q> {
        let (path, calls) = (self.path.child(name), Calls::new(core));
        Context {
            pass: self.pass,
            core,
            item: self.item,
            inputs,
            path,
            inputs_digest,
            item_reads: UnversionedReads::default(),
            calls,
        }
    }

    /// Returns the context of the child node for one item of an `each`. Its path has the key of the item.
    pub(crate) fn for_item<'b, I, Q>(
        &'b self,
        (name, key): (&'b str, &'b str),
        item: &'b I,
        inputs: &'b Q::Inputs,
        inputs_digest: Option<u64>,
    ) -> Context<'b, Each<O, I>, Q>
    where
        I: Send + Sync + 'static,
        Q: Provisioner,
    {
        let (path, calls) = (self.path.child(name).keyed(key), Calls::new(self.core));
        Context {
            pass: self.pass,
            core: self.core,
            item,
            inputs,
            path,
            inputs_digest,
            item_reads: UnversionedReads::default(),
            calls,
        }
    }

    /// Returns the teardown context at the same path, to remove children that are no longer wanted.
    pub(crate) fn to_teardown(&self, cause: Cause) -> Teardown<'a, O, P> {
        Teardown::at((self.pass, self.core), self.path, cause)
    }

    pub(crate) fn core(&self) -> &'a PassCore<'a> {
        self.core
    }

    /// Returns the argument of a build function; `unversioned` records whether the function reads an input without a version.
    pub(crate) fn draft<'c>(&'c self, unversioned: &'c UnversionedReads) -> Draft<'c, O> {
        Draft::new((self.pass.object, self.item), self.pass.options, self.core, unversioned)
    }

    /// Returns the argument of a function that runs in every pass, such as that of a `when`: its result is never reused, so its reads don't
    /// matter.
    pub(crate) fn untracked_draft(&self) -> Draft<'_, O> {
        self.draft(&self.core.unversioned)
    }

    /// Returns the argument of a function of `each`: its reads of inputs without a version count for the children of all items.
    pub(crate) fn items_draft(&self) -> Draft<'_, O> {
        self.draft(&self.item_reads)
    }

    /// Returns the hash of the inputs that the children of all items share, after the functions of `each` have run. `None` if one of these
    /// functions has read an input without a version.
    pub(crate) fn items_inputs_digest(&self, inputs_digest: Option<u64>) -> Option<u64> {
        self.item_reads.filter(inputs_digest)
    }

    /// Returns the object, or below an `each` the item.
    pub(crate) fn subject(&self) -> &'a O::Subject {
        O::subject(self.pass.object, self.item)
    }

    /// Returns the hash of the inputs that all build functions below share; `None` if one of them has no version.
    pub(crate) fn inputs_digest(&self) -> Option<u64> {
        self.inputs_digest
    }

    /// Returns the object, in the state that the cache had when the pass began.
    pub fn object(&self) -> &'a O::Object {
        self.pass.object
    }

    /// Returns the item of the `each` that this node is below; `()` without an `each`.
    pub fn item(&self) -> &'a O::Item {
        self.item
    }

    /// Returns the values that `inputs(...)` names, in the same order.
    pub fn inputs(&self) -> &'a P::Inputs {
        self.inputs
    }

    /// Gives a value to the nodes that read this one. It is valid for this pass only.
    pub fn set_output(&self, value: P::Output) {
        self.core().outputs.set_value(&self.path.to_string(), Arc::new(value));
    }

    /// Returns the options of the controller.
    pub fn options(&self) -> &'a O::Options {
        self.pass.options
    }

    /// Returns the path of the node in the tree.
    pub fn path(&self) -> &Path<'a> {
        &self.path
    }

    /// Sets reason and message of the conditions for a pass that succeeds. The reason is one PascalCase word; the message must
    /// stay the same as long as the state does. The last call in a pass wins. Without a call, the reason is `Provisioned`.
    pub fn report(&self, reason: &str, message: impl Into<String>) {
        self.core().side_effects().report = Some((reason.to_owned(), message.into()));
    }

    /// Reads or sets fields of the status in memory. The loop writes them once at the end of the pass, together with the
    /// conditions, whether the pass succeeds or not.
    pub fn status<T>(&self, edit: impl FnOnce(&mut <O::Object as Managed>::Status) -> T) -> T {
        self.pass.edit_status(edit)
    }
}

impl<'a, O: Owner, P> Teardown<'a, O, P> {
    /// Returns the teardown context of the root of the tree.
    pub(crate) fn root(pass: &'a Pass<'a, O::Object, O::Options>) -> Self {
        Self::at((pass, &pass.core), Path::ROOT, Cause::Deleting)
    }

    /// Returns the teardown context of the node at `path`, in the cluster of `core`.
    fn at((pass, core): (&'a Pass<'a, O::Object, O::Options>, &'a PassCore<'a>), path: Path<'a>, cause: Cause) -> Self {
        Self { pass, core, path, cause, calls: Calls::new(core), owner: PhantomData }
    }

    /// Returns the teardown context of a child.
    pub(crate) fn for_child<'b, Q>(&'b self, name: &'b str) -> Teardown<'b, O, Q> {
        self.for_child_in(self.core, name)
    }

    /// Returns the teardown context of a child node in the cluster of `core`, which is the state of the pass for that cluster.
    pub(crate) fn for_child_in<'b, Q>(&'b self, core: &'b PassCore<'b>, name: &'b str) -> Teardown<'b, O, Q> {
        Teardown::at((self.pass, core), self.path.child(name), self.cause)
    }

    /// Returns the teardown context of the child node for the item with this key. Without a key, the path of the context is that of the
    /// `each`, for a search of the keys.
    pub(crate) fn for_item<'b, I, Q>(
        &'b self,
        name: &'b str,
        key: Option<&'b str>,
        cause: Cause,
    ) -> Teardown<'b, Each<O, I>, Q>
    where
        I: Send + Sync + 'static,
    {
        let path = self.path.child(name);
        Teardown::at((self.pass, self.core), key.map_or(path, |key| path.keyed(key)), cause)
    }

    pub(crate) fn core(&self) -> &'a PassCore<'a> {
        self.core
    }

    /// Returns the object. It is not necessarily being deleted: [`Teardown::cause`] tells why the node is removed.
    pub fn object(&self) -> &'a O::Object {
        self.pass.object
    }

    /// Returns the options of the controller.
    pub fn options(&self) -> &'a O::Options {
        self.pass.options
    }

    /// Returns the path of the node in the tree.
    pub fn path(&self) -> &Path<'a> {
        &self.path
    }

    /// Returns the key of the item that is removed; `None` without an `each` above.
    pub fn key(&self) -> Option<&'a str> {
        self.path.key()
    }

    /// Returns why the node is deprovisioned.
    pub fn cause(&self) -> Cause {
        self.cause
    }
}

impl<'a, O: Owner, P: Provisioner> Deref for Context<'a, O, P> {
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

impl<O: Owner, P: Provisioner> fmt::Debug for Context<'_, O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<O: Owner, P> fmt::Debug for Teardown<'_, O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Teardown").field("path", &self.path).field("cause", &self.cause).finish_non_exhaustive()
    }
}
