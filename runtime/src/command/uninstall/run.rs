//! One run of the verb `uninstall`: deletes objects stage by stage and waits until they are gone.

use crate::{
    client::{Client, Deletion, Target},
    command::uninstall::{
        error::UninstallError,
        inventory::{Installed, Stage},
    },
    manifest::Output,
};
use kube::api::DeleteParams;
use serde_json::json;
use std::io::Write;
use std::{io, time::Duration};

/// One run: what it talks to, and whether it means it.
pub(super) struct Run {
    pub(super) client: Client,
    pub(super) dry_run: bool,
    pub(super) output: Output,
    pub(super) timeout: Duration,
}

impl Run {
    /// Deletes what belongs to a stage, and waits until it is gone.
    pub(super) async fn delete_stage(&self, installed: &[Installed], stage: Stage) -> Result<(), UninstallError> {
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
    pub(super) async fn let_policy_notice(&self) {
        if !self.dry_run {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    pub(super) async fn delete(&self, target: Target<'_>) -> Result<(), UninstallError> {
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

    pub(super) async fn wait_gone(&self, target: Target<'_>) -> Result<(), UninstallError> {
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

    pub(super) fn say(&self, what: &str, target: Target<'_>) -> Result<(), UninstallError> {
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
