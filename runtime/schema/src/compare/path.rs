//! Names the fields of an object by their paths.

/// Returns the path of a field; `.` for the object itself.
pub(super) fn root(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}
