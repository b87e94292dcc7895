//! Defines `SourceLocation`, the line of source code that declares a node or a permission.

/// A line of source code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLocation {
    /// The path of the file as the compiler knows it (`file!()`).
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

impl SourceLocation {
    /// No location of its own; the location of the edge to the node applies.
    pub const UNKNOWN: Self = Self { file: "", line: 0 };
}
