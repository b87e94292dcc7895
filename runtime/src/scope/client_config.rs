//! Reads the client configuration of another cluster from a Secret. It uses no files of this container, and only the credential
//! plugins (`exec`) that the operator allows.

use super::{
    exec_runner::ExecRunner,
    kubeconfig::{KubeconfigSecret, is_https},
};
use crate::{environment::Environment, error::Error, shape::ClusterCredentials};
use k8s_openapi::{api::core::v1::Secret, jiff::Timestamp};
use kube::config::{AuthInfo, Cluster, Context, ExecConfig, KubeConfigOptions, Kubeconfig};
use secrecy::{ExposeSecret as _, SecretString};
use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

/// Why a CD system can't use credentials that a program issues.
const ISSUED_CREDENTIALS: &str = "gets its credentials from a program, which a CD system can't run";

/// The configuration of a client for another cluster.
pub(super) struct ClientConfig {
    pub(super) config: kube::Config,
    /// Hash of what identifies the cluster: the URL and the authority of its API server.
    pub(super) identity: u64,
    /// Hash of the kubeconfig.
    pub(super) kubeconfig: u64,
    /// Hash of the kubeconfig and of the credentials that its program has issued.
    pub(super) version: u64,
    /// The credentials for a CD system, or why it can't use them.
    pub(super) credentials: Result<ClusterCredentials, &'static str>,
    /// Whether a program has issued the credentials.
    pub(super) is_issued: bool,
    /// When the program is to be run again; `None` if the credentials don't expire.
    pub(super) renew_at: Option<Timestamp>,
    /// When the credentials expire; `None` if they don't.
    pub(super) expire_at: Option<Timestamp>,
}

/// Why a kubeconfig can't be used. The text has nothing of its content, except short names of programs and variables.
#[derive(Debug, thiserror::Error)]
#[error("the kubeconfig in key {key} of {secret} {problem}")]
pub(super) struct UnusableKubeconfig {
    key: String,
    secret: String,
    problem: Cow<'static, str>,
}

impl UnusableKubeconfig {
    /// Returns the error of the kubeconfig in `secret`. `problem` is the end of its sentence, such as `is missing`.
    fn new(secret: &KubeconfigSecret, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { key: secret.key.clone(), secret: secret.to_string(), problem: problem.into() }
    }

    /// Converts the problem to a yield, which makes the pass wait: the Secret may be corrected.
    pub(super) fn into_yield(self) -> Error {
        Error::yielding("InvalidKubeconfig", self.to_string())
    }
}

/// A kubeconfig that names no files, and no programs that the operator does not allow.
pub(super) struct CheckedKubeconfig {
    secret: KubeconfigSecret,
    kubeconfig: Kubeconfig,
    /// Hash of its text.
    pub(super) hash: u64,
}

/// The reason why an operator does not allow the program of a user.
type ProgramProblem = Option<Cow<'static, str>>;

/// Reads and checks the kubeconfig in a Secret. It may name only programs that `runner` allows.
///
/// # Errors
/// Fails if the kubeconfig can't be used.
pub(super) fn check(
    secret: &KubeconfigSecret,
    found: &Secret,
    runner: &ExecRunner,
) -> Result<CheckedKubeconfig, UnusableKubeconfig> {
    read_kubeconfig(secret, found, &|exec| runner.check(exec).err())
}

