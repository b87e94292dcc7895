//! `Dated`: a change with the position of its version.

use crate::attrs::versions::ChangeInput;

/// A change with the position of its version.
pub(super) struct Dated<'a> {
    pub(super) change: &'a ChangeInput,
    pub(super) version: usize,
}
