//! `ReleaseRunner`: runs the program `helm` to deploy, repair or remove the release that a `HelmDeployment` describes.

use super::{
    call::{HelmCall, HelmFailure, HelmOutput},
    deployment::{HelmDeploymentSpec, HelmParameter},
    message::error_sentence,
    program::HelmProgram,
    release::{DeployedRelease, ReleaseRevision, ReleaseState, read_history},
};
use crate::{
    child_process::ProcessFailure,
    engine::desired::digest,
    error::{Error, Result, yield_because},
    shape::duration_text,
    text_hash::text_hash,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::time::Duration;

/// The beginning of the description of a release that this library deploys.
const OWN_DESCRIPTION: &str = "opgen:";
/// The start of the description that Helm gives the revision of a rollback.
const ROLLBACK_DESCRIPTION: &str = "Rollback to ";
/// The number of bytes in the digest of a spec.
const DIGEST: usize = 16;
/// The maximum duration of a run that only reads.
const READ_DEADLINE: Duration = Duration::from_secs(60);
/// The maximum number of revisions that are searched for the last deployed one.
const MAX_HISTORY: u32 = 256;
/// The time before the deadline at which Helm gives up its work, so that it records the failure.
const MARGIN: Duration = Duration::from_secs(10);

/// Runs `helm` for the release of one `HelmDeployment`.
pub(super) struct ReleaseRunner<'a> {
    pub(super) program: &'a HelmProgram,
    pub(super) spec: &'a HelmDeploymentSpec,
    /// The namespace and the name of the `HelmDeployment`.
    pub(super) owner: String,
    /// The kubeconfig of the cluster; `None` for that of the operator.
    pub(super) kubeconfig: Option<String>,
    /// The maximum duration of a run.
    pub(super) deadline: Duration,
    /// The number of revisions that Helm keeps.
    pub(super) revisions: u32,
}

