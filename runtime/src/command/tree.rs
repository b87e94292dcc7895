//! Implements the verb `tree`: prints the provisioner tree of a kind, or the state of an object's tree in the cluster.

use crate::{
    command::{
        connect::ObjectConnection,
        live, lookup,
        terminal::{print, with_runtime},
    },
    manager::operator::Operator,
    manifest::{Describe, Diagram, Project, TreeFormat, exit_with_error, render_diagrams},
};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct TreeArgs {
    /// A kind, to show only its tree; or an object as KIND/NAME, to show its state in the cluster
    #[arg(value_name = "KIND[/NAME]")]
    kind_or_object: Option<String>,
    /// The namespace of the object; by default the one of the kubeconfig
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// The same as `--output mermaid`
    #[arg(long, conflicts_with = "output")]
    mermaid: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: TreeFormat,
    #[command(flatten)]
    connection: ObjectConnection,
}

impl TreeArgs {
    /// Prints the trees of all kinds without an argument, the tree of one kind for KIND, or the tree of one object with its state in the
    /// cluster for KIND/NAME.
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        let project = match operator.project() {
            Ok(project) => project,
            Err(error) => return exit_with_error(&error, None),
        };
        let format = if self.mermaid { TreeFormat::Mermaid } else { self.output };
        match &self.kind_or_object {
            None => print(&render_diagrams(&project, &Diagram::all(&project), format)),
            Some(kind_or_object) => match kind_or_object.split_once('/') {
                None => self.print_kind(&project, kind_or_object, format),
                Some((kind, name)) => self.print_object(operator, &project, (kind, name), format),
            },
        }
    }

    /// Prints the tree of one kind.
    fn print_kind(&self, project: &Project, kind: &str, format: TreeFormat) -> ExitCode {
        let diagrams: Vec<_> =
            Diagram::all(project).into_iter().filter(|diagram| lookup::matches_kind(&diagram.kind, kind)).collect();
        if diagrams.is_empty() {
            let error = lookup::LookupError::unknown_kind(project, kind);
            return exit_with_error(&error, error.hint().as_deref());
        }
        print(&render_diagrams(project, &diagrams, format))
    }

    /// Prints the tree of one object with its state in the cluster.
    fn print_object(
        &self,
        operator: &Operator,
        project: &Project,
        kind_or_object: (&str, &str),
        format: TreeFormat,
    ) -> ExitCode {
        with_runtime(async {
            match live::read_diagram(operator, project, kind_or_object, self.namespace.as_deref(), &self.connection)
                .await
            {
                Ok(diagram) => print(&render_diagrams(project, &[diagram], format)),
                Err(error) => exit_with_error(&error, error.hint().as_deref()),
            }
        })
    }
}