/// Reads and checks the kubeconfig in the Secret `found`. `problem_of_program` returns why a program is not allowed; `None` if it is.
///
/// # Errors
/// Fails if the kubeconfig is missing or invalid, names files, a proxy or a server without `https`, or names a program that is not allowed.
fn read_kubeconfig(
    secret: &KubeconfigSecret,
    found: &Secret,
    problem_of_program: &dyn Fn(&ExecConfig) -> ProgramProblem,
) -> Result<CheckedKubeconfig, UnusableKubeconfig> {
    let unusable = |problem: &'static str| UnusableKubeconfig::new(secret, problem);
    let bytes = found.data.as_ref().and_then(|data| data.get(&secret.key)).ok_or_else(|| unusable("is missing"))?;
    let text = std::str::from_utf8(&bytes.0).map_err(|_| unusable("is not text"))?;
    let mut kubeconfig = Kubeconfig::from_yaml(text).map_err(|_| unusable("is not a kubeconfig"))?;
    for named in &kubeconfig.auth_infos {
        if let Some(problem) = named.auth_info.as_ref().and_then(|user| problem_of_user(user, problem_of_program)) {
            return Err(UnusableKubeconfig::new(secret, problem));
        }
    }
    for named in &mut kubeconfig.clusters {
        let Some(cluster) = &mut named.cluster else { continue };
        if cluster.certificate_authority.is_some() {
            return Err(unusable("names the file of a certificate authority"));
        }
        if cluster.proxy_url.is_some() {
            return Err(unusable("names a proxy"));
        }
        if let Some(server) = &secret.server {
            cluster.server = Some(server.clone());
        }
        if !cluster.server.as_deref().is_some_and(is_https) {
            return Err(unusable("names a server without https"));
        }
    }
    let hash = {
        let mut hasher = DefaultHasher::new();
        (&bytes.0, &secret.server).hash(&mut hasher);
        hasher.finish()
    };
    Ok(CheckedKubeconfig { secret: secret.clone(), kubeconfig, hash })
}

/// Returns the credentials in the kubeconfig of a Secret, in a form for a CD system. It runs no program.
///
/// # Errors
/// A yield if the kubeconfig can't be used, or if its current user needs a program for the credentials. The message has no text of
/// the kubeconfig.
pub(crate) async fn read_credentials(secret: &KubeconfigSecret, found: &Secret) -> Result<ClusterCredentials, Error> {
    // All programs pass this check: that of the current user is refused next, and no other one is run.
    let mut kubeconfig = read_kubeconfig(secret, found, &|_| None).map_err(UnusableKubeconfig::into_yield)?;
    if user_of(&mut kubeconfig.kubeconfig).is_some_and(|user| user.exec.is_some()) {
        return Err(no_credentials(secret, ISSUED_CREDENTIALS));
    }
    let runner = ExecRunner::new(&[], &Environment::system());
    let config = kubeconfig.into_config(&runner).await.map_err(UnusableKubeconfig::into_yield)?;
    config.credentials.map_err(|problem| no_credentials(secret, problem))
}

impl CheckedKubeconfig {
    /// Returns the configuration of a client for the current context. If the kubeconfig names a program for the credentials of the user,
    /// the program is run.
    ///
    /// # Errors
    /// Fails if the current context is not complete, or if the program fails. The message has no text of the kubeconfig.
    pub(super) async fn into_config(self, runner: &ExecRunner) -> Result<ClientConfig, UnusableKubeconfig> {
        let Self { secret, mut kubeconfig, hash } = self;
        let (mut version, mut renew_at, mut expire_at) = (hash, None, None);
        let cluster = cluster_of(&kubeconfig).cloned();
        let exec = user_of(&mut kubeconfig).and_then(|user| user.exec.take());
        if let (Some(exec), Some(cluster)) = (&exec, &cluster) {
            let issued = runner.run(exec, cluster).await;
            let issued = issued.map_err(|problem| UnusableKubeconfig::new(&secret, problem))?;
            // The version changes with the issued credentials, so that the connection replaces its client.
            (version, renew_at, expire_at) = (issued.version(hash), issued.renew_at, issued.expire_at);
            if let Some(user) = user_of(&mut kubeconfig) {
                issued.apply_to(user);
            }
        }
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        let mut config = config.map_err(|_| UnusableKubeconfig::new(&secret, "has no complete current context"))?;
        // Without a proxy, not even that of the environment variables: the operator checks its leader election lease at the socket to the
        // API server.
        config.proxy_url = None;
        let identity = {
            let mut hasher = DefaultHasher::new();
            (config.cluster_url.to_string(), &config.root_cert, &config.tls_server_name).hash(&mut hasher);
            hasher.finish()
        };
        let (authority, is_issued) = (cluster.and_then(|cluster| cluster.certificate_authority_data), exec.is_some());
        let credentials = credentials(&config, authority, is_issued);
        Ok(ClientConfig { config, identity, kubeconfig: hash, version, credentials, is_issued, renew_at, expire_at })
    }
}

