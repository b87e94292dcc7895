//! Taking an operator out of a cluster.
//!
//! # Flow
//! 1. The objects of its kinds are decided on: deleted while the operator still runs and can tear them down, or kept.
//! 2. The finalizer policy goes first, its parameter before it, so that no new object gets a finalizer.
//! 3. The operator's Deployment goes, and is waited for, so that nothing puts a finalizer back.
//! 4. The finalizers on kept objects are removed; objects of foreign kinds are always kept, with what was made for them.
//! 5. Definitions (unless objects are kept), roles, account and namespace go.
//!
//! Everything that is missing already is as it should be, so a run that broke off is simply repeated.

mod error;
mod held;
mod inventory;
mod run;

use crate::{
    client::Client,
    command::{
        connect::Connection,
        uninstall::{
            error::{UninstallError, hint},
            run::Run,
        },
    },
    manager::operator::Operator,
    manifest::{Described, Output, failed},
};
use inventory::Stage;
use std::{process::ExitCode, time::Duration};

/// What becomes of the objects of the operator's kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ObjectPolicy {
    /// Stop if there are any
    #[default]
    Refuse,
    /// Delete them, and wait until the operator has taken them down; those of foreign kinds are kept
    Delete,
    /// Keep them and their definitions, and take the operator's finalizer off them
    Keep,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    /// What becomes of the objects of its kinds
    #[arg(long, value_enum, default_value_t)]
    objects: ObjectPolicy,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// How to print: a line, or a JSON object a line
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Output,
    /// How long deletions may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
    #[command(flatten)]
    connection: Connection,
}

impl UninstallArgs {
    pub(crate) async fn run(self, operator: &Operator) -> ExitCode {
        match self.uninstall(operator).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error, hint(&error)),
        }
    }

    async fn uninstall(&self, operator: &Operator) -> Result<(), UninstallError> {
        let config = self.connection.config().await.map_err(UninstallError::Config)?;
        let client = Client::connect(config).map_err(UninstallError::Client)?;
        let project = operator.project()?;
        let held = held::all(&client, operator).await?;
        let timeout = Duration::from_secs(self.timeout);
        let run = Run { client, dry_run: self.dry_run, output: self.output, timeout };
        match self.objects {
            ObjectPolicy::Refuse => held::refuse(&held)?,
            ObjectPolicy::Delete => run.delete_objects(&held).await?,
            ObjectPolicy::Keep => {}
        }
        let installed = inventory::of(&project);
        run.delete_stage(&installed, Stage::Parameter).await?;
        run.let_policy_notice().await;
        for stage in [Stage::Policy, Stage::Workload] {
            run.delete_stage(&installed, stage).await?;
        }
        run.release(&held, operator, self.objects == ObjectPolicy::Keep).await?;
        if self.objects != ObjectPolicy::Keep {
            run.delete_stage(&installed, Stage::Definitions).await?;
        }
        run.delete_stage(&installed, Stage::Rest).await
    }
}
