//! `Gardener`: a hand-written operator for tests. A garden has soil, a seedbox and optionally a shed. Each bug that it can have is one that
//! real operators had.
// Each test uses some of its bugs.
#![allow(dead_code)]

mod expectation;
mod manifest;
mod misbehavior;
mod pass;
mod watch;
mod webhook;

use std::{sync::Arc, time::Duration};

pub use expectation::gardener_with;
use futures::future::{BoxFuture, FutureExt as _};
use opgen::environment::Environment;
use opgen_testing::{Manifests, Program, ProgramWebhooks};

/// The bug of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    None,
    /// The finalizer is stored after the first child.
    FinalizerAfterSideEffect,
    /// The soil has a generated name, which is only in memory.
    CreateWithoutName,
    /// The status has the generation of a newer spec than the one that was applied.
    StatusFromStaleRead,
    /// Children are not watched.
    MissingWatch,
    /// The shed has no owner.
    UnownedChild,
    /// The ticket has a generated name, which is stored one call later.
    NonIdempotentGenerateName,
    /// A shed that the spec disables is not deleted.
    LeakedOnFlip,
    /// The role lacks the verb `delete`.
    WrongRole,
    /// Every pass writes a counter to the status.
    HotLoop,
    /// The condition is written only if its status or its reason changed, not for its message.
    OldMessage,
    /// A conflict counts as success.
    SwallowedConflict,
    /// The finalizer is removed before the children are gone.
    UngatedDelete,
    /// The teardown waits for all children but one.
    OneUngated,
    /// The children are deleted although the propagation policy is `Orphan`.
    OrphansDeleted,
    /// The whole list of finalizers is overwritten.
    OthersFinalizers,
    /// Finished work is remembered by the name of the garden and its generation.
    MemoryByName,
    /// A started step counts as finished (Sieve: intermediate state).
    IntermediateState,
    /// An object that a stale list lacks counts as deleted (Sieve: stale state).
    StaleState,
    /// An edit recreates the seedbox.
    RemadeOnEdit,
    /// A new list of ConfigMaps recreates the seedbox.
    RemadeOnRelist,
    /// An edit recreates the claim of the cellar.
    ClaimRemade,
    /// A pass over a garden without a shed panics.
    PanicOnEdit,
    /// A pass over a garden without a shed makes a write that the server rejects.
    RefusedOnEdit,
    /// A pass over a garden without a shed creates an object that exists.
    ExistsOnEdit,
    /// A pass over a garden without a shed patches an object that does not exist.
    MissingOnEdit,
    /// A pass over a garden without a shed patches an object that the role does not allow.
    ForbiddenOnEdit,
    /// The teardown deletes all Secrets of the namespace.
    OthersSecrets,
    /// Each edit generates another password.
    RolledPassword,
    /// All gardens of a namespace share one shed.
    SharedName,
    /// A ReplicaSet has more Pods than a cluster can run.
    Crowd,
    /// Only events are handled, not the differences of a new list (Sieve: unobserved state).
    UnobservedState,
    /// Calls have no timeout.
    NoDeadline,
    /// A write that fails because the server can't call a webhook counts as success.
    SwallowedWebhookFailure,
    /// A write that a webhook denies counts as success: the webhook might allow it the next time.
    FinalDenial,
    /// Children of an older release are deleted and created again.
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
    /// Whether it lists gardens at any version and removes children without a garden; without bugs, it makes a live read first.
    pub weeds: bool,
    /// Whether it reads its gardens every few seconds.
    pub polls: bool,
    /// Whether a garden without a shed waits for a permit; `observedGeneration` is that of the last applied spec.
    pub waits_for_permit: bool,
    /// Whether a webhook validates its gardens and all ConfigMaps.
    pub validates: bool,
}

impl Gardener {
    pub fn new(bug: Bug) -> Self {
        Self { bug, weeds: false, polls: false, waits_for_permit: false, validates: false }
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
        Ok(manifest::manifests(self.bug, self.validates))
    }

    fn webhooks(&self) -> Option<ProgramWebhooks> {
        self.validates
            .then(|| ProgramWebhooks::new(webhook::URL, Arc::new(|request, _| webhook::allow(request).boxed())))
    }

    fn longest_pause(&self) -> Duration {
        watch::RETRY * 2
    }

    fn run(&self, client: kube::Client, environment: Environment) -> BoxFuture<'static, Result<(), String>> {
        watch::run(*self, client, environment).boxed()
    }
}
