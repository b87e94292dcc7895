//! `Run`: one run of the verb `uninstall`, which deletes objects stage by stage, waits until they are gone, and prints each deletion.

use crate::{
    client::{Client, Deletion, Target},
    command::uninstall::{
        error::UninstallError,
        inventory::{InstalledObject, Stage},
    },
    manifest::OutputFormat,
};
use kube::api::DeleteParams;
use serde::de::IgnoredAny;
use serde_json::json;
use std::io::Write;
use std::{io, time::Duration};

/// One run of the verb `uninstall`, with its client and its options.
pub(super) struct Run {
    pub(super) client: Client,
    pub(super) dry_run: bool,
    pub(super) output: OutputFormat,
    pub(super) timeout: Duration,
}

impl Run {
    /// Deletes the objects of a stage, and waits until they are gone.
    pub(super) async fn delete_stage(&self, installed: &[InstalledObject], stage: Stage) -> Result<(), UninstallError> {
        let objects: Vec<_> = installed.iter().filter(|object| object.stage == stage).collect();
        for object in &objects {
            self.delete(object.target()).await?;
        }
        for object in objects {
            self.wait_gone(object.target()).await?;
        }
        Ok(())
    }

    /// Waits for a second, so that the API server sees the deletion of the policy's parameter before the binding is deleted.
    ///
    /// When the last binding of its kind is deleted, an API server stops watching parameters until it restarts
    /// (kubernetes#130887). If it had not seen the deletion, a policy installed later would apply without a parameter.
    pub(super) async fn wait_for_policy(&self) {
        if !self.dry_run {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Deletes an object in the foreground; an object that does not exist is fine.
    pub(super) async fn delete(&self, target: Target<'_>) -> Result<(), UninstallError> {
        if self.dry_run {
            return match self.client.get_metadata::<IgnoredAny>(target).await? {
                Some(_) => self.report("would delete", target),
                None => Ok(()),
            };
        }
        match self.client.delete(target, &DeleteParams::foreground()).await {
            Ok(Deletion::Absent) => Ok(()),
            Ok(Deletion::Deleted | Deletion::Started) => self.report("deleted", target),
            // A kind that the cluster doesn't serve has no objects.
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until an object is gone, at most for the timeout. Does nothing in a dry run.
    pub(super) async fn wait_gone(&self, target: Target<'_>) -> Result<(), UninstallError> {
        if self.dry_run {
            return Ok(());
        }
        let until_gone = async {
            while self.client.get_metadata::<IgnoredAny>(target).await?.is_some() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            Ok(())
        };
        let object = || format!("{} {}", target.kind, target.name);
        let timeout_error = |_| UninstallError::Timeout { what: object(), timeout: self.timeout };
        tokio::time::timeout(self.timeout, until_gone).await.map_err(timeout_error)?
    }

    /// Prints one action on one object, as text or as a line of JSON.
    pub(super) fn report(&self, action: &str, target: Target<'_>) -> Result<(), UninstallError> {
        let Target { kind, namespace, name } = target;
        let line = match self.output {
            OutputFormat::Json => {
                json!({"action": action, "kind": kind.kind, "namespace": namespace, "name": name}).to_string()
            }
            OutputFormat::Text => {
                format!(
                    "{action} {kind} {}{name}",
                    namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default()
                )
            }
        };
        Ok(writeln!(io::stdout(), "{line}")?)
    }
}
