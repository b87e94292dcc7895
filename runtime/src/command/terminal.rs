//! Runs a verb (subcommand) on a tokio runtime. Prints text to standard output and warnings to standard error.

use crate::manifest::exit_with_error;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Runs a verb on a new multi-threaded runtime and returns its exit code.
pub(crate) fn with_runtime(work: impl Future<Output = ExitCode>) -> ExitCode {
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => {
            let code = runtime.block_on(work);
            // The verb has already waited for the tasks that must finish, so the shutdown does not wait for the others.
            runtime.shutdown_background();
            code
        }
        Err(error) => exit_with_error(&error, None),
    }
}

/// Writes a warning to standard error.
pub(crate) fn warn(text: &str) {
    // If standard error is closed, the answer is printed nevertheless.
    let _ = writeln!(io::stderr(), "warning: {text}");
}

/// Writes text to standard output and returns the exit code.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut out = io::stdout();
    // Without the flush, text without a line break at its end would be written at exit, where errors are ignored.
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader such as `head` may close the pipe early.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => exit_with_error(&error, None),
    }
}
