//! What a provisioner is handed: its object, and what it may do.

mod calls;
mod path;

pub use calls::Calls;
pub use path::Path;

use crate::{
    managed::{Managed, Owner},
    pass::{Core, Pass},
};
use std::{fmt, ops::Deref};

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
