//! Opens a CPU profile in a browser with the web page of pprof.

use crate::command::profile::error::ProfileError;
use std::{io, path::Path, process::Command};

/// The commands that show a profile in a browser, the preferred one first: pprof, and the one of the Go toolchain.
const VIEWERS: [&[&str]; 2] = [&["pprof", "-http=localhost:0"], &["go", "tool", "pprof", "-http=localhost:0"]];

/// Shows a profile until the user interrupts the viewer.
pub(super) fn open(file: &Path) -> Result<(), ProfileError> {
    open_with(&VIEWERS, file)
}

/// Opens the file with the first of the viewers that is installed, and waits until the viewer ends.
fn open_with(viewers: &[&[&str]], file: &Path) -> Result<(), ProfileError> {
    let mut missing = io::Error::from(io::ErrorKind::NotFound);
    for viewer in viewers {
        let Some((program, args)) = viewer.split_first() else { continue };
        match Command::new(program).args(args).arg(file).status() {
            // A viewer that the user ends with a signal has no exit code.
            Ok(status) if status.success() || status.code().is_none() => return Ok(()),
            Ok(status) => return Err(ProfileError::ViewerFailed { program: viewer.join(" "), status }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing = error,
            Err(source) => return Err(ProfileError::Viewer { program: viewer.join(" "), source }),
        }
    }
    Err(ProfileError::Viewer { program: "pprof".to_owned(), source: missing })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_first_viewer_that_is_installed_opens_the_profile() {
        let file = Path::new("demo.pb");
        assert!(open_with(&[&["opgen-no-such-program"], &["true"]], file).is_ok());
        let failed = open_with(&[&["false"], &["true"]], file);
        assert!(matches!(failed, Err(ProfileError::ViewerFailed { .. })), "{failed:?}");
        let missing = open_with(&[&["opgen-no-such-program"]], file);
        assert!(missing.is_err_and(|error| error.hint().is_some_and(|hint| hint.contains("--no-open"))));
    }
}
