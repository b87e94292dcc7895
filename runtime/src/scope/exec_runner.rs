//! `ExecRunner`: runs the programs that kubeconfigs name for their credentials, as client-go does.

use super::exec_plugin::{self, ExecPlugin};
use crate::{
    child_process::{self, ProcessFailure, ProcessLimits},
    environment::Environment,
};
use futures::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use k8s_openapi::{
    ByteString,
    jiff::{SignedDuration, Timestamp},
};
use kube::config::{AuthInfo, Cluster, ExecConfig, ExecInteractiveMode};
use parking_lot::Mutex;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::ErrorKind,
    sync::Arc,
    time::Duration,
};
use tokio::process::Command;

/// The versions of the input and the output of a program.
const API_VERSIONS: [&str; 2] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
/// The environment variable with the input of a program.
const INPUT_VARIABLE: &str = "KUBERNETES_EXEC_INFO";
/// How long a program may run.
const DEADLINE: Duration = Duration::from_secs(30);
/// The maximum size of the output of a program, in bytes.
const OUTPUT_LIMIT: usize = 1 << 20;
/// How long before they expire credentials are renewed.
const RENEWAL_MARGIN: SignedDuration = SignedDuration::from_secs(60);
/// How long a program is not run again after it failed, or after it issued credentials that expire soon.
const RETRY_PERIOD: SignedDuration = SignedDuration::from_secs(10);

/// Runs the programs that an operator allows.
pub(super) struct ExecRunner {
    plugins: Vec<ExecPlugin>,
    environment: Environment,
    deadline: Duration,
    /// The runs that are in progress or failed lately, by the hash of the command, its arguments, variables and input.
    runs: Arc<Mutex<HashMap<u64, ProgramRun>>>,
}

/// The reason for which a program has issued no credentials: a relative clause that follows `runs the program <name>, `, with no text
/// of the output.
type NoCredentialsReason = Cow<'static, str>;
/// The credentials that a program has issued, or why it has issued none.
type RunResult = Result<Arc<IssuedCredentials>, Cow<'static, str>>;
/// A run of a program. All callers that wait for it share its result.
type SharedRun = Shared<BoxFuture<'static, RunResult>>;

/// The last run of a program.
enum ProgramRun {
    InProgress(SharedRun),
    Failed(RunFailure),
}

/// The last failure of a program.
struct RunFailure {
    time: Timestamp,
    problem: Cow<'static, str>,
}

/// A program with its input.
struct IssuingProgram {
    name: String,
    version: &'static str,
    command: Command,
    deadline: Duration,
}

impl ExecRunner {
    /// Returns a runner that allows the programs of these plugins.
    pub(super) fn new(plugins: &[ExecPlugin], environment: &Environment) -> Self {
        let (plugins, environment) = (plugins.to_vec(), environment.clone());
        Self { plugins, environment, deadline: DEADLINE, runs: Arc::default() }
    }

