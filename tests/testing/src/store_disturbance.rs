//! `StoreDisturbance`: a change that another client makes to the buckets (key-value stores) in a test run, such as a deletion, and the text
//! form of the change.

use std::fmt;

/// What other clients, or the operations of a store, do to the buckets. A sample is here one whose kind is in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreDisturbance {
    /// A client puts the specs of the samples without any metadata.
    BareSpec,
    /// A client puts the samples as it has read them before they had finalizers and a status.
    Stale,
    /// A client deletes the samples. They are put again when the program is at rest.
    Deletion,
    /// A client purges the samples. They are put again when the program is at rest.
    Purge,
    /// A client purges the samples while no process of the program runs, and the store forgets that. They are put again when the
    /// program is at rest.
    PurgeWhileStopped,
    /// The watches are interrupted, and miss that a client puts the specs of the samples.
    Interruption,
    /// A client puts values that are no objects under the keys of the samples. The samples are put again when the program is at rest.
    Invalid,
    /// A client purges the samples and puts other objects, with other UIDs, under the same keys.
    Replacement,
    /// A client purges all objects in the buckets that are no samples.
    Children,
}

impl StoreDisturbance {
    pub(crate) const ALL: [Self; 9] = [
        Self::BareSpec,
        Self::Stale,
        Self::Deletion,
        Self::Purge,
        Self::PurgeWhileStopped,
        Self::Interruption,
        Self::Invalid,
        Self::Replacement,
        Self::Children,
    ];

    /// Returns the name of the disturbance in the text form of a schedule.
    fn name(self) -> &'static str {
        match self {
            Self::BareSpec => "spec",
            Self::Stale => "stale",
            Self::Deletion => "deletion",
            Self::Purge => "purge",
            Self::PurgeWhileStopped => "absence",
            Self::Interruption => "interruption",
            Self::Invalid => "invalid",
            Self::Replacement => "replacement",
            Self::Children => "children",
        }
    }

    /// Returns the disturbance with a name; `None` if no disturbance has it.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|disturbance| disturbance.name() == name)
    }

    /// Returns whether the samples no longer exist afterwards.
    pub(crate) fn removes_samples(self) -> bool {
        matches!(self, Self::Deletion | Self::Purge | Self::PurgeWhileStopped)
    }

    /// Returns whether the samples have to be put again afterwards.
    pub(crate) fn needs_restore(self) -> bool {
        self.removes_samples() || self == Self::Invalid
    }

    /// Returns whether the disturbance changes samples only, so that it makes no sense for a program without samples in buckets.
    pub(crate) fn needs_samples(self) -> bool {
        !matches!(self, Self::Interruption | Self::Children)
    }

    /// Returns whether the samples and their children stay the same objects.
    pub(crate) fn keeps_objects(self) -> bool {
        matches!(self, Self::BareSpec | Self::Stale | Self::Interruption | Self::Invalid)
    }
}

impl fmt::Display for StoreDisturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
