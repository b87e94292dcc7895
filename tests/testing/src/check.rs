//! `Check`: the checks of a trial (a test of an operator with injected faults), in the order in which they run.

use std::fmt;

use serde::Serialize;

/// A property that a trial checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Check {
    /// The program comes to rest after the samples are created, and removes all of its objects after they are deleted.
    Convergence,
    /// At rest, the program makes no calls, and neither does a new process.
    SteadyState,
    /// A stop before or after any call does not change the final state.
    Stop,
    /// Two stops do not change the final state.
    TwoStops,
    /// A new process that starts from a stale list does not change the final state. Only for lists that accept any version.
    StaleList,
    /// A deletion at any call removes all children, or orphans them with that propagation policy; and a new object of the same
    /// name inherits nothing from the deleted one.
    Deletion,
    /// The finalizer stays until the children are gone, and foreign finalizers stay as they are.
    Finalizers,
    /// A child that another client deletes is created again, also if no watch delivers the event.
    Repair,
    /// A second object of the same kind, and the deletion of either, does not affect the other one's children.
    Isolation,
    /// An edit leads to the same state as a new object with that spec, and an undone edit to the state before.
    Edit,
    /// Random faults do not change the final state.
    RandomFaults,
    /// A webhook of the program that is down, is slow or returns an invalid response does not change the final state. The trial
    /// repeats its own writes until the webhook responds again. Only for programs with
    /// [webhooks](crate::Program::webhooks). A mutating webhook with the failure policy `Ignore` has no faults, since the API server
    /// then stores objects without its changes.
    Webhooks,
    /// A partition, changed credentials, an emptied, a replaced and a restored cluster of a remote node do not change the final state. Only
    /// for programs with objects in other clusters.
    RemoteClusters,
    /// Other clients of the buckets, and interruptions of watches, do not change the final state: puts of bare specs and of stale values,
    /// deletions and purges, also while the program is stopped, values that are no objects, and new objects in place of others. After a
    /// deletion neither children nor entries are left. Only for programs with
    /// [kinds in buckets](crate::Manifests::install).
    Buckets,
    /// A failed call to an external service, and a change or a deletion of its things by another client, do not change the final state:
    /// there is no second thing, none is left after the deletion, and a thing that differs is repaired. An exhausted quota is reported in
    /// a condition and leads to no endless calls. Only for trials [with a service](crate::trial_with_service). Stops before and after its
    /// calls are a part of [`Check::Stop`].
    ExternalService,
    /// An upgrade and a downgrade keep the objects that both releases want, and lead to the state of each release. It needs
    /// [`Trial::upgrades_from`](crate::Trial::upgrades_from).
    Upgrade,
    /// The role grants every permission that the program uses, and no other.
    Role,
}

impl Check {
    /// All checks in the order in which they run.
    pub const ALL: &'static [Self] = &[
        Self::Convergence,
        Self::SteadyState,
        Self::Stop,
        Self::TwoStops,
        Self::StaleList,
        Self::Deletion,
        Self::Finalizers,
        Self::Repair,
        Self::Isolation,
        Self::Edit,
        Self::RandomFaults,
        Self::Webhooks,
        Self::RemoteClusters,
        Self::Buckets,
        Self::ExternalService,
        Self::Upgrade,
        Self::Role,
    ];
}

impl fmt::Display for Check {
    /// Writes the name of the check in reports, padded as the format asks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Convergence => "convergence",
            Self::SteadyState => "steady state",
            Self::Stop => "stop at every call",
            Self::TwoStops => "two stops",
            Self::StaleList => "start with a stale list",
            Self::Deletion => "deletion at every call",
            Self::Finalizers => "foreign finalizers",
            Self::Repair => "repair of deleted objects",
            Self::Isolation => "isolation of two objects",
            Self::Edit => "edits",
            Self::RandomFaults => "random faults",
            Self::Webhooks => "faults of webhooks",
            Self::RemoteClusters => "disturbances of other clusters",
            Self::Buckets => "disturbances of buckets",
            Self::ExternalService => "external services",
            Self::Upgrade => "upgrade and downgrade",
            Self::Role => "role",
        })
    }
}