/// Returns the current context of a kubeconfig; `None` if its name or the context is missing.
fn context_of(kubeconfig: &Kubeconfig) -> Option<&Context> {
    let current = kubeconfig.current_context.as_ref()?;
    kubeconfig.contexts.iter().find(|context| context.name == *current)?.context.as_ref()
}

/// Returns the cluster of the current context.
fn cluster_of(kubeconfig: &Kubeconfig) -> Option<&Cluster> {
    let name = &context_of(kubeconfig)?.cluster;
    kubeconfig.clusters.iter().find(|cluster| cluster.name == *name)?.cluster.as_ref()
}

/// Returns the user of the current context.
fn user_of(kubeconfig: &mut Kubeconfig) -> Option<&mut AuthInfo> {
    let name = context_of(kubeconfig)?.user.clone()?;
    kubeconfig.auth_infos.iter_mut().find(|user| user.name == name)?.auth_info.as_mut()
}

/// Returns the credentials in the configuration of a client, in a form for a CD system. `authority` is the certificate authority of the
/// cluster, and `is_issued` is whether a program has issued the credentials.
///
/// # Errors
/// Fails with the reason if a CD system can't use them.
fn credentials(
    config: &kube::Config,
    authority: Option<String>,
    is_issued: bool,
) -> Result<ClusterCredentials, &'static str> {
    let user = &config.auth_info;
    if user.impersonate.is_some() || user.impersonate_groups.is_some() {
        return Err("impersonates another user, which a CD system can't");
    }
    if is_issued {
        return Err(ISSUED_CREDENTIALS);
    }
    let exposed = |secret: &Option<SecretString>| secret.as_ref().map(|secret| secret.expose_secret().to_owned());
    Ok(ClusterCredentials {
        server: config.cluster_url.to_string().trim_end_matches('/').to_owned(),
        tls_server_name: config.tls_server_name.clone(),
        insecure_skip_tls_verify: config.accept_invalid_certs,
        certificate_authority_data: authority,
        client_certificate_data: user.client_certificate_data.clone(),
        client_key_data: exposed(&user.client_key_data),
        token: exposed(&user.token),
        username: user.username.clone(),
        password: exposed(&user.password),
    })
}

/// Returns the yield for a kubeconfig from which no client can be created.
pub(super) fn no_client(secret: &KubeconfigSecret) -> Error {
    UnusableKubeconfig::new(secret, "has a certificate, a key or a URL that can't be used").into_yield()
}

/// Returns the yield for credentials that a CD system can't use.
pub(super) fn no_credentials(secret: &KubeconfigSecret, problem: &'static str) -> Error {
    UnusableKubeconfig::new(secret, problem).into_yield()
}

/// Returns why the credentials of a user in a kubeconfig can't be used; `None` if they can. Files and programs would be those of the
/// operator's container, so whoever writes the Secret could read the files, and run any program.
fn problem_of_user(
    user: &AuthInfo,
    problem_of_program: &dyn Fn(&ExecConfig) -> ProgramProblem,
) -> Option<Cow<'static, str>> {
    if user.auth_provider.is_some() {
        return Some("has an auth provider".into());
    }
    if user.token_file.is_some() || user.client_certificate.is_some() || user.client_key.is_some() {
        return Some("names files of credentials".into());
    }
    // Without a program, the user has only data. With one, its credentials must be the only ones.
    if let Some(problem) = problem_of_program(user.exec.as_ref()?) {
        return Some(problem);
    }
    let has_password = user.username.is_some() || user.password.is_some();
    let has_certificate = user.client_certificate_data.is_some() || user.client_key_data.is_some();
    let has_others = has_password || has_certificate || user.token.is_some();
    has_others.then(|| "has credentials beside those of its program".into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
