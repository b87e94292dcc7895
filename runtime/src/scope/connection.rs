//! `ClusterConnection`: the client of another cluster, which reads the kubeconfig again when the cluster refuses its credentials, and
//! renews those that a program has issued before they expire.

use super::{
    client_config::{self, CheckedKubeconfig, ClientConfig, UnusableKubeconfig},
    connector::ClusterConnector,
    kubeconfig::KubeconfigSecret,
};
use crate::{
    client::{
        Client, Target,
        response_size::{LIMITED_PAGE_SIZE, MAX_RESPONSE, limit_responses},
    },
    error::Result,
    kind::kind_of,
    metrics::clusters::ClusterSeries,
    shape::ClusterCredentials,
};
use http::{Request, Response, StatusCode, request::Parts};
use k8s_openapi::{api::core::v1::Secret, jiff::Timestamp};
use kube::client::Body;
use parking_lot::Mutex;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::OwnedMutexGuard, time::Instant};
use tracing::Instrument as _;

/// The minimum time between two reads of a kubeconfig that the cluster refuses.
const REFUSED_PERIOD: Duration = Duration::from_secs(1);
/// The minimum time between two reads of a kubeconfig whose cluster can't be reached, or refuses the credentials that a program has
/// issued.
const RELOAD_PERIOD: Duration = Duration::from_secs(10);

/// The connection to another cluster.
pub(super) struct ClusterConnection {
    secret: KubeconfigSecret,
    /// The client of the cluster with the Secret.
    secret_client: Client,
    connector: ClusterConnector,
    current: Mutex<CurrentClient>,
    /// Held while the kubeconfig is read again, with the time when it was read last.
    last_read: Arc<tokio::sync::Mutex<LastRead>>,
    identity: u64,
    is_replaced: AtomicBool,
    /// Whether the cluster refused the credentials of the last request.
    is_refused: AtomicBool,
}

/// The last time when the kubeconfig was read again.
struct LastRead {
    time: Instant,
    /// Whether it was the same as before.
    was_unchanged: bool,
}

/// The client with the last credentials.
#[derive(Clone)]
struct CurrentClient {
    client: kube::Client,
    /// Hash of the kubeconfig.
    kubeconfig: u64,
    /// Hash of the kubeconfig and of the issued credentials.
    version: u64,
    /// The credentials in the kubeconfig, or why a CD system can't use them.
    credentials: Result<Arc<ClusterCredentials>, &'static str>,
    /// Whether a program has issued the credentials.
    is_issued: bool,
    /// When the program is to be run again; `None` if the credentials don't expire.
    renew_at: Option<Timestamp>,
    /// When the credentials expire; `None` if they don't.
    expire_at: Option<Timestamp>,
}

impl CurrentClient {
    /// Creates the client for a configuration.
    ///
    /// # Errors
    /// Fails if the configuration has an unusable certificate, key or URL.
    fn connect(config: ClientConfig, connector: &ClusterConnector) -> kube::Result<Self> {
        let ClientConfig { config, identity: _, kubeconfig, version, credentials, is_issued, renew_at, expire_at } =
            config;
        let (client, credentials) = (connector.connect(config)?, credentials.map(Arc::new));
        Ok(Self { client, kubeconfig, version, credentials, is_issued, renew_at, expire_at })
    }
}

/// Reads a Secret from the API server and checks the kubeconfig in it; `None` if the Secret does not exist.
///
/// # Errors
/// A yield if the kubeconfig can't be used, and the error of a failed read.
async fn load(
    secret: &KubeconfigSecret,
    client: &Client,
    connector: &ClusterConnector,
) -> Result<Option<CheckedKubeconfig>> {
    let kind = kind_of::<Secret>();
    let target = Target { kind: &kind, namespace: Some(&secret.namespace), name: &secret.name };
    let Some(found) = client.get::<Secret>(target).await? else { return Ok(None) };
    let kubeconfig = client_config::check(secret, &found, connector.exec_runner());
    kubeconfig.map(Some).map_err(UnusableKubeconfig::into_yield)
}

