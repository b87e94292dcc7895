//! `SourceLocation`: a line of the source code that declares a node or a permission.

/// A line of source code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLocation {
    /// The file, as the compiler was told its name.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

impl SourceLocation {
    /// Nowhere in particular: what the edge to the node says counts.
    pub const UNKNOWN: Self = Self { file: "", line: 0 };
}
