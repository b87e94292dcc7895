//! Defines `ResourceOptions`: the options of a tree node that builds objects of one kind, such as the propagation policy of deletions.

use jiff::SignedDuration;
use std::time::Duration;

/// The propagation policy with which the operator deletes an object: when the API server removes it, compared with its
/// dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionPropagation {
    /// The API server removes the object after the dependents whose owner reference has `blockOwnerDeletion: true`, for
    /// example a Deployment after its Pods.
    Foreground,
    /// The API server removes the object at once, and the garbage collector deletes its dependents later.
    Background,
}

impl DeletionPropagation {
    /// Returns the text by which `resource(delete = "...")` names the policy.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Foreground => "foreground",
            Self::Background => "background",
        }
    }
}

/// The options of a resource node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceOptions {
    /// Whether an object is created once, and later passes leave its content unchanged.
    pub once: bool,
    /// Whether the node takes over an existing object of the same name that has no controller.
    pub adopt: bool,
    /// The field managers whose fields the operator takes over together with an object. The object is a foreign one, or one that
    /// an earlier operator created for the same owner; the latter needs no `adopt`.
    pub adopt_from: &'static [&'static str],
    /// Whether the node is skipped while the cluster doesn't serve its kind.
    pub if_api: bool,
    /// Whether the Pods of a workload that is not ready are searched for the cause.
    pub pods: bool,
    /// Whether the node belongs to an earlier release: its remaining objects are removed.
    pub retired: bool,
    /// The propagation policy of deletions. `None` for the default: `Foreground` for the groups `apps` and `batch`, `Background`
    /// for others.
    pub delete: Option<DeletionPropagation>,
    /// The time after which an object that is not ready makes the owner stalled. `None` for never.
    pub timeout: Option<Duration>,
}

impl ResourceOptions {
    /// The options of a plain resource node: objects are applied if they differ, and foreign objects are not touched.
    pub const DEFAULT: Self = Self {
        once: false,
        adopt: false,
        adopt_from: &[],
        if_api: false,
        pods: false,
        retired: false,
        delete: None,
        timeout: None,
    };
    /// The options of a retired node: its remaining objects are removed.
    pub const RETIRED: Self = Self { retired: true, ..Self::DEFAULT };
}

/// Formats a duration with units, for example `10m` or `1h 30m`.
pub(crate) fn duration_text(duration: Duration) -> String {
    match SignedDuration::try_from(duration) {
        Ok(duration) => format!("{duration:#}"),
        // The seconds exceed the range of `SignedDuration`.
        Err(_) => format!("{}s", duration.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_written_with_units() {
        assert_eq!(duration_text(Duration::from_secs(600)), "10m");
        assert_eq!(duration_text(Duration::from_millis(5_400_500)), "1h 30m 500ms");
        assert_eq!(duration_text(Duration::MAX), format!("{}s", u64::MAX));
    }
}