impl ReleaseRunner<'_> {
    /// Deploys the release, unless it is deployed as the spec says, and returns it with its objects. Repairs a release whose last run was
    /// interrupted before. `now` is the current time.
    ///
    /// # Errors
    /// If a run of `helm` fails, or if another `HelmDeployment` or another client has deployed the release. A yield (an error that makes
    /// the node wait) while another run may change the release.
    pub(super) async fn deploy(&self, now: Timestamp) -> Result<DeployedRelease> {
        let description = self.description();
        if let Some(found) = self.status().await? {
            let latest = &found.latest;
            if latest.state == ReleaseState::Deployed && latest.description == description {
                return Ok(found);
            }
            if let Some(other) = self.other_owner(&self.history(MAX_HISTORY).await?) {
                return Err(Error::blocked("ReleaseConflict", format!("{} belongs to {other}", self.release())));
            }
            self.repair(latest, now).await?;
        }
        self.upgrade(&description).await?;
        let missing = || Error::yielding("Deploying", format!("{} was not found after its deployment", self.release()));
        self.status().await?.ok_or_else(missing)
    }

    /// Removes the release and its objects, unless another `HelmDeployment` or another client of Helm has deployed it. Returns true if
    /// nothing is left to remove, and false while objects of the release still exist.
    ///
    /// # Errors
    /// If a run of `helm` fails.
    pub(super) async fn remove(&self) -> Result<bool> {
        let revisions = self.history(MAX_HISTORY).await?;
        match revisions.last() {
            Some(latest) if self.other_owner(&revisions).is_none() => self.uninstall(latest).await,
            _ => Ok(true),
        }
    }

    /// Returns the release, for messages.
    fn release(&self) -> String {
        format!("release {} in namespace {}", self.spec.release, self.spec.namespace)
    }

    /// Returns the description that Helm stores with the release: this `HelmDeployment`, and a digest of the chart, its version, the values
    /// and the parameters. An equal description shows that the release is up to date.
    fn description(&self) -> String {
        let HelmDeploymentSpec { repository, chart, version, values, parameters, .. } = self.spec;
        let values = digest(&Value::Object(values.clone()));
        let parameters = parameters.iter().flat_map(|HelmParameter { name, value }| [name.as_str(), value.as_str()]);
        let texts = [repository.as_str(), chart.as_str(), version.as_str(), values.as_str()];
        let texts = texts.into_iter().chain(parameters);
        format!("{OWN_DESCRIPTION}{}:{}", self.owner, text_hash(texts, DIGEST))
    }

    /// Returns who else has deployed the release: the `HelmDeployment` in the description of the last revision that has one, or another
    /// client of Helm if no description names a `HelmDeployment`. `None` if it is this `HelmDeployment`, or if nothing was deployed yet.
    fn other_owner(&self, revisions: &[ReleaseRevision]) -> Option<String> {
        let owner_of = |revision: &ReleaseRevision| {
            let (owner, _) = revision.description.strip_prefix(OWN_DESCRIPTION)?.rsplit_once(':')?;
            Some(owner.to_owned())
        };
        match revisions.iter().rev().find_map(owner_of) {
            Some(owner) => (owner != self.owner).then(|| format!("HelmDeployment {owner}")),
            None => {
                // A rollback does not show another client: Helm writes its description, and the rollback may come from a repair by this
                // operator whose earlier revisions Helm no longer keeps.
                let was_deployed = |revision: &ReleaseRevision| {
                    matches!(revision.state, ReleaseState::Deployed | ReleaseState::Superseded)
                        && !revision.description.starts_with(ROLLBACK_DESCRIPTION)
                };
                revisions.iter().any(was_deployed).then(|| "another client of helm".to_owned())
            }
        }
    }

    /// Prepares a release for an upgrade if its last run was interrupted, since Helm refuses to upgrade such a release: uninstalls a first
    /// installation, and rolls back an upgrade.
    ///
    /// # Errors
    /// If a run of `helm` fails. A yield until the deadline of the last run, and while objects are being deleted.
    async fn repair(&self, latest: &ReleaseRevision, now: Timestamp) -> Result<()> {
        let may_run_until = latest.begun().and_then(|begun| {
            let deadline = SignedDuration::try_from(self.deadline).ok()?;
            begun.checked_add(deadline).ok()
        });
        if latest.state.is_pending() && may_run_until.is_some_and(|end| now < end) {
            // If a stopped operator began the run, it has ended; if a person did, it may still change the release.
            let message = format!("another run of helm changes {}, or was interrupted", self.release());
            return yield_because("HelmRunning", message);
        }
        match latest.state {
            // Nothing was deployed before, so there is nothing to return to.
            ReleaseState::PendingInstall | ReleaseState::Uninstalled | ReleaseState::Uninstalling => {
                if self.uninstall(latest).await? {
                    return Ok(());
                }
                yield_because("Uninstalling", format!("objects of {} are being deleted", self.release()))
            }
            ReleaseState::PendingRollback | ReleaseState::PendingUpgrade => self.roll_back().await,
            ReleaseState::Deployed | ReleaseState::Failed | ReleaseState::Superseded | ReleaseState::Other => Ok(()),
        }
    }

    /// Returns the release with its objects; `None` if it does not exist.
    async fn status(&self) -> Result<Option<DeployedRelease>> {
        let output = self.run("status", &["--output=json".to_owned()], "", READ_DEADLINE).await?;
        if is_not_found(&output) {
            return Ok(None);
        }
        DeployedRelease::read(&self.success("status", output)?).map(Some)
    }

    /// Returns the last revisions of the release in ascending order; none if it does not exist.
    async fn history(&self, max: u32) -> Result<Vec<ReleaseRevision>> {
        let arguments = ["--output=json".to_owned(), format!("--max={max}")];
        let output = self.run("history", &arguments, "", READ_DEADLINE).await?;
        if is_not_found(&output) {
            return Ok(Vec::new());
        }
        read_history(&self.success("history", output)?)
    }

    /// Installs or upgrades the release. Helm waits for its hooks only.
    async fn upgrade(&self, description: &str) -> Result<()> {
        let spec = self.spec;
        let mut arguments = match spec.repository.strip_prefix("oci://") {
            Some(_) => vec![format!("{}/{}", spec.repository.trim_end_matches('/'), spec.chart)],
            None => vec![spec.chart.clone(), format!("--repo={}", spec.repository)],
        };
        arguments.extend([
            "--install".to_owned(),
            format!("--version={}", spec.version),
            "--values=-".to_owned(),
            // Without this flag, Helm would keep the former values if there are none now.
            "--reset-values".to_owned(),
            format!("--description={description}"),
            "--hide-notes".to_owned(),
        ]);
        arguments.extend(self.change_arguments());
        if spec.create_namespace {
            arguments.push("--create-namespace".to_owned());
        }
        arguments.extend(spec.parameters.iter().map(|HelmParameter { name, value }| set_argument(name, value)));
        let values = Value::Object(spec.values.clone()).to_string();
        let output = self.run("upgrade", &arguments, &values, self.deadline).await?;
        self.success("upgrade", output).map(drop)
    }

    /// Rolls back to the deployed revision; without one, to the last that was superseded, else to the last that failed.
    async fn roll_back(&self) -> Result<()> {
        let revisions = self.history(MAX_HISTORY).await?;
        let last = |is_wanted: fn(ReleaseState) -> bool| revisions.iter().rfind(|revision| is_wanted(revision.state));
        let target = last(|state| state == ReleaseState::Deployed)
            .or_else(|| last(|state| state == ReleaseState::Superseded))
            .or_else(|| last(|state| state == ReleaseState::Failed));
        let Some(target) = target else {
            let message = format!("{} has no revision to which it can return; uninstall it", self.release());
            return Err(Error::blocked("HelmFailed", message));
        };
        let mut arguments = vec![target.number.to_string()];
        arguments.extend(self.change_arguments());
        let output = self.run("rollback", &arguments, "", self.deadline).await?;
        self.success("rollback", output).map(drop)
    }

    /// Uninstalls the release in two steps: first its objects, and once they are gone, its record in the storage of Helm. Returns whether
    /// both are gone.
    async fn uninstall(&self, latest: &ReleaseRevision) -> Result<bool> {
        if latest.state != ReleaseState::Uninstalled {
            // Helm may end its wait before the objects are gone. So it keeps the record, by which `helm status` finds the objects.
            let arguments =
                ["--keep-history", "--ignore-not-found", "--wait", "--cascade=foreground"].map(str::to_owned);
            self.uninstall_with(&[&arguments[..], &[self.timeout_argument()]].concat()).await?;
        }
        if self.is_being_deleted().await? {
            return Ok(false);
        }
        self.uninstall_with(&["--ignore-not-found".to_owned()]).await?;
        Ok(self.history(1).await?.is_empty())
    }

    /// Returns whether an object of an uninstalled release is being deleted.
    async fn is_being_deleted(&self) -> Result<bool> {
        let output = match self.call("status", &["--output=json".to_owned()], "", READ_DEADLINE).await {
            // The output is too long in each call, so the objects can't be checked. Then only the wait of `helm uninstall` counts.
            Err(HelmFailure::Process(ProcessFailure::TooLong)) => return Ok(false),
            outcome => outcome.map_err(|failure| failure_of("status", &failure))?,
        };
        // The chart had a CRD, which is gone, and with it the objects of its kind.
        let is_unknown = !output.success && output.stderr.contains("no matches for kind");
        if is_not_found(&output) || is_unknown {
            return Ok(false);
        }
        Ok(DeployedRelease::read(&self.success("status", output)?)?.is_being_deleted())
    }

    async fn uninstall_with(&self, arguments: &[String]) -> Result<()> {
        let output = self.run("uninstall", arguments, "", self.deadline).await?;
        self.success("uninstall", output).map(drop)
    }

    /// Returns the argument with the time after which Helm gives up its work.
    fn timeout_argument(&self) -> String {
        format!("--timeout={}s", self.deadline.saturating_sub(MARGIN).as_secs().max(1))
    }

    /// Returns the common arguments of `upgrade` and `rollback`, which write a revision of the release.
    fn change_arguments(&self) -> [String; 4] {
        [
            "--server-side=true".to_owned(),
            // The chart wins over other field managers, as the tree does for all child objects.
            "--force-conflicts".to_owned(),
            format!("--history-max={}", self.revisions),
            self.timeout_argument(),
        ]
    }

    /// Runs a command of Helm for the release, and returns its output, also if Helm reports an error in it.
    ///
    /// # Errors
    /// If the program can't be started, does not end in time, or has an output that can't be read.
    async fn run(
        &self,
        command: &'static str,
        arguments: &[String],
        input: &str,
        deadline: Duration,
    ) -> Result<HelmOutput> {
        let outcome = self.call(command, arguments, input, deadline).await;
        outcome.map_err(|failure| failure_of(command, &failure))
    }

    /// Runs a command of Helm for the release, with `input` as its standard input. It is killed after `deadline` or the deadline of the
    /// release, whichever is shorter.
    async fn call(
        &self,
        command: &str,
        arguments: &[String],
        input: &str,
        deadline: Duration,
    ) -> Result<HelmOutput, HelmFailure> {
        let mut all = vec![command.to_owned(), self.spec.release.clone()];
        all.extend_from_slice(arguments);
        all.push(format!("--namespace={}", self.spec.namespace));
        let call = HelmCall { arguments: &all, input, kubeconfig: self.kubeconfig.as_deref() };
        self.program.run(&call, deadline.min(self.deadline)).await
    }

    /// Returns the standard output of a run.
    ///
    /// # Errors
    /// If the run has failed: with the error of Helm, without values.
    fn success(&self, command: &str, output: HelmOutput) -> Result<String> {
        if output.success {
            return Ok(output.stdout);
        }
        let sentence = error_sentence(&output.stderr, self.spec);
        Err(Error::blocked("HelmFailed", format!("helm {command}: {sentence}")))
    }
}

