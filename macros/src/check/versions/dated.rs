//! `Dated`: a change, and the position of the version that has it in its attribute.

use crate::attrs::versions::ChangeInput;

/// A change with the position of its version.
pub(super) struct Dated<'a> {
    pub(super) change: &'a ChangeInput,
    pub(super) version: usize,
}
