//! Runs a child process with a deadline, and keeps a limited part of its output.

use std::{
    io,
    process::{ExitStatus, Stdio},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    time::timeout,
};

/// The maximum number of bytes of one read.
const CHUNK: usize = 16 << 10;

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessLimits {
    pub(crate) deadline: Duration,
    /// The maximum number of bytes of the standard output. A process that writes more is killed.
    pub(crate) output: usize,
    /// The number of bytes at the end of the standard error that are kept; `None` if nobody reads it.
    pub(crate) errors: Option<usize>,
}

/// The output of a process that has ended.
pub(crate) struct ProcessOutput {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    /// The end of the standard error.
    pub(crate) stderr: Vec<u8>,
}

/// Why a run has no output.
#[derive(Debug)]
pub(crate) enum ProcessFailure {
    /// The process can't be started.
    NotStarted(io::Error),
    /// The output can't be read.
    Unreadable(io::Error),
    /// The output is too long.
    TooLong,
    /// The process was killed after this time.
    Deadline(Duration),
}

/// Runs a command with `input` as its standard input, waits for its end, and returns its output. Kills the process at the deadline, if it
/// writes more output than the limit, and if the future is dropped.
///
/// # Errors
/// Fails if the process can't be started, does not end in time, or writes too much.
pub(crate) async fn run(
    mut command: Command,
    input: &[u8],
    limits: ProcessLimits,
) -> Result<ProcessOutput, ProcessFailure> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    let stderr = if limits.errors.is_none() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(stderr).kill_on_drop(true);
    let mut child = command.spawn().map_err(ProcessFailure::NotStarted)?;
    let outcome = timeout(limits.deadline, communicate(&mut child, input, limits)).await;
    let outcome = outcome.unwrap_or(Err(ProcessFailure::Deadline(limits.deadline)));
    if outcome.is_err() {
        // `kill` fails only if the process has ended in the meantime.
        let _ = child.kill().await;
    }
    outcome
}

/// Writes the input of a process, reads its output, and waits for its end.
async fn communicate(child: &mut Child, input: &[u8], limits: ProcessLimits) -> Result<ProcessOutput, ProcessFailure> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async move {
        if let Some(mut stdin) = stdin {
            // The write fails if the process ends before it has read its input. The exit code and the output of the process show why.
            let _ = stdin.write_all(input).await;
        }
        Ok(())
    };
    let ((), stdout, stderr) = tokio::try_join!(
        write,
        read_whole(stdout, limits.output),
        read_end(stderr, limits.errors.unwrap_or_default())
    )?;
    let status = child.wait().await.map_err(ProcessFailure::Unreadable)?;
    Ok(ProcessOutput { status, stdout, stderr })
}

/// Reads a stream to its end, and returns its bytes; `None` counts as empty.
///
/// # Errors
/// Fails if the stream is longer than `max` bytes, of which it reads one more.
async fn read_whole(stream: Option<impl AsyncRead + Unpin>, max: usize) -> Result<Vec<u8>, ProcessFailure> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let mut limited = stream.take(max as u64 + 1);
        limited.read_to_end(&mut bytes).await.map_err(ProcessFailure::Unreadable)?;
    }
    if bytes.len() > max { Err(ProcessFailure::TooLong) } else { Ok(bytes) }
}

/// Reads a stream to its end, and returns its last `max` bytes; `None` counts as empty.
async fn read_end(stream: Option<impl AsyncRead + Unpin>, max: usize) -> Result<Vec<u8>, ProcessFailure> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    let Some(mut stream) = stream else { return Ok(bytes) };
    loop {
        let length = stream.read(&mut chunk).await.map_err(ProcessFailure::Unreadable)?;
        bytes.extend_from_slice(&chunk[..length]);
        // The start is removed only when there are more than twice `max` bytes, and at the end of the stream, since each removal moves
        // the remaining bytes.
        if bytes.len() > 2 * max || length == 0 && bytes.len() > max {
            bytes.drain(..bytes.len() - max);
        }
        if length == 0 {
            return Ok(bytes);
        }
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// The result of a script: its exit code, its output and its errors.
    type Ended = Result<(Option<i32>, String, String), ProcessFailure>;

    /// Runs a shell script, with a limit of 1 MiB for its output and 64 KiB for its errors.
    async fn script(script: &str, input: &[u8], deadline: Duration) -> Ended {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let limits = ProcessLimits { deadline, output: 1 << 20, errors: Some(64 << 10) };
        let output = run(command, input, limits).await?;
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ok((output.status.code(), text(output.stdout), text(output.stderr)))
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_process_gets_its_input_and_its_output_is_returned() {
        let output = script("cat; echo problem >&2; exit 3", b"values", LONG).await.unwrap();
        assert_eq!(output, (Some(3), "values".to_owned(), "problem\n".to_owned()));
        // The input is longer than the buffer of a pipe, and nobody reads it.
        let output = script("echo done", &vec![b' '; 1 << 20], LONG).await.unwrap();
        assert_eq!((output.0, &*output.1), (Some(0), "done\n"));
    }

    /// The second script writes its process id to a file, so that the test can see the end of the process after the abort of the future.
    #[tokio::test]
    async fn a_process_is_killed_at_its_deadline_and_with_its_future() {
        let start = Instant::now();
        let ended = script("exec sleep 60", b"", Duration::from_millis(100)).await;
        assert!(matches!(ended, Err(ProcessFailure::Deadline(_))), "{ended:?}");
        assert!(start.elapsed() < LONG);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("id");
        let text = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 60", file.display());
        let running = tokio::spawn(async move { script(&text, b"", LONG).await });
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        while !file.exists() {
            ticks.tick().await;
        }
        running.abort();
        assert!(running.await.is_err_and(|error| error.is_cancelled()));
        let id = std::fs::read_to_string(&file).unwrap();
        // If the process were not killed, it would run for a minute.
        while is_running(id.trim()) {
            ticks.tick().await;
            assert!(start.elapsed() < LONG);
        }
    }

    /// Returns whether a process with this id exists. A killed process exists until the runtime has collected its exit status.
    fn is_running(id: &str) -> bool {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("kill -0 {id}")]).stderr(Stdio::null());
        command.status().unwrap().success()
    }

    #[tokio::test]
    async fn the_output_is_limited_and_the_end_of_the_errors_is_kept() {
        // The process is killed when it exceeds the limit; otherwise it would write until the deadline.
        let ended = script("cat /dev/zero", b"", LONG).await;
        assert!(matches!(ended, Err(ProcessFailure::TooLong)), "{ended:?}");
        // The script writes 9 MB to the standard error, of which `script` keeps the last 64 KiB.
        let long = "head -c 9000000 /dev/zero | tr '\\0' 'a'";
        let (_, _, errors) = script(&format!("{{ {long}; echo end; }} >&2; exit 1"), b"", LONG).await.unwrap();
        assert!(errors.len() == 64 << 10 && errors.ends_with("aend\n"));
    }

    #[tokio::test]
    async fn a_program_that_does_not_exist_is_not_started() {
        let limits = ProcessLimits { deadline: LONG, output: 0, errors: None };
        let ended = run(Command::new("/none/helm"), b"", limits).await;
        assert!(matches!(ended, Err(ProcessFailure::NotStarted(_))));
    }
}
