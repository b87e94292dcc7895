//! `CertificateKeeper` keeps the webhook certificates of a replica current: it reads them from a Secret, renews them, and makes the API
//! server trust them.

use super::{
    configuration::{Bundle, Configuration},
    history::{CertificateHistory, IssuedCertificate},
    secret::{CertificateSecret, StoredSecret},
};
use crate::{
    client::{CallError, Client},
    environment::Environment,
    error::ErrorChain,
    server::certificate::tls_config,
    webhook::{Mode, names::WebhookNames, trusted::TrustedWebhooks},
};
use parking_lot::Mutex;
use rustls::ServerConfig;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
    time::Duration,
};
use tokio::sync::watch;

/// The maximum time between two reads of the Secret.
const MAX_PERIOD: Duration = Duration::from_secs(60);
const MIN_PERIOD: Duration = Duration::from_secs(1);

/// How often a renewal is tried that other replicas interrupt.
const MAX_ATTEMPTS: usize = 5;

/// The certificates that a replica serves.
#[derive(Debug, Default)]
pub(crate) struct ServedCertificates {
    /// The certificates, and their TLS settings by the time of creation.
    history: Mutex<(CertificateHistory, BTreeMap<i64, Arc<ServerConfig>>)>,
    available: watch::Sender<bool>,
    /// The authorities, in PEM, that all configurations of the operator have.
    trusted: Mutex<String>,
}

impl ServedCertificates {
    /// Returns the TLS settings with the certificate that is to be served now; `None` if there is no valid certificate.
    pub(crate) fn current(&self, environment: &Environment) -> Option<Arc<ServerConfig>> {
        let state = self.history.lock();
        let (history, configs) = &*state;
        configs.get(&history.served(environment.now(), &self.trusted.lock())?.created).cloned()
    }

    /// Waits until there is a certificate.
    pub(crate) async fn wait(&self) {
        // The sender lives as long as `self`.
        let _ = self.available.subscribe().wait_for(|is_available| *is_available).await;
    }

    /// Returns whether all webhook configurations have the authority of the certificate that is to be served now. If not, the API server
    /// does not trust the certificate, and its calls of webhooks fail.
    pub(crate) fn is_trusted(&self, environment: &Environment) -> bool {
        let (known, trusted) = (self.known(), self.trusted.lock());
        known.served(environment.now(), &trusted).is_some_and(|served| served.is_trusted(&trusted))
    }

    /// Returns the certificates that were read or written last.
    pub(super) fn known(&self) -> CertificateHistory {
        self.history.lock().0.clone()
    }

    /// Replaces the certificates to serve. Builds the TLS settings of new certificates only, and keeps those of known ones.
    ///
    /// # Errors
    /// Fails if one of the certificates can't be used. The replica then continues to serve the old ones.
    fn set(&self, history: CertificateHistory) -> io::Result<()> {
        if history == self.known() {
            return Ok(());
        }
        let (known, old_configs) = self.history.lock().clone();
        let config = |certificate: &IssuedCertificate| {
            let is_known = known.0.contains(certificate);
            let config = match old_configs.get(&certificate.created).filter(|_| is_known) {
                Some(config) => config.clone(),
                None => tls_config(certificate.certificate.as_bytes(), certificate.key.as_bytes())?,
            };
            Ok((certificate.created, config))
        };
        let configs = history.0.iter().map(config).collect::<io::Result<_>>()?;
        *self.history.lock() = (history, configs);
        self.available.send_replace(true);
        Ok(())
    }
}

/// Keeps the certificates of a replica current.
#[derive(Clone, Debug)]
pub(crate) struct CertificateKeeper {
    secret: CertificateSecret,
    configurations: Vec<Configuration>,
    /// The DNS names of the Service.
    names: Vec<String>,
    lifetime: Duration,
    environment: Environment,
    served: Arc<ServedCertificates>,
}

/// Why the certificates are not current.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeepError {
    #[error(transparent)]
    Call(Box<CallError>),
    #[error("failed to create or to use a certificate")]
    Certificate(#[from] io::Error),
    #[error("other replicas renewed the certificates {MAX_ATTEMPTS} times meanwhile")]
    Contended,
}

impl From<CallError> for KeepError {
    fn from(error: CallError) -> Self {
        Self::Call(Box::new(error))
    }
}