    /// Returns the plugin that allows the program of a kubeconfig.
    ///
    /// # Errors
    /// Fails with the reason if the operator does not allow it.
    pub(super) fn check(&self, exec: &ExecConfig) -> Result<&ExecPlugin, Cow<'static, str>> {
        exec_plugin::find(&self.plugins, exec)
    }

    /// Runs the program that a kubeconfig names for the credentials of `cluster`, and returns the credentials. If the program is running
    /// already with the same input, the caller waits for the result of that run. The program continues if the caller drops the future: else
    /// a slow program would never succeed.
    ///
    /// # Errors
    /// Fails with a message that has no text of the kubeconfig and of the output, except the name of the program.
    pub(super) async fn run(&self, exec: &ExecConfig, cluster: &Cluster) -> RunResult {
        let plugin = self.check(exec)?;
        if exec.interactive_mode == Some(ExecInteractiveMode::Always) {
            return Err("runs a program that needs a terminal".into());
        }
        let is_version = |version: &&str| exec.api_version.as_deref() == Some(*version);
        let Some(version) = API_VERSIONS.into_iter().find(is_version) else {
            return Err("runs a program of another API version than client.authentication.k8s.io/v1 and v1beta1".into());
        };
        let input = input(version, exec.provide_cluster_info.then_some(cluster));
        let mut command = Command::new(&plugin.command);
        command.args(exec.args.iter().flatten()).envs(exec_plugin::variables(exec)).env(INPUT_VARIABLE, &input);
        let program = IssuingProgram { name: plugin.command.clone(), version, command, deadline: self.deadline };
        self.start(hash_of_run(exec, &input), program)?.await
    }

    /// Starts the program in a task, and returns the future of its result. If the run with this `id` is in progress, returns the future of
    /// that run.
    ///
    /// # Errors
    /// Fails with the problem of the last run if that failed within the retry period.
    fn start(&self, id: u64, program: IssuingProgram) -> Result<SharedRun, Cow<'static, str>> {
        let mut runs = self.runs.lock();
        match runs.get(&id) {
            Some(ProgramRun::InProgress(run)) => return Ok(run.clone()),
            Some(ProgramRun::Failed(failure)) if failure.is_recent(self.environment.now()) => {
                return Err(failure.problem.clone());
            }
            _ => {}
        }
        let (name, environment) = (program.name.clone(), self.environment.clone());
        // The future that callers wait for is stored in the map, so it must not keep the map alive.
        let (runs_of_task, runs_of_future) = (self.runs.clone(), Arc::downgrade(&self.runs));
        let task = tokio::spawn(async move {
            let result = program.run(&environment).await;
            let (now, mut runs) = (environment.now(), runs_of_task.lock());
            // Removes this run, and failures that are no longer recent.
            runs.retain(|other, run| *other != id && run.is_current(now));
            if let Err(problem) = &result {
                runs.insert(id, ProgramRun::Failed(RunFailure { time: now, problem: problem.clone() }));
            }
            drop(runs);
            result
        });
        let run = async move {
            // The task panicked or was aborted, so it has not removed its run.
            task.await.unwrap_or_else(|_| {
                if let Some(runs) = runs_of_future.upgrade() {
                    runs.lock().remove(&id);
                }
                Err(format!("runs the program {name}, which was interrupted").into())
            })
        };
        let run = run.boxed().shared();
        runs.insert(id, ProgramRun::InProgress(run.clone()));
        Ok(run)
    }

    /// Returns whether a time is reached, such as the time of renewal of credentials. Without a time, it never is.
    pub(super) fn is_reached(&self, time: Option<Timestamp>) -> bool {
        time.is_some_and(|time| self.environment.now() >= time)
    }

    /// Returns the time of the next renewal if a renewal has failed now.
    pub(super) fn retry_time(&self) -> Timestamp {
        retry_after(self.environment.now())
    }
}

impl IssuingProgram {
    /// Runs the program and parses the credentials in its output.
    ///
    /// # Errors
    /// Fails with a message that names the program and the reason.
    async fn run(self, environment: &Environment) -> RunResult {
        let Self { name, version, command, deadline } = self;
        let output = output(command, deadline).await;
        let issued = output.and_then(|output| IssuedCredentials::parse(&output, version, environment.now()));
        issued.map(Arc::new).map_err(|reason| format!("runs the program {name}, {reason}").into())
    }
}

/// Runs a program and returns its standard output.
///
/// # Errors
/// Fails with the reason if the program can't be run, doesn't end in time, or ends with an exit code other than 0.
async fn output(command: Command, deadline: Duration) -> Result<Vec<u8>, NoCredentialsReason> {
    // The standard error is discarded, since it may contain credentials.
    let limits = ProcessLimits { deadline, output: OUTPUT_LIMIT, errors: None };
    let output = child_process::run(command, b"", limits).await.map_err(reason_of)?;
    match output.status.code() {
        Some(0) => Ok(output.stdout),
        Some(code) => Err(format!("which failed with exit code {code}").into()),
        None => Err("which was ended by a signal".into()),
    }
}

impl ProgramRun {
    /// Returns whether the run is in progress, or failed lately.
    fn is_current(&self, now: Timestamp) -> bool {
        match self {
            Self::InProgress(_) => true,
            Self::Failed(failure) => failure.is_recent(now),
        }
    }
}

impl RunFailure {
    /// Returns whether the program failed less than `RETRY_PERIOD` ago.
    fn is_recent(&self, now: Timestamp) -> bool {
        // The time since the failure is negative if the clock was set back. Without `abs`, the failure would then stay recent for too long.
        now.duration_since(self.time).abs() < RETRY_PERIOD
    }
}

/// The credentials that a program has issued.
pub(super) struct IssuedCredentials {
    token: Option<String>,
    /// The certificate and the key, in base64 of PEM.
    certificate: Option<(String, String)>,
    /// When the program is to be run again; `None` if the credentials don't expire.
    pub(super) renew_at: Option<Timestamp>,
    /// When the credentials expire; `None` if they don't.
    pub(super) expire_at: Option<Timestamp>,
}

/// The output of a program, of the kind `ExecCredential`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecOutput {
    api_version: String,
    kind: String,
    status: ExecStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecStatus {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<String>,
}

