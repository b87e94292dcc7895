//! The verb `rbac`: who asks for each right, and whether what was done needs them.

use super::{operator::Operator, picture::print};
use crate::manifest::{Described, Output, Project, explain, explain_json, failed, verify};
use std::{
    fs::File,
    io::{BufRead, BufReader},
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
    source: std::io::Error,
}

impl VerifyArgs {
    fn run(&self, project: &Project) -> ExitCode {
        let log: Box<dyn BufRead> = if self.log == Path::new("-") {
            Box::new(std::io::stdin().lock())
        } else {
            match File::open(&self.log) {
                Ok(file) => Box::new(BufReader::new(file)),
                Err(source) => return failed(&Unopened { path: self.log.clone(), source }, None),
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
