//! The version of an object, and how far a watch has come.

use std::{cmp::Ordering, fmt};

/// A resourceVersion: a number wherever the API server is one (or a key-value bucket has revisions), else opaque text.
///
/// Numbers compare as numbers. Text is only ever equal or not comparable, which `partial_cmp` says with `None`.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResourceVersion {
    /// A decimal number without leading zeros.
    Number(u64),
    /// Anything else; empty where there is none.
    Text(Box<str>),
}

impl ResourceVersion {
    /// The version as a number, or `None` where versions can't be compared.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }
}

impl From<&str> for ResourceVersion {
    fn from(text: &str) -> Self {
        // Text that would not be written back the same ("+1", "007") is not the number it seems to be.
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

/// How far a store has followed its watch: what own writes are compared with before a pass [Y1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// The first listing is not complete.
    Nothing,
    /// Everything up to this version is in the store.
    Version(u64),
    /// The source's versions are not numbers.
    Incomparable,
}

impl Seen {
    /// Whether a write that got this version may still be missing. Incomparable versions never block [Y2].
    pub fn is_behind(self, written: u64) -> bool {
        match self {
            Self::Nothing => true,
            Self::Version(seen) => seen < written,
            Self::Incomparable => false,
        }
    }

    /// The same, where something else says that everything up to `version` is in the store.
    #[must_use]
    pub fn at_least(self, version: u64) -> Self {
        match self {
            Self::Version(seen) => Self::Version(seen.max(version)),
            other => other,
        }
    }
}

/// The versions a watch has shown.
#[derive(Default)]
pub(super) struct Versions {
    highest: u64,
    incomparable: bool,
    /// The objects of a listing come in no order of versions, so what they show counts only when it is complete.
    listed: Option<u64>,
}

impl Versions {
    pub(super) fn note(&mut self, version: &ResourceVersion) {
        match (version.number(), &mut self.listed) {
            (Some(number), Some(listed)) => *listed = number.max(*listed),
            (Some(number), None) => self.highest = number.max(self.highest),
            (None, _) => self.incomparable = true,
        }
    }

    pub(super) fn begin_listing(&mut self) {
        self.listed = Some(0);
    }

    pub(super) fn end_listing(&mut self) {
        self.highest = self.highest.max(self.listed.take().unwrap_or_default());
    }

    pub(super) fn seen(&self) -> Seen {
        match self.incomparable {
            true => Seen::Incomparable,
            false => Seen::Version(self.highest),
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
    fn version_is_shown_as_it_came() {
        for text in ["0", "12", "007", "+7", "", "v3", "18446744073709551616"] {
            assert_eq!(ResourceVersion::from(text).to_string(), text);
        }
    }
}