impl IssuedCredentials {
    /// Parses the output of a program. `version` is the API version that the output must have.
    ///
    /// # Errors
    /// The problem of the output, such as `whose output has neither a token nor a certificate`.
    fn parse(output: &[u8], version: &str, now: Timestamp) -> Result<Self, NoCredentialsReason> {
        let output = serde_json::from_slice::<ExecOutput>(output).ok();
        let output = output.filter(|output| output.kind == "ExecCredential" && output.api_version == version);
        let Some(ExecOutput { status, .. }) = output else {
            return Err(format!("whose output is not an ExecCredential of {version} with a status").into());
        };
        let not_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
        let token = not_empty(status.token);
        let certificate = match (not_empty(status.client_certificate_data), not_empty(status.client_key_data)) {
            (Some(certificate), Some(key)) => Some((base64(certificate), base64(key))),
            (None, None) if token.is_none() => return Err("whose output has neither a token nor a certificate".into()),
            (None, None) => None,
            _ => return Err("whose output has only one of a certificate and its key".into()),
        };
        let expire_at = not_empty(status.expiration_timestamp).map(|time| time.parse::<Timestamp>()).transpose();
        let expire_at = expire_at.map_err(|_| "whose output has an expiration timestamp that is not a time")?;
        let renew_at = expire_at.map(|expires| {
            let before_expiry = expires.saturating_sub(RENEWAL_MARGIN).unwrap_or(expires);
            // Not before the retry period has passed: else credentials with a short life would be renewed before each request.
            before_expiry.max(retry_after(now))
        });
        Ok(Self { token, certificate, renew_at, expire_at })
    }

    /// Returns the hash of the credentials combined with the hash of the kubeconfig.
    pub(super) fn version(&self, kubeconfig: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (kubeconfig, &self.token, &self.certificate).hash(&mut hasher);
        hasher.finish()
    }

    /// Sets the issued credentials in the user of a kubeconfig.
    pub(super) fn apply_to(&self, user: &mut AuthInfo) {
        user.token = self.token.clone().map(SecretString::from);
        if let Some((certificate, key)) = &self.certificate {
            user.client_certificate_data = Some(certificate.clone());
            user.client_key_data = Some(SecretString::from(key.clone()));
        }
    }
}

/// Returns the input of a program: an `ExecCredential` as JSON, with the server and the certificate authority of `cluster` if the
/// kubeconfig asks for them by `provideClusterInfo`.
fn input(version: &str, cluster: Option<&Cluster>) -> String {
    let mut spec = json!({"interactive": false});
    if let Some(cluster) = cluster {
        let fields = [
            ("server", json!(cluster.server)),
            ("tls-server-name", json!(cluster.tls_server_name)),
            ("insecure-skip-tls-verify", json!(cluster.insecure_skip_tls_verify)),
            ("certificate-authority-data", json!(cluster.certificate_authority_data)),
        ];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
        let fields: Map<_, _> = fields.map(|(name, value)| (name.to_owned(), value)).collect();
        spec["cluster"] = Value::Object(fields);
    }
    json!({"apiVersion": version, "kind": "ExecCredential", "spec": spec}).to_string()
}

/// Returns the hash of the command, the arguments, the variables and the input of a program.
fn hash_of_run(exec: &ExecConfig, input: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&exec.command, &exec.args, input).hash(&mut hasher);
    exec_plugin::variables(exec).for_each(|variable| variable.hash(&mut hasher));
    hasher.finish()
}

/// Returns the reason why a program has issued no credentials, as a clause that continues the error message.
fn reason_of(failure: ProcessFailure) -> NoCredentialsReason {
    match failure {
        ProcessFailure::NotStarted(error) if error.kind() == ErrorKind::NotFound => {
            "which the container of the operator does not have".into()
        }
        ProcessFailure::NotStarted(_) => "which can't be started".into(),
        ProcessFailure::Unreadable(_) => "whose output can't be read".into(),
        ProcessFailure::TooLong => "whose output is longer than 1 MiB".into(),
        ProcessFailure::Deadline(deadline) => format!("which did not end within {deadline:?}").into(),
    }
}

/// Returns the time at the end of the retry period that begins at `time`.
fn retry_after(time: Timestamp) -> Timestamp {
    time.saturating_add(RETRY_PERIOD).unwrap_or(time)
}

/// Returns a text encoded as base64, by the serialization of [`ByteString`].
fn base64(text: String) -> String {
    match serde_json::to_value(ByteString(text.into_bytes())) {
        Ok(Value::String(text)) => text,
        _ => String::new(),
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests;
