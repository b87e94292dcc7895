//! Taking an operator out of a cluster.
use super::operator::Operator;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {}

impl UninstallArgs {
    pub(crate) async fn run(self, _operator: &Operator) -> ExitCode {
        ExitCode::SUCCESS
    }
}