/// Returns whether the release does not exist.
///
/// Source: the package `storage/driver` of Helm.
fn is_not_found(output: &HelmOutput) -> bool {
    !output.success && output.stderr.contains("release: not found")
}

/// Converts the failure of a run that has no output to an error of the node with a reason for the condition.
fn failure_of(command: &str, failure: &HelmFailure) -> Error {
    let (reason, problem) = match failure {
        HelmFailure::NoFolder(error) => {
            ("HelmNotStarted", format!("no file can be written to the folder for temporary files: {}", error.kind()))
        }
        HelmFailure::Process(failure) => match failure {
            ProcessFailure::NotStarted(error) => {
                ("HelmNotStarted", format!("the program can't be started: {}", error.kind()))
            }
            ProcessFailure::Unreadable(error) => ("HelmFailed", format!("its output can't be read: {}", error.kind())),
            ProcessFailure::TooLong => ("HelmFailed", "its output is too long".to_owned()),
            ProcessFailure::Deadline(deadline) => {
                ("HelmTimeout", format!("it has not ended within {}", duration_text(*deadline)))
            }
        },
    };
    Error::blocked(reason, format!("helm {command}: {problem}"))
}

/// Returns the argument `--set` for a parameter. Escapes commas in the value, at which Helm would split it, except in a list (`{a,b}`).
///
/// Source: the same function of Argo CD, `cleanSetParameters`.
fn set_argument(name: &str, value: &str) -> String {
    if value.starts_with('{') && value.ends_with('}') {
        return format!("--set={name}={value}");
    }
    let mut escaped = String::with_capacity(value.len());
    for character in value.chars() {
        if character == ',' && !escaped.ends_with('\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    format!("--set={name}={escaped}")
}

#[cfg(test)]
mod tests;
