//! The verb `tree`: what a kind is made of, or how an object of it fares.

use crate::{
    command::{
        connect::Connection,
        live, lookup,
        terminal::{print, with_runtime},
    },
    manager::operator::Operator,
    manifest::{Described, Drawing, Picture, Project, drawn, failed},
};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct TreeArgs {
    /// A kind, to see its tree alone; or an object as KIND/NAME, to see how it fares in the cluster
    #[arg(value_name = "KIND[/NAME]")]
    of: Option<String>,
    /// The namespace of the object; by default the one of the kubeconfig
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Print a mermaid diagram, as `--output mermaid`
    #[arg(long, conflicts_with = "output")]
    mermaid: bool,
    /// How to print
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Picture,
    #[command(flatten)]
    connection: Connection,
}

impl TreeArgs {
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        let project = match operator.project() {
            Ok(project) => project,
            Err(error) => return failed(&error, None),
        };
        let picture = if self.mermaid { Picture::Mermaid } else { self.output };
        match &self.of {
            None => print(&drawn(&project, &Drawing::all(&project), picture)),
            Some(of) => match of.split_once('/') {
                None => self.of_kind(&project, of, picture),
                Some((kind, name)) => self.of_object(operator, &project, (kind, name), picture),
            },
        }
    }

    fn of_kind(&self, project: &Project, kind: &str, picture: Picture) -> ExitCode {
        let drawings: Vec<_> =
            Drawing::all(project).into_iter().filter(|drawing| lookup::is_named(&drawing.kind, kind)).collect();
        if drawings.is_empty() {
            let error = lookup::LiveError::unknown_kind(project, kind);
            return failed(&error, error.hint().as_deref());
        }
        print(&drawn(project, &drawings, picture))
    }

    fn of_object(&self, operator: &Operator, project: &Project, of: (&str, &str), picture: Picture) -> ExitCode {
        with_runtime(async {
            match live::look(operator, project, of, self.namespace.as_deref(), self.connection).await {
                Ok(drawing) => print(&drawn(project, &[drawing], picture)),
                Err(error) => failed(&error, error.hint().as_deref()),
            }
        })
    }
}