impl ClusterConnection {
    /// Connects to the cluster of a Secret; `None` if the Secret does not exist. `secret_client` is the client of the cluster with the
    /// Secret.
    ///
    /// # Errors
    /// A yield if the kubeconfig can't be used, and the error of a failed read.
    pub(super) async fn open(
        secret: &KubeconfigSecret,
        secret_client: &Client,
        connector: &ClusterConnector,
    ) -> Result<Option<Arc<Self>>> {
        let Some(kubeconfig) = load(secret, secret_client, connector).await? else { return Ok(None) };
        let config = kubeconfig.into_config(connector.exec_runner()).await.map_err(UnusableKubeconfig::into_yield)?;
        let identity = config.identity;
        let current = CurrentClient::connect(config, connector).map_err(|_| client_config::no_client(secret))?;
        Ok(Some(Arc::new(Self {
            secret: secret.clone(),
            secret_client: secret_client.clone(),
            connector: connector.clone(),
            current: Mutex::new(current),
            last_read: Arc::new(tokio::sync::Mutex::new(LastRead { time: Instant::now(), was_unchanged: false })),
            identity,
            is_replaced: AtomicBool::new(false),
            is_refused: AtomicBool::new(false),
        })))
    }

    /// Returns a client of the cluster, which sends each request with the credentials that the connection has at that time. Its requests
    /// count in `series`. The cluster is not trusted, so the size of responses and of pages is limited.
    pub(super) fn client(self: &Arc<Self>, series: &Arc<ClusterSeries>) -> Client {
        let connection = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let connection = connection.clone();
            async move { connection.send(request).await }
        });
        let client = limit_responses(kube::Client::new(service, "default"), MAX_RESPONSE);
        let client = self.connector.wrap(client, series);
        let page_size = client.page_size().min(LIMITED_PAGE_SIZE);
        client.with_page_size(page_size)
    }

    /// Returns whether the Secret has a kubeconfig of another cluster by now, so that a new connection has to replace this one.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Relaxed)
    }

    /// Returns whether the cluster refused the credentials of the last request.
    pub(super) fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// Returns the credentials in the kubeconfig.
    ///
    /// # Errors
    /// Fails with the reason if a CD system can't use them.
    pub(super) fn credentials(&self) -> Result<Arc<ClusterCredentials>, &'static str> {
        self.current.lock().credentials.clone()
    }

    /// Reads the kubeconfig again, and connects with it if it has changed. Returns whether its Secret exists.
    ///
    /// # Errors
    /// As [`ClusterConnection::open`].
    pub(super) async fn refresh(&self) -> Result<bool> {
        let _last_read = self.last_read.lock().await;
        self.read(false).await
    }

    /// Reads the kubeconfig again, and runs its program if the kubeconfig has changed or `runs_program` is set. Returns whether its Secret
    /// exists. The caller holds the lock of `last_read`, so that one program runs at a time.
    ///
    /// # Errors
    /// As [`ClusterConnection::open`].
    async fn read(&self, runs_program: bool) -> Result<bool> {
        let loaded = load(&self.secret, &self.secret_client, &self.connector).await?;
        let Some(kubeconfig) = loaded else { return Ok(false) };
        let has_changed = self.current.lock().kubeconfig != kubeconfig.hash;
        if has_changed || runs_program {
            let config = kubeconfig.into_config(self.connector.exec_runner()).await;
            self.update(config.map_err(UnusableKubeconfig::into_yield)?);
        }
        Ok(true)
    }

    /// Sends a request with the current credentials. After a response 401, the kubeconfig is read again, and if there are other
    /// credentials, the request is sent once more: the cluster has not processed the first one.
    async fn send(self: &Arc<Self>, request: Request<Body>) -> kube::Result<Response<Body>> {
        let (parts, body) = request.into_parts();
        let body = body.collect_bytes().await?;
        self.renew().await;
        let used_client = self.current.lock().clone();
        let response = used_client.client.send(rebuild_request(&parts, body.clone())).await;
        let is_refused = match &response {
            Ok(response) => response.status() == StatusCode::UNAUTHORIZED,
            // Perhaps the API server has another certificate now, so the kubeconfig is read again for later requests. Whether the server
            // has processed this request is unknown, so it is not repeated.
            Err(_) => {
                if let Ok(mut last_read) = self.last_read.try_lock() {
                    self.reload(&mut last_read, &used_client, false).await;
                }
                false
            }
        };
        let response = if is_refused && self.reload(&mut *self.last_read.lock().await, &used_client, true).await {
            let client = self.current.lock().client.clone();
            client.send(rebuild_request(&parts, body.clone())).await
        } else {
            response
        };
        if let Ok(response) = &response {
            self.is_refused.store(response.status() == StatusCode::UNAUTHORIZED, Ordering::Relaxed);
        }
        response
    }

    /// Starts a task that renews the credentials, if their renewal is due. Waits for the task only if the credentials have expired; else
    /// the request is sent with the old credentials. If the renewal fails, the old credentials remain.
    async fn renew(self: &Arc<Self>) {
        if !self.is_renewal_due() {
            return;
        }
        let expire_at = self.current.lock().expire_at;
        let is_expired = self.connector.exec_runner().is_reached(expire_at);
        let last_read = match self.last_read.clone().try_lock_owned() {
            Ok(last_read) => last_read,
            // Another request reads the kubeconfig now. With valid credentials there is no need to wait for it.
            Err(_) if is_expired => self.last_read.clone().lock_owned().await,
            Err(_) => return,
        };
        // Another request may have renewed the credentials while this one waited for the lock.
        if !self.is_renewal_due() {
            return;
        }
        // A task, so that the renewal goes on if the caller drops this future.
        let renewal = tokio::spawn(self.clone().renew_now(last_read).in_current_span());
        if is_expired {
            let _ = renewal.await;
        }
    }

    /// Runs the program for new credentials. If that fails, the next renewal is due after the retry period of the program.
    async fn renew_now(self: Arc<Self>, mut last_read: OwnedMutexGuard<LastRead>) {
        if let Err(error) = self.read(true).await {
            tracing::warn!(kubeconfig = %self.secret, %error, "the credentials can't be renewed");
        }
        if self.is_renewal_due() {
            self.current.lock().renew_at = Some(self.connector.exec_runner().retry_time());
        }
        *last_read = LastRead { time: Instant::now(), was_unchanged: false };
    }

    /// Returns whether the time to run the program again is reached.
    fn is_renewal_due(&self) -> bool {
        let renew_at = self.current.lock().renew_at;
        self.connector.exec_runner().is_reached(renew_at)
    }

    /// Reads the kubeconfig again after a failed request with `client`, unless another request has replaced this client, or the last read
    /// is too recent. `is_refused` is whether the response was 401; then the program for the credentials is run again, too. Returns whether
    /// the current credentials differ from those of `client`.
    async fn reload(&self, last_read: &mut LastRead, client: &CurrentClient, is_refused: bool) -> bool {
        // The minimum time since the last read. A program may issue other credentials in each run although the cluster refuses them all, so
        // it must not run after each request.
        let period = if !is_refused || client.is_issued {
            RELOAD_PERIOD
        } else if last_read.was_unchanged {
            REFUSED_PERIOD
        } else {
            Duration::ZERO
        };
        let is_unchanged = || self.current.lock().version == client.version;
        if is_unchanged() && last_read.time.elapsed() >= period {
            if let Err(error) = self.read(is_refused).await {
                tracing::debug!(kubeconfig = %self.secret, %error, "the kubeconfig can't be read again");
            }
            *last_read = LastRead { time: Instant::now(), was_unchanged: is_unchanged() };
        }
        !is_unchanged()
    }

    /// Replaces the client if the credentials of `config` differ from the current ones; otherwise updates their times of renewal and
    /// expiry. If `config` is for another API server or has another certificate authority, the connection is only marked as replaced.
    fn update(&self, config: ClientConfig) {
        if config.identity != self.identity {
            self.is_replaced.store(true, Ordering::Relaxed);
            return;
        }
        let (version, is_issued) = (config.version, config.is_issued);
        let (renew_at, expire_at) = (config.renew_at, config.expire_at);
        let is_same = self.current.lock().version == version;
        if is_same {
            let mut current = self.current.lock();
            (current.renew_at, current.expire_at) = (renew_at, expire_at);
        } else if let Ok(client) = CurrentClient::connect(config, &self.connector) {
            if is_issued {
                tracing::debug!(kubeconfig = %self.secret, "connecting with renewed credentials");
            } else {
                tracing::info!(kubeconfig = %self.secret, "connecting with other credentials");
            }
            *self.current.lock() = client;
        }
    }
}

/// Returns a request with the same head and body as before, to send it again.
fn rebuild_request(parts: &Parts, body: impl Into<Body>) -> Request<Body> {
    Request::from_parts(parts.clone(), body.into())
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests;
