//! Checks that a report can be written to its path, before the command does anything else.

use std::path::Path;

use crate::error::{Error, Result};

/// Fails if the folder of `path` does not exist, or if `path` is no regular file: a device or a pipe would be replaced by a file, or
/// block the command.
pub(crate) fn check(path: &Path) -> Result<()> {
    // The parent of a file name without a folder is empty.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() || path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        let error = Error::usage(format!("failed to write the report to `{}`", path.display()));
        return Err(error.hint("use a file in an existing folder, such as `report.html`"));
    }
    Ok(())
}
