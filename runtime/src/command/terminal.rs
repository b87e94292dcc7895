//! Runs a verb on a tokio runtime, and prints its output.

use crate::manifest::failed;
use std::{
    io::{self, Write},
    process::ExitCode,
};

pub(crate) fn with_runtime(work: impl Future<Output = ExitCode>) -> ExitCode {
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => {
            let code = runtime.block_on(work);
            // What is still running was given its time.
            runtime.shutdown_background();
            code
        }
        Err(error) => failed(&error, None),
    }
}

pub(crate) fn print(text: &str) -> ExitCode {
    let mut out = io::stdout();
    // What has no line break at its end is else written where nobody looks at the error.
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough ends the output.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => failed(&error, None),
    }
}
