//! An operator that is written by hand: a garden has soil, a seedbox, and perhaps a shed. Each of its
//! bugs is one that operators had.

mod manifest;
mod pass;
mod planted;
mod watch;

use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use opgen::Environment;
use opgen_testing::{Manifests, Program};
pub use planted::planted;

/// What is wrong with the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    None,
    /// The finalizer is stored after the first child.
    FinalizerAfterSideEffect,
    /// The soil has no name of its own, and which it is stands in memory.
    CreateWithoutName,
    /// The status says of a newer spec what was done for an older one.
    StatusFromStaleRead,
    /// Nobody is told when a child goes.
    MissingWatch,
    /// The shed belongs to nobody.
    UnownedChild,
    /// The ticket has a generated name, which is noted a call later.
    NonIdempotentGenerateName,
    /// A shed that is not wanted any more stays.
    LeakedOnFlip,
    /// The role does not allow to delete.
    WrongRole,
    /// Every pass writes the time.
    HotLoop,
    /// The condition is written only when its status or its reason is another, not for its message.
    OldMessage,
    /// A conflict is taken for success.
    SwallowedConflict,
    /// The finalizer leaves before the children are gone.
    UngatedDelete,
    /// All children are waited for but one.
    OneUngated,
    /// The list of finalizers is written as a whole.
    OthersFinalizers,
    /// What is begun is taken for done (Sieve: intermediate state).
    IntermediateState,
    /// What an old list does not show is taken for deleted (Sieve: stale state).
    StaleState,
    /// What happened while nobody looked is never noticed (Sieve: unobserved state).
    UnobservedState,
}

impl Bug {
    pub fn is(self, other: Self) -> bool {
        self == other
    }
}

/// The name of the operator, and of its ServiceAccount.
pub const NAME: &str = "gardener";

#[derive(Clone, Copy, Debug)]
pub struct Gardener {
    pub bug: Bug,
    /// Whether it lists gardens from any cache of the server, and removes what belongs to none that it sees; one without bugs
    /// asks before that.
    pub weeds: bool,
}

impl Program for Gardener {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn namespace(&self) -> String {
        "gardener-system".to_owned()
    }

    fn manifests(&self) -> Result<Manifests, String> {
        Ok(manifest::manifests(self.bug))
    }

    fn longest_pause(&self) -> Duration {
        watch::RETRY * 2
    }

    fn run(&self, client: kube::Client, _: Environment) -> BoxFuture<'static, Result<(), String>> {
        watch::run(*self, client).boxed()
    }
}
