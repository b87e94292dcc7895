//! An object on a command line, and the answer to what is asked of it.

use crate::{
    command::{
        connect::Connection,
        lookup::{ControlledKind, LiveError},
        terminal::{print, with_runtime},
    },
    manager::operator::Operator,
    manifest::{Described, Project, failed},
};
use serde::Serialize;
use std::{fmt::Display, process::ExitCode};

#[derive(Debug, clap::Args)]
pub(crate) struct ObjectArg {
    /// The object, as KIND/NAME
    #[arg(value_name = "KIND/NAME", value_parser = kind_and_name)]
    of: (String, String),
    /// The namespace of the object; by default the one of the kubeconfig
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// How to print
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Form,
    #[command(flatten)]
    connection: Connection,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
}

fn kind_and_name(said: &str) -> Result<(String, String), String> {
    match said.split_once('/') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() => Ok((kind.to_owned(), name.to_owned())),
        _ => Err("say KIND/NAME, for example `webapp/example`".to_owned()),
    }
}

impl ObjectArg {
    /// Asks of the object, in the cluster that the environment says, and prints the answer or why there is none.
    pub(crate) fn answer<A: Display + Serialize>(
        &self,
        operator: &Operator,
        ask: impl AsyncFnOnce(&Project, &ControlledKind<'_>, &str) -> Result<A, LiveError>,
    ) -> ExitCode {
        let project = match operator.project() {
            Ok(project) => project,
            Err(error) => return failed(&error, None),
        };
        let (kind, name) = &self.of;
        with_runtime(async {
            let answer = async {
                let place = ControlledKind::reach(&project, kind, self.namespace.as_deref(), self.connection).await?;
                ask(&project, &place, name).await
            };
            match answer.await {
                Ok(answer) if self.output == Form::Json => match serde_json::to_string_pretty(&answer) {
                    Ok(json) => print(&format!("{json}\n")),
                    Err(error) => failed(&error, None),
                },
                Ok(answer) => print(&answer.to_string()),
                Err(error) => failed(&error, error.hint().as_deref()),
            }
        })
    }
}
