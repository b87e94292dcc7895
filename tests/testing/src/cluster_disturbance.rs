//! `ClusterDisturbance`: an event in the other clusters where an operator has objects, such as a network partition, and the text form of
//! the event.

use std::fmt;

/// What happens to all clusters of remote nodes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClusterDisturbance {
    /// No connection to them works for a minute and a half.
    Partition,
    /// They accept only new credentials, which are in the Secrets a second later.
    Credentials,
    /// Another client deletes all objects in them.
    Emptying,
    /// They end, with their Secrets, and empty ones with the same names and addresses replace them 20 seconds later.
    Replacement,
    /// They are restored from a backup, and their resourceVersions go on from then.
    Restore,
    /// They are restored from a backup, and their resourceVersions go on far ahead.
    RestoreAhead,
}

impl ClusterDisturbance {
    pub(crate) const ALL: [Self; 6] =
        [Self::Partition, Self::Credentials, Self::Emptying, Self::Replacement, Self::Restore, Self::RestoreAhead];

    /// Returns whether a trial restarts the program for this disturbance, and causes it only while the program is idle. Kubernetes requires
    /// a restart of clients after a restore from a backup, because the versions of objects may be lower than before.
    pub(crate) fn needs_restart(self) -> bool {
        matches!(self, Self::Restore | Self::RestoreAhead)
    }

    /// Returns whether the disturbance leaves the objects in the clusters unchanged.
    pub(crate) fn leaves_objects(self) -> bool {
        matches!(self, Self::Partition | Self::Credentials)
    }

    /// Returns the name of the disturbance in the text form of a schedule.
    fn name(self) -> &'static str {
        match self {
            Self::Partition => "partition",
            Self::Credentials => "credentials",
            Self::Emptying => "emptying",
            Self::Replacement => "replacement",
            Self::Restore => "restore",
            Self::RestoreAhead => "restoreAhead",
        }
    }

    /// Returns the disturbance with a name; `None` if no disturbance has it.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|disturbance| disturbance.name() == name)
    }
}

impl fmt::Display for ClusterDisturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
