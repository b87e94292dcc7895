//! An operator that is written by hand: a garden has soil, a seedbox, and perhaps a shed. Each of its
//! bugs is one that operators had.

mod loss;
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
    /// What a garden has is deleted also where its deletion is to orphan that.
    OrphansDeleted,
    /// The list of finalizers is written as a whole.
    OthersFinalizers,
    /// What is done is known by the name of the garden and its generation.
    MemoryByName,
    /// What is begun is taken for done (Sieve: intermediate state).
    IntermediateState,
    /// What an old list does not show is taken for deleted (Sieve: stale state).
    StaleState,
    /// An edit deletes the seedbox and makes it anew.
    RemadeOnEdit,
    /// A new list of maps does.
    RemadeOnRelist,
    /// An edit deletes the claim of the cellar and makes it anew.
    ClaimRemade,
    /// A pass over a garden without a shed panics.
    PanicOnEdit,
    /// A pass over a garden without a shed asks for what the server refuses.
    RefusedOnEdit,
    /// A pass over a garden without a shed makes, again and again, an object that is there.
    ExistsOnEdit,
    /// It changes, again and again, one that isn't there.
    MissingOnEdit,
    /// It reads and writes, again and again, what the role doesn't allow.
    ForbiddenOnEdit,
    /// The teardown removes all Secrets of the namespace.
    OthersSecrets,
    /// Each edit gives the garden another password.
    RolledPassword,
    /// All gardens of a namespace have one shed.
    SharedName,
    /// There are more Pods than a cluster holds.
    Crowd,
    /// What happened while nobody looked is never noticed (Sieve: unobserved state).
    UnobservedState,
    /// A call waits for its answer however long it takes.
    NoDeadline,
    /// What an earlier release has made is deleted, and then made again.
    ReplacedOnUpgrade,
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
    /// Whether it reads its gardens every few seconds.
    pub polls: bool,
    /// Whether a garden without a shed needs a permit, for which it waits; observedGeneration is what was done last.
    pub patient: bool,
}

impl Gardener {
    pub fn new(bug: Bug) -> Self {
        Self { bug, weeds: false, polls: false, patient: false }
    }
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

    fn run(&self, client: kube::Client, environment: Environment) -> BoxFuture<'static, Result<(), String>> {
        watch::run(*self, client, environment).boxed()
    }
}
