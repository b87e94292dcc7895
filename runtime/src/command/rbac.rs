//! The verb `rbac`: who asks for each right, and whether what was done needs them.

use crate::{
    command::terminal::print,
    manager::operator::Operator,
    manifest::{Described, Output, Project, explain, explain_json, failed, verify},
};
use std::{
    fs::{File, Metadata},
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum RbacVerb {
    /// Say for every rule of the role who asks for it: the loop, or a line of code
    Explain {
        /// How to print
        #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
        output: Output,
    },
    /// Compare what the operator did with what its role grants, both ways; ends in 1 if they differ
    Verify(VerifyArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// The audit log of the API server, as JSON lines; `-` for standard input
    #[arg(value_name = "AUDIT.log")]
    log: PathBuf,
    /// The user whose requests are looked at; by default the operator's ServiceAccount
    #[arg(long)]
    user: Option<String>,
    /// How to print
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Output,
}

impl RbacVerb {
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        let project = match operator.project() {
            Ok(project) => project,
            Err(error) => return failed(&error, None),
        };
        match self {
            Self::Explain { output: Output::Text } => print(&explain(&project)),
            Self::Explain { output: Output::Json } => print(&format!("{}\n", explain_json(&project))),
            Self::Verify(args) => args.run(&project),
        }
    }
}

/// The log can't be opened.
#[derive(Debug, thiserror::Error)]
#[error("failed to open {}", path.display())]
struct Unopened {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Opens a regular file, or a pipe that a shell made for this process: a device never ends, and a pipe by name may have
/// nobody who writes.
fn open(path: &Path) -> io::Result<File> {
    let is_of_shell = ["/dev/fd/", "/proc/self/fd/"].iter().any(|folder| path.starts_with(folder));
    let there = path.metadata()?;
    let is_readable = there.is_file() || (is_of_shell && !there.is_dir() && !is_device(&there));
    if is_readable {
        File::open(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
    }
}

#[cfg(unix)]
fn is_device(there: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    there.file_type().is_char_device() || there.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

impl VerifyArgs {
    fn run(&self, project: &Project) -> ExitCode {
        let log: Box<dyn BufRead> = if self.log == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            match open(&self.log) {
                Ok(file) => Box::new(BufReader::new(file)),
                Err(source) => {
                    let hint = "name a file; `-` reads standard input";
                    return failed(&Unopened { path: self.log.clone(), source }, Some(hint));
                }
            }
        };
        let account = || format!("system:serviceaccount:{}:{}", project.namespace, project.name);
        match verify(project, &self.user.clone().unwrap_or_else(account), log) {
            Ok(comparison) => {
                let text = match self.output {
                    Output::Text => comparison.to_string(),
                    Output::Json => format!("{}\n", comparison.to_json()),
                };
                let printed = print(&text);
                if comparison.is_equal() { printed } else { ExitCode::FAILURE }
            }
            Err(error) => failed(
                &error,
                Some("give a log of level Metadata or more, and the user with `--user` if the operator ran as another"),
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
            assert_eq!(open(special).unwrap_err().to_string(), "it is no regular file", "{}", special.display());
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
