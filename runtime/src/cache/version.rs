//! `ResourceVersion`: the version of an object. `WatchProgress`: the version up to which a watch has filled a store.

use std::{cmp::Ordering, fmt};

/// A resourceVersion: a number for objects of an API server (or a revision of a key-value bucket), else opaque text.
///
/// Numbers compare as numbers. Text is equal or not comparable; `partial_cmp` then returns `None`.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResourceVersion {
    /// A decimal number without leading zeros.
    Number(u64),
    /// Any other text; empty if there is no version.
    Text(Box<str>),
}

impl ResourceVersion {
    /// Returns the version as a number, or `None` if it can't be compared.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }
}

impl From<&str> for ResourceVersion {
    fn from(text: &str) -> Self {
        // Text that a number would not reproduce ("+1", "007") stays text.
        match text.parse::<u64>() {
            Ok(number) if !text.starts_with('+') && (text == "0" || !text.starts_with('0')) => Self::Number(number),
            _ => Self::Text(text.into()),
        }
    }
}

impl From<u64> for ResourceVersion {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl PartialOrd for ResourceVersion {
    /// Compares numbers as numbers. A text is equal to the same text, and otherwise not comparable.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Some(a.cmp(b)),
            _ if self == other => Some(Ordering::Equal),
            _ => None,
        }
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The version up to which a watch has filled a store. Own writes are compared with it before a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchProgress {
    /// The first listing is not complete.
    NotSynced,
    /// The store contains everything up to this version.
    Version(u64),
    /// The source's versions are not numbers.
    Incomparable,
}

impl WatchProgress {
    /// Returns whether the store may not contain the write with this version yet. Incomparable versions never block.
    pub fn is_behind(self, version: u64) -> bool {
        match self {
            Self::NotSynced => true,
            Self::Version(current) => current < version,
            Self::Incomparable => false,
        }
    }

    /// Returns the progress, raised to `version` if it is lower and comparable.
    #[must_use]
    pub fn at_least(self, version: u64) -> Self {
        match self {
            Self::Version(current) => Self::Version(current.max(version)),
            other => other,
        }
    }
}

/// The versions that a watch has reported.
#[derive(Default)]
pub(super) struct ReportedVersions {
    highest: u64,
    incomparable: bool,
    /// The maximum version in the current listing; `None` if no listing runs. The objects of a listing are not ordered by version, so
    /// the maximum counts for `highest` only when the listing is complete.
    listing_maximum: Option<u64>,
}

impl ReportedVersions {
    /// Records the version of an object that the watch or a listing reports. During a listing the version does not count as progress yet.
    pub(super) fn record(&mut self, version: &ResourceVersion) {
        match (version.number(), &mut self.listing_maximum) {
            (Some(number), Some(listing_maximum)) => *listing_maximum = number.max(*listing_maximum),
            (Some(number), None) => self.highest = number.max(self.highest),
            (None, _) => self.incomparable = true,
        }
    }

    /// Begins a listing, and drops the versions of an earlier listing that did not end.
    pub(super) fn begin_listing(&mut self) {
        self.listing_maximum = Some(0);
    }

    /// Ends a listing: its maximum version now counts as progress.
    pub(super) fn end_listing(&mut self) {
        self.highest = self.highest.max(self.listing_maximum.take().unwrap_or_default());
    }

    /// Returns the progress of a store whose first listing is complete.
    pub(super) fn progress(&self) -> WatchProgress {
        match self.incomparable {
            true => WatchProgress::Incomparable,
            false => WatchProgress::Version(self.highest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ResourceVersion;
    use std::cmp::Ordering;

    #[test]
    fn numeric_versions_compare_as_numbers() {
        assert!(ResourceVersion::from("9") < ResourceVersion::from("10"));
        assert_eq!(ResourceVersion::from("10"), ResourceVersion::Number(10));
    }

    #[test]
    fn opaque_versions_are_equal_or_not_comparable() {
        let (a, b) = (ResourceVersion::from("a"), ResourceVersion::from("b"));
        assert_eq!(a.partial_cmp(&b), None);
        assert_eq!(a.partial_cmp(&a.clone()), Some(Ordering::Equal));
        assert_eq!(a.partial_cmp(&ResourceVersion::Number(1)), None);
    }

    #[test]
    fn version_is_formatted_as_parsed() {
        for text in ["0", "12", "007", "+7", "", "v3", "18446744073709551616"] {
            assert_eq!(ResourceVersion::from(text).to_string(), text);
        }
    }
}
