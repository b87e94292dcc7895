//! Formats the path of a field for a message: the empty path of the object itself becomes `.`.

/// Returns the path as a message shows it: `.` for the object itself, whose path is empty.
pub(super) fn display_path(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}