impl CertificateKeeper {
    /// Creates the keeper of the certificates of an operator. `namespace` is that of the Service and the Secret. `client` also writes in
    /// replicas that are not the leader, since each replica serves webhooks. A certificate is for the names of the Service in the cluster.
    pub(crate) fn new(
        client: Client,
        (operator, namespace): (&str, &str),
        names: &WebhookNames,
        webhooks: &TrustedWebhooks<'_>,
        (lifetime, environment): (Duration, Environment),
    ) -> Self {
        let mut by_mode: BTreeMap<Mode, BTreeSet<String>> = BTreeMap::new();
        for webhook in &webhooks.descriptions {
            by_mode.entry(webhook.mode).or_default().insert(webhook.name());
        }
        let configuration = |(mode, webhooks)| Configuration::new(mode, &names.configuration, webhooks);
        let definition = |name: &String| Configuration::of_definition(name, namespace, &names.service);
        let definitions = webhooks.definitions.iter().map(definition);
        let host = format!("{}.{namespace}.svc", names.service);
        Self {
            secret: CertificateSecret::new(client, namespace, &names.secret, operator),
            configurations: by_mode.into_iter().map(configuration).chain(definitions).collect(),
            names: vec![host.clone(), format!("{host}.cluster.local"), format!("{}.{namespace}", names.service)],
            lifetime,
            environment,
            served: Arc::default(),
        }
    }

    /// Returns the certificates that the replica serves.
    pub(crate) fn served(&self) -> Arc<ServedCertificates> {
        self.served.clone()
    }

    /// Refreshes the certificates periodically, at least once a minute; never returns. While the API server does not trust the served
    /// certificate, it tries again after a second, and then after twice the time before, up to the normal period. An error of a refresh is
    /// logged.
    pub(crate) async fn run(&self) {
        // Often enough within the lifetime of a certificate, even a short one.
        let period = (self.lifetime / 1000).clamp(MIN_PERIOD, MAX_PERIOD);
        let mut retry = MIN_PERIOD;
        loop {
            if let Err(error) = self.refresh().await {
                let error = ErrorChain(&error);
                tracing::error!(%error, "failed to keep the certificates of the webhooks current");
            }
            let is_current = self.served.is_trusted(&self.environment);
            tokio::time::sleep(if is_current { period } else { retry }).await;
            retry = if is_current { MIN_PERIOD } else { period.min(retry * 2) };
        }
    }

    /// Reads the certificates from the Secret, renews them if that is due, serves them, and writes their authorities to all webhook
    /// configurations of the operator. An error in one configuration does not keep it from trying the others.
    ///
    /// # Errors
    /// Fails if a call to the API server fails or a certificate can't be used. The replica then continues to serve certificates.
    pub(super) async fn refresh(&self) -> Result<(), KeepError> {
        let history = self.read_or_renew().await?;
        self.served.set(history.clone())?;
        let now = self.environment.now();
        let bundle = Bundle { authorities: history.bundle(now), keeps_existing: history.is_new(now) };
        let (mut is_trusted, mut first_error) = (true, None);
        for configuration in &self.configurations {
            match self.trust(configuration, &bundle).await {
                Ok(is_complete) => is_trusted &= is_complete,
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        if let Some(error) = first_error {
            return Err(error.into());
        }
        if is_trusted {
            *self.served.trusted.lock() = bundle.authorities;
        }
        Ok(())
    }

    /// Writes the authorities to one webhook configuration. After a write conflict with another client it reads the configuration and tries
    /// again, up to `MAX_ATTEMPTS` times. Returns whether all webhooks of the operator have the authorities now.
    async fn trust(&self, configuration: &Configuration, bundle: &Bundle) -> Result<bool, CallError> {
        let mut attempts = 1;
        loop {
            match configuration.trust(&self.secret.client, bundle, &self.secret.operator).await {
                Err(error) if error.is_conflict() && attempts < MAX_ATTEMPTS => attempts += 1,
                result => return result,
            }
        }
    }

    /// Returns the certificates in the Secret. If a renewal is due, or the Secret is missing or has certificates that can't be used, it
    /// writes the Secret first. If another replica writes at the same time, it reads again, up to `MAX_ATTEMPTS` times.
    async fn read_or_renew(&self) -> Result<CertificateHistory, KeepError> {
        for _ in 0..MAX_ATTEMPTS {
            let stored = self.secret.read().await?;
            // If the Secret was deleted, the certificates that are served are stored again, since the API server trusts them.
            let stored_history = stored.as_ref().map(|StoredSecret { history, .. }| history.clone());
            let history = stored_history.filter(|stored| !stored.0.is_empty());
            let (is_stored, history) = (history.is_some(), history.unwrap_or_else(|| self.served.known()));
            let now = self.environment.now();
            let is_due = history.is_due(&self.names, now);
            let has_unusable = stored.as_ref().is_some_and(|stored| stored.has_unusable);
            if is_stored && !is_due && !has_unusable {
                return Ok(history);
            }
            let renewed = if is_due { history.renewed(&self.names, now, self.lifetime)? } else { history };
            if self.secret.write(stored.as_ref(), &renewed).await? {
                tracing::info!("renewed the certificates of the webhooks");
                return Ok(renewed);
            }
        }
        Err(KeepError::Contended)
    }
}
