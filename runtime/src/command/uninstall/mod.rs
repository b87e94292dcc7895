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

mod held;
mod inventory;

use crate::{
    client::{CallError, Client, Deletion, Target},
    command::connect::Connection,
    error::Error,
    kind::Kind,
    manager::operator::Operator,
    manifest::{Described, Output, ProjectError, failed},
};
use inventory::{Installed, Stage};
use kube::api::DeleteParams;
use serde_json::json;
use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

/// What becomes of the objects of the operator's kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Objects {
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
    objects: Objects,
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

/// Why an operator was not taken out.
#[derive(Debug, thiserror::Error)]
enum UninstallError {
    #[error("failed to find out how to reach the cluster")]
    Config(#[source] kube::config::InferConfigError),
    #[error("failed to make a client for the cluster")]
    Client(#[source] kube::Error),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Call(Box<CallError>),
    #[error("there are {count} objects of kind {kind}")]
    ObjectsLeft { kind: Kind, count: usize },
    #[error("{what} did not go within {} s", .timeout.as_secs())]
    Timeout { what: String, timeout: Duration },
    #[error("failed to write to standard output")]
    Output(#[from] io::Error),
    #[error("{0}")]
    Loop(Error),
}

impl From<CallError> for UninstallError {
    fn from(error: CallError) -> Self {
        Self::Call(Box::new(error))
    }
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
            Objects::Refuse => held::refuse(&held)?,
            Objects::Delete => run.delete_objects(&held).await?,
            Objects::Keep => {}
        }
        let installed = inventory::of(&project);
        run.delete_stage(&installed, Stage::Parameter).await?;
        run.let_policy_notice().await;
        for stage in [Stage::Policy, Stage::Workload] {
            run.delete_stage(&installed, stage).await?;
        }
        run.release(&held, operator, self.objects == Objects::Keep).await?;
        if self.objects != Objects::Keep {
            run.delete_stage(&installed, Stage::Definitions).await?;
        }
        run.delete_stage(&installed, Stage::Rest).await
    }
}

fn hint(error: &UninstallError) -> Option<&'static str> {
    match error {
        UninstallError::Config(_) => Some("set KUBECONFIG to the cluster that the operator is installed in"),
        UninstallError::ObjectsLeft { .. } => {
            Some("`--objects delete` deletes them while the operator still runs; `--objects keep` keeps them")
        }
        UninstallError::Timeout { .. } => {
            Some("only a running operator takes its objects down; run this again, with `--objects keep` if it is gone")
        }
        _ => None,
    }
}

/// One run: what it talks to, and whether it means it.
struct Run {
    client: Client,
    dry_run: bool,
    output: Output,
    timeout: Duration,
}

impl Run {
    /// Deletes what belongs to a stage, and waits until it is gone.
    async fn delete_stage(&self, installed: &[Installed], stage: Stage) -> Result<(), UninstallError> {
        let of_stage: Vec<_> = installed.iter().filter(|object| object.stage == stage).collect();
        for object in &of_stage {
            self.delete(object.target()).await?;
        }
        for object in of_stage {
            self.wait_gone(object.target()).await?;
        }
        Ok(())
    }

    /// With the last binding of its kind, an API server stops to watch the parameters of policies until it is restarted
    /// (kubernetes#130887). Had it not seen the parameter go, a policy installed later would act without one.
    async fn let_policy_notice(&self) {
        if !self.dry_run {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn delete(&self, target: Target<'_>) -> Result<(), UninstallError> {
        if self.dry_run {
            return match self.client.get_metadata(target).await? {
                Some(_) => self.say("would delete", target),
                None => Ok(()),
            };
        }
        match self.client.delete(target, &DeleteParams::foreground()).await {
            Ok(Deletion::Absent) => Ok(()),
            Ok(Deletion::Done | Deletion::Begun) => self.say("deleted", target),
            // A kind that the cluster doesn't serve has no objects.
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn wait_gone(&self, target: Target<'_>) -> Result<(), UninstallError> {
        if self.dry_run {
            return Ok(());
        }
        let gone = async {
            while self.client.get_metadata(target).await?.is_some() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            Ok(())
        };
        let what = || format!("{} {}", target.kind, target.name);
        let late = |_| UninstallError::Timeout { what: what(), timeout: self.timeout };
        tokio::time::timeout(self.timeout, gone).await.map_err(late)?
    }

    fn say(&self, what: &str, target: Target<'_>) -> Result<(), UninstallError> {
        let Target { kind, namespace, name } = target;
        let line = match self.output {
            Output::Json => {
                json!({"action": what, "kind": kind.kind, "namespace": namespace, "name": name}).to_string()
            }
            Output::Text => {
                format!(
                    "{what} {kind} {}{name}",
                    namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default()
                )
            }
        };
        Ok(writeln!(io::stdout(), "{line}")?)
    }
}
