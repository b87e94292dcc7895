//! Implements the verb `rbac`: explains the operator's rights, and compares them with an audit log.

use crate::{
    command::terminal::print,
    manager::operator::Operator,
    manifest::{Describe, OutputFormat, Project, exit_with_error, explain, explain_json, verify},
};
use std::{
    fs::{File, Metadata},
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum RbacVerb {
    /// Show the origin of every rule of the role: the reconcile loop, or a line of code
    Explain {
        /// Output format
        #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
        output: OutputFormat,
    },
    /// Compare the operator's requests with the rights of its role; exit with 1 if they differ
    Verify(VerifyArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// The audit log of the API server, as JSON lines; `-` for standard input
    #[arg(value_name = "AUDIT.log")]
    log: PathBuf,
    /// The user whose requests are compared; by default the operator's ServiceAccount
    #[arg(long)]
    user: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: OutputFormat,
}

impl RbacVerb {
    /// Prints the rights or compares them with an audit log, and returns the exit code.
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        let project = match operator.project() {
            Ok(project) => project,
            Err(error) => return exit_with_error(&error, None),
        };
        match self {
            Self::Explain { output: OutputFormat::Text } => print(&explain(&project)),
            Self::Explain { output: OutputFormat::Json } => print(&format!("{}\n", explain_json(&project))),
            Self::Verify(args) => args.run(&project),
        }
    }
}

/// The audit log can't be opened.
#[derive(Debug, thiserror::Error)]
#[error("failed to open {}", path.display())]
struct LogOpenError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Opens a regular file, or a pipe that a shell created for this process. It refuses devices, which never end, and named pipes,
/// which may have no writer.
fn open(path: &Path) -> io::Result<File> {
    let is_shell_pipe = ["/dev/fd/", "/proc/self/fd/"].iter().any(|folder| path.starts_with(folder));
    let metadata = path.metadata()?;
    let is_readable = metadata.is_file() || (is_shell_pipe && !metadata.is_dir() && !is_device(&metadata));
    if is_readable { File::open(path) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")) }
}

#[cfg(unix)]
fn is_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_char_device() || metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

impl VerifyArgs {
    /// Compares the rights of the operator's role with its requests in the audit log, and prints the differences. Returns a failure code if
    /// there are differences, or if the log can't be read.
    fn run(&self, project: &Project) -> ExitCode {
        let log: Box<dyn BufRead> = if self.log == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            match open(&self.log) {
                Ok(file) => Box::new(BufReader::new(file)),
                Err(source) => {
                    let hint = "use a file, or `-` for standard input";
                    return exit_with_error(&LogOpenError { path: self.log.clone(), source }, Some(hint));
                }
            }
        };
        let account = || format!("system:serviceaccount:{}:{}", project.namespace, project.name);
        match verify(project, &self.user.clone().unwrap_or_else(account), log) {
            Ok(comparison) => {
                let text = match self.output {
                    OutputFormat::Text => comparison.to_string(),
                    OutputFormat::Json => format!("{}\n", comparison.to_json()),
                };
                let printed = print(&text);
                if comparison.is_equal() { printed } else { ExitCode::FAILURE }
            }
            Err(error) => exit_with_error(
                &error,
                Some("use a log of level Metadata or higher, and `--user` if the operator ran as another user"),
            ),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::{fs, process};

    #[test]
    fn a_log_is_a_file_and_neither_a_device_nor_a_pipe_by_name() {
        let folder = std::env::temp_dir().join(format!("opgen-rights-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (file, pipe) = (folder.join("file"), folder.join("pipe"));
        fs::write(&file, "").unwrap();
        assert!(process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(open(&file).is_ok());
        for special in [&pipe, &folder, Path::new("/dev/zero")] {
            assert_eq!(open(special).unwrap_err().to_string(), "not a regular file", "{}", special.display());
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
