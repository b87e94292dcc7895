//! What a provisioner is handed: its object, and what it may do.

mod calls;
mod draft;

use crate::{
    engine::pass::{Core, Pass},
    managed::{Each, Managed, Owner},
    shape::{Path, Provisioner},
};
pub use calls::{Calls, PartCalls, References};
pub use draft::Draft;
pub(crate) use draft::Unversioned;

use std::{fmt, marker::PhantomData, ops::Deref, sync::Arc};

/// Why something is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The owner is being deleted.
    Deleting,
    /// The predicate of a `when` says no.
    NotWanted,
    /// The item of an `each` is gone.
    KeyGone,
}

/// The way up: the object as it is wanted, its status, and the calls that the node `P` has declared.
pub struct Context<'a, O: Owner, P: Provisioner> {
    pass: &'a Pass<'a, O::Object, O::Options>,
    item: &'a O::Item,
    taken: &'a P::Takes,
    path: Path<'a>,
    /// What a build function depends on here, as a number; `None` if that can't be said.
    inputs: Option<u64>,
    /// Of what the functions of `each` have read for the items of this group's children.
    of_items: Unversioned,
    calls: Calls<'a, P>,
}

/// The way down: identity and cause. What is wanted doesn't matter any more, so a build function is never called.
pub struct Teardown<'a, O: Owner, P> {
    pass: &'a Pass<'a, O::Object, O::Options>,
    path: Path<'a>,
    cause: Cause,
    calls: Calls<'a, P>,
    owner: PhantomData<fn() -> O>,
}

impl<'a, O: Owner, P: Provisioner> Context<'a, O, P> {
    pub(crate) fn root(pass: &'a Pass<'a, O::Object, O::Options>) -> Self
    where
        O: Owner<Item = ()>,
        P: Provisioner<Takes = ()>,
    {
        let (inputs, calls) = (Some(pass.core.inputs), Calls::new(&pass.core));
        Self { pass, item: &(), taken: &(), path: Path::ROOT, inputs, of_items: Unversioned::default(), calls }
    }

    /// The context of a child that is handed `taken`.
    pub(crate) fn below<'b, Q: Provisioner>(
        &'b self,
        name: &'b str,
        taken: &'b Q::Takes,
        inputs: Option<u64>,
    ) -> Context<'b, O, Q> {
        let (path, calls) = (self.path.child(name), Calls::new(&self.pass.core));
        Context { pass: self.pass, item: self.item, taken, path, inputs, of_items: Unversioned::default(), calls }
    }

    /// The context of one item's child.
    pub(crate) fn of_item<'b, I, Q>(
        &'b self,
        (name, key): (&'b str, &'b str),
        item: &'b I,
        taken: &'b Q::Takes,
        inputs: Option<u64>,
    ) -> Context<'b, Each<O, I>, Q>
    where
        I: Send + Sync + 'static,
        Q: Provisioner,
    {
        let (path, calls) = (self.path.child(name).keyed(key), Calls::new(&self.pass.core));
        Context { pass: self.pass, item, taken, path, inputs, of_items: Unversioned::default(), calls }
    }

    /// The way down from here, for what is not wanted any more.
    pub(crate) fn turned(&self, cause: Cause) -> Teardown<'a, O, P> {
        Teardown::at(self.pass, self.path, cause)
    }

    pub(crate) fn core(&self) -> &'a Core<'a> {
        &self.pass.core
    }

    /// What a build function sees; `unversioned` notes what it reads.
    pub(crate) fn draft<'c>(&'c self, unversioned: &'c Unversioned) -> Draft<'c, O> {
        let environment = &self.pass.core.shared.environment;
        Draft::new((self.pass.object, self.item), self.pass.options, environment, unversioned)
    }

    /// What a function of `when`, or one that isn't skipped, sees: nobody asks what it has read.
    pub(crate) fn draft_of_question(&self) -> Draft<'_, O> {
        self.draft(&self.pass.core.unversioned)
    }

    /// What a function of `each` sees: the items depend on all that it reads.
    pub(crate) fn draft_of_items(&self) -> Draft<'_, O> {
        self.draft(&self.of_items)
    }

    /// What the children of items depend on, once the functions of `each` have run.
    pub(crate) fn inputs_of_items(&self, inputs: Option<u64>) -> Option<u64> {
        self.of_items.limit(inputs)
    }

    pub(crate) fn subject(&self) -> &'a O::Subject {
        O::subject(self.pass.object, self.item)
    }

    pub(crate) fn inputs(&self) -> Option<u64> {
        self.inputs
    }

    /// The object, as the cache had it when the pass began.
    pub fn object(&self) -> &'a O::Object {
        self.pass.object
    }

    /// The item that this part of the tree is for; `()` where there is no `each` above.
    pub fn item(&self) -> &'a O::Item {
        self.item
    }

    /// What `takes(...)` names, in its order.
    pub fn taken(&self) -> &'a P::Takes {
        self.taken
    }

    /// Hands a value to the nodes that read this one; it holds for this pass.
    pub fn give(&self, value: P::Gives) {
        self.core().made.give(&self.path.to_string(), Arc::new(value));
    }

    /// The options of the controller.
    pub fn options(&self) -> &'a O::Options {
        self.pass.options
    }

    /// The node's place in the tree.
    pub fn path(&self) -> &Path<'a> {
        &self.path
    }

    /// What the conditions say if the pass ends well: one PascalCase word, and a sentence that is the same as long as the state
    /// is. The last word counts. Default: `Provisioned`.
    pub fn report(&self, reason: &str, message: impl Into<String>) {
        *self.core().left.said.lock() = Some((reason.to_owned(), message.into()));
    }

    /// Reads or sets fields of the status, in memory. They are written once, with the conditions, however the pass ends
    /// (unikorn R6).
    pub fn status<T>(&self, edit: impl FnOnce(&mut <O::Object as Managed>::Status) -> T) -> T {
        self.pass.edit_status(edit)
    }
}

impl<'a, O: Owner, P> Teardown<'a, O, P> {
    pub(crate) fn root(pass: &'a Pass<'a, O::Object, O::Options>) -> Self {
        Self::at(pass, Path::ROOT, Cause::Deleting)
    }

    fn at(pass: &'a Pass<'a, O::Object, O::Options>, path: Path<'a>, cause: Cause) -> Self {
        Self { pass, path, cause, calls: Calls::new(&pass.core), owner: PhantomData }
    }

    pub(crate) fn below<'b, Q>(&'b self, name: &'b str) -> Teardown<'b, O, Q> {
        Teardown::at(self.pass, self.path.child(name), self.cause)
    }

    /// The way down for one item that is given up.
    pub(crate) fn of_item<'b, I, Q>(
        &'b self,
        name: &'b str,
        key: Option<&'b str>,
        cause: Cause,
    ) -> Teardown<'b, Each<O, I>, Q>
    where
        I: Send + Sync + 'static,
    {
        let path = self.path.child(name);
        Teardown::at(self.pass, key.map_or(path, |key| path.keyed(key)), cause)
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

    /// The key of the item that goes, below `each`.
    pub fn key(&self) -> Option<&'a str> {
        self.path.key()
    }

    /// Why it goes.
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
