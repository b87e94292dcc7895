//! `ClusterConnection`: the client of another cluster, which reads the kubeconfig again when the cluster refuses its credentials.

use super::{
    client_config::{self, ClientConfig, UnusableKubeconfig},
    connector::ClusterConnector,
    kubeconfig::KubeconfigSecret,
};
use crate::{
    client::{Client, Target},
    error::Result,
    kind::kind_of,
};
use http::{Request, Response, StatusCode, request::Parts};
use k8s_openapi::api::core::v1::Secret;
use kube::client::Body;
use parking_lot::Mutex;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;

/// The minimum time between two reads of a kubeconfig that the cluster refuses.
const REFUSED_PERIOD: Duration = Duration::from_secs(1);
/// The minimum time between two reads of a kubeconfig whose cluster can't be reached.
const RELOAD_PERIOD: Duration = Duration::from_secs(10);

/// The connection to another cluster.
pub(super) struct ClusterConnection {
    secret: KubeconfigSecret,
    /// The client of the cluster with the Secret.
    secret_client: Client,
    connector: ClusterConnector,
    current: Mutex<CurrentClient>,
    /// Held while the kubeconfig is read again, with the time when it was read last.
    last_read: tokio::sync::Mutex<LastRead>,
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
    version: u64,
}

/// Reads the kubeconfig in a Secret; `None` if the Secret does not exist.
async fn load(secret: &KubeconfigSecret, client: &Client) -> Result<Option<ClientConfig>> {
    let kind = kind_of::<Secret>();
    let target = Target { kind: &kind, namespace: Some(&secret.namespace), name: &secret.name };
    let Some(found) = client.get::<Secret>(target).await? else { return Ok(None) };
    let config = client_config::read(secret, &found).await;
    config.map(Some).map_err(UnusableKubeconfig::into_yield)
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
        let Some(ClientConfig { config, identity, version }) = load(secret, secret_client).await? else {
            return Ok(None);
        };
        let client = connector.connect(config).map_err(|_| client_config::no_client(secret))?;
        Ok(Some(Arc::new(Self {
            secret: secret.clone(),
            secret_client: secret_client.clone(),
            connector: connector.clone(),
            current: Mutex::new(CurrentClient { client, version }),
            last_read: tokio::sync::Mutex::new(LastRead { time: Instant::now(), was_unchanged: false }),
            identity,
            is_replaced: AtomicBool::new(false),
            is_refused: AtomicBool::new(false),
        })))
    }

    /// Returns a client that always has the last credentials.
    pub(super) fn client(self: &Arc<Self>) -> Client {
        let connection = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let connection = connection.clone();
            async move { connection.send(request).await }
        });
        self.connector.wrap(kube::Client::new(service, "default"))
    }

    /// Returns whether the Secret names another cluster by now, so that a new connection is needed.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Relaxed)
    }

    /// Returns whether the cluster refused the credentials of the last request.
    pub(super) fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// Reads the kubeconfig again. Returns whether its Secret exists.
    ///
    /// # Errors
    /// As [`ClusterConnection::open`].
    pub(super) async fn refresh(&self) -> Result<bool> {
        let Some(config) = load(&self.secret, &self.secret_client).await? else { return Ok(false) };
        self.update(config);
        Ok(true)
    }

    /// Sends a request. If the cluster refuses the credentials, it reads the kubeconfig again, and repeats the request if it has
    /// changed: the cluster has not processed the first one.
    async fn send(&self, request: Request<Body>) -> kube::Result<Response<Body>> {
        let (parts, body) = request.into_parts();
        let body = body.collect_bytes().await?;
        let first = self.current.lock().clone();
        let response = first.client.send(rebuilt(&parts, body.clone())).await;
        let is_refused = match &response {
            Ok(response) => response.status() == StatusCode::UNAUTHORIZED,
            // Perhaps the API server has another certificate. Whether it has processed the request is unknown, so it is not repeated.
            Err(_) => {
                self.reload(first.version, RELOAD_PERIOD).await;
                false
            }
        };
        let response = if is_refused && self.reload(first.version, Duration::ZERO).await {
            let client = self.current.lock().client.clone();
            client.send(rebuilt(&parts, body.clone())).await
        } else {
            response
        };
        if let Ok(response) = &response {
            self.is_refused.store(response.status() == StatusCode::UNAUTHORIZED, Ordering::Relaxed);
        }
        response
    }

    /// Reads the kubeconfig again, unless another request has done so, or it was read less than `period` ago. Returns whether there
    /// are other credentials than those of `version`.
    async fn reload(&self, version: u64, period: Duration) -> bool {
        let mut last_read = self.last_read.lock().await;
        let period = if last_read.was_unchanged { period.max(REFUSED_PERIOD) } else { period };
        if self.current.lock().version == version && last_read.time.elapsed() >= period {
            match load(&self.secret, &self.secret_client).await {
                Ok(Some(config)) => self.update(config),
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(kubeconfig = %self.secret, %error, "the kubeconfig can't be read again");
                }
            }
            let was_unchanged = self.current.lock().version == version;
            *last_read = LastRead { time: Instant::now(), was_unchanged };
        }
        self.current.lock().version != version
    }

    fn update(&self, ClientConfig { config, identity, version }: ClientConfig) {
        if identity != self.identity {
            self.is_replaced.store(true, Ordering::Relaxed);
        } else if self.current.lock().version != version
            && let Ok(client) = self.connector.connect(config)
        {
            tracing::info!(kubeconfig = %self.secret, "connecting with other credentials");
            *self.current.lock() = CurrentClient { client, version };
        }
    }
}

fn rebuilt(parts: &Parts, body: impl Into<Body>) -> Request<Body> {
    Request::from_parts(parts.clone(), body.into())
}
