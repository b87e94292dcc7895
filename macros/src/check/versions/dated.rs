//! `Dated`: a change in `#[version(...)]`, with the index of the version that the change names.

use crate::attrs::versions::ChangeInput;

/// A change with the index of its version in the list of versions, the oldest first.
pub(super) struct Dated<'a> {
    pub(super) change: &'a ChangeInput,
    pub(super) version: usize,
}
