//! Implements the verb `uninstall`: removes an operator and its installation from a cluster.
//!
//! # Flow
//! 1. Deletes the objects of the operator's kinds while the operator still runs and can tear them down, or keeps them.
//! 2. Deletes the finalizer policy (the admission policy that adds the operator's finalizer to new objects), its parameter first, and the
//!    webhook configurations, which would refuse writes without the operator.
//! 3. Deletes the operator's Deployment and waits until it is gone, so that nothing adds a finalizer again.
//! 4. Removes the finalizers from kept objects. It always keeps objects of foreign kinds, with their children.
//! 5. Deletes definitions (unless objects are kept), roles, ServiceAccount and Namespace.
//!
//! It skips objects that are already gone, so a run that failed can be repeated.

mod error;
mod inventory;
mod objects;
mod run;

use crate::{
    command::{
        connect::{ConnectedClient, ObjectConnection},
        uninstall::{
            error::{UninstallError, hint},
            run::Run,
        },
    },
    manager::operator::Operator,
    manifest::{Describe, OutputFormat, exit_with_error},
};
use inventory::Stage;
use std::{process::ExitCode, time::Duration};

/// The treatment of the objects of the operator's kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ObjectPolicy {
    /// Fail if there are any
    #[default]
    Refuse,
    /// Delete them and wait until they are gone; objects of foreign kinds are kept
    Delete,
    /// Keep them and their definitions, and remove the operator's finalizers
    Keep,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    /// What to do with the objects of the operator's kinds
    #[arg(long, value_enum, default_value_t)]
    objects: ObjectPolicy,
    /// Print the actions without performing them
    #[arg(long)]
    dry_run: bool,
    /// Output format: lines of text, or one JSON object per line
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    output: OutputFormat,
    /// Timeout of each deletion, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
    #[command(flatten)]
    connection: ObjectConnection,
}

impl UninstallArgs {
    /// Uninstalls the operator, and prints the error if that fails.
    pub(crate) async fn run(self, operator: &Operator) -> ExitCode {
        match self.uninstall(operator).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => exit_with_error(&error, hint(&error)),
        }
    }

    /// Runs the stages of the uninstallation in order. First deletes the objects of the operator's kinds, keeps them, or fails if there are
    /// any. Then deletes the parameter of the finalizer policy, the policy, the webhook configurations, and the Deployment. Then removes
    /// the operator's finalizers from the kept objects. Last deletes the CustomResourceDefinitions, unless objects are kept, and all other
    /// objects of the installation.
    async fn uninstall(&self, operator: &Operator) -> Result<(), UninstallError> {
        let ConnectedClient { client, .. } = self.connection.connect(operator).await?;
        let project = operator.project()?;
        let objects = objects::list_objects(&client, operator).await?;
        let timeout = Duration::from_secs(self.timeout);
        let run = Run { client, dry_run: self.dry_run, output: self.output, timeout };
        match self.objects {
            ObjectPolicy::Refuse => objects::require_none(&objects)?,
            ObjectPolicy::Delete => run.delete_objects(&objects).await?,
            ObjectPolicy::Keep => {}
        }
        let installed = inventory::inventory(&project);
        run.delete_stage(&installed, Stage::Parameter).await?;
        run.wait_for_policy().await;
        for stage in [Stage::Policy, Stage::Workload] {
            run.delete_stage(&installed, stage).await?;
        }
        run.release(&objects, operator, self.objects == ObjectPolicy::Keep).await?;
        if self.objects != ObjectPolicy::Keep {
            run.delete_stage(&installed, Stage::Definitions).await?;
        }
        run.delete_stage(&installed, Stage::Rest).await
    }
}
