//! `VariantChange`: an enum variant that only one of two versions has, or that has a different name in each.

use serde_json::Value;

/// A change of the variants of an enum.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum VariantChange {
    /// Only the newer version has the variant. The older one shows a value instead.
    Added(&'static str, fn() -> Option<Value>),
    /// Only the older version has the variant. The newer one shows a value instead.
    Removed(&'static str, fn() -> Option<Value>),
    /// The older version has the first name, the newer one the second.
    Renamed(&'static str, &'static str),
}
