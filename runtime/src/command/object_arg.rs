//! `ObjectArg`: the argument KIND/NAME of a verb (subcommand). It runs a query for that object, and prints the answer as text or JSON.

use crate::{
    command::{
        connect::ObjectConnection,
        lookup::{ControlledKind, LookupError},
        terminal::{print, with_runtime},
    },
    manager::operator::Operator,
    manifest::{Describe, Project, exit_with_error},
};
use serde::Serialize;
use std::{fmt::Display, process::ExitCode};

#[derive(Debug, clap::Args)]
pub(crate) struct ObjectArg {
    /// The object, as KIND/NAME
    #[arg(value_name = "KIND/NAME", value_parser = kind_and_name)]
    object: (String, String),
    /// The namespace of the object; by default the one of the kubeconfig
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: AnswerFormat,
    #[command(flatten)]
    connection: ObjectConnection,
}

/// The output format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum AnswerFormat {
    /// Text
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// Parses the argument KIND/NAME into the kind and the name, of which neither may be empty.
fn kind_and_name(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() => Ok((kind.to_owned(), name.to_owned())),
        _ => Err("use KIND/NAME, for example `webapp/example`".to_owned()),
    }
}

impl ObjectArg {
    /// Connects to the cluster of the environment, calls `query` with the name of the object, and prints the answer in the chosen output
    /// format, or the error with a hint.
    pub(crate) fn run<A: Display + Serialize>(
        &self,
        operator: &Operator,
        query: impl AsyncFnOnce(&Project, &ControlledKind<'_>, &str) -> Result<A, LookupError>,
    ) -> ExitCode {
        let project = match operator.project() {
            Ok(project) => project,
            Err(error) => return exit_with_error(&error, None),
        };
        let (kind, name) = &self.object;
        with_runtime(async {
            let answer = async {
                let namespace = self.namespace.as_deref();
                let target = ControlledKind::connect(operator, &project, kind, namespace, &self.connection).await?;
                query(&project, &target, name).await
            };
            match answer.await {
                Ok(answer) if self.output == AnswerFormat::Json => match serde_json::to_string_pretty(&answer) {
                    Ok(json) => print(&format!("{json}\n")),
                    Err(error) => exit_with_error(&error, None),
                },
                Ok(answer) => print(&answer.to_string()),
                Err(error) => exit_with_error(&error, error.hint().as_deref()),
            }
        })
    }
}
