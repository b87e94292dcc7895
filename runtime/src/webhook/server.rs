//! `WebhookServer`: the settings of the HTTPS server of the webhooks, and the server itself.

use super::{
    certificate::keeper::{CertificateKeeper, ServedCertificates},
    dispatch::Dispatcher,
    names::WebhookNames,
    trusted::TrustedWebhooks,
};
use crate::{
    client::Client,
    environment::Environment,
    server::{
        certificate::{Certificate, CertificateFiles},
        connection::{self, BoundAddress, Transport},
    },
};
use http::{HeaderValue, header};
use std::{
    io,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::watch, time::timeout};

/// The maximum number of connections at a time. An API server has a few to each replica.
const MAX_CONNECTIONS: usize = 500;

/// How long a server responds after the signal to stop. By then, API servers know that the replica is gone.
const DRAIN_PERIOD: Duration = Duration::from_secs(3);

/// How long the requests may take that a server still works on after that. With the shutdown timeout, it is less than the grace period of
/// the generated Deployment.
const FINISH_TIMEOUT: Duration = Duration::from_secs(10);

/// The default lifetime of certificates: 90 days.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(90 * 24 * 3600);

/// The address of the webhooks, and the certificate that is served there.
///
/// ```
/// # use opgen::{RunOptions, webhook::WebhookServer};
/// let server = WebhookServer::new(([0, 0, 0, 0], 9443).into());
/// let options = RunOptions::default().webhooks(server);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookServer {
    address: SocketAddr,
    files: Option<CertificateFiles>,
    lifetime: Duration,
    service: Option<String>,
    configuration: Option<String>,
}

impl WebhookServer {
    /// Serves the webhooks at this address by HTTPS. An unspecified IPv6 address (`[::]`) stands for all addresses of the machine.
    ///
    /// The operator makes the certificate: the replicas share it in a Secret `<service>-certificates`, renew it after two thirds of its
    /// lifetime, and write the authorities to the webhook configurations.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, files: None, lifetime: DEFAULT_LIFETIME, service: None, configuration: None }
    }

    /// Returns the same server at another address.
    pub(crate) fn at(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    /// Sets the folder of the certificate, and the names of the files of its chain and its key, in PEM, for example those of
    /// cert-manager. Changed files are loaded for a new connection, at most every ten seconds; open connections keep the certificate that
    /// they began with. The operator then writes no authorities. Default: a certificate that
    /// the operator makes.
    #[must_use]
    pub fn certificate(mut self, folder: impl AsRef<Path>, chain: &str, key: &str) -> Self {
        let folder = folder.as_ref();
        self.files = Some(CertificateFiles { chain: folder.join(chain), key: folder.join(key) });
        self
    }

    /// Sets the lifetime of the certificates that the operator makes, at least a minute. Default: 90 days.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime.max(Duration::from_secs(60));
        self
    }

    /// Sets the name of the Service of the webhooks. Default: `<operator>-webhook`.
    #[must_use]
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = Some(name.into());
        self
    }

    /// Sets the name of the operator's webhook configurations. Default: the name of the operator, after its namespace and `-` if it is
    /// namespaced.
    #[must_use]
    pub fn configuration(mut self, name: impl Into<String>) -> Self {
        self.configuration = Some(name.into());
        self
    }

    /// Loads the certificate, if it is in files, and binds the address, before anything of the operator starts.
    ///
    /// # Errors
    /// Those of [`WebhookServerError`].
    pub(crate) async fn bind(&self) -> Result<BoundWebhookServer, WebhookServerError> {
        let files = self.files.clone().map(|files| Certificate::load("webhooks", files)).transpose();
        let address = self.address;
        let listener = connection::bind(address).await;
        let listener = listener.map_err(|source| WebhookServerError::Listen { address, source })?;
        Ok(BoundWebhookServer {
            address: BoundAddress::new(listener, "webhooks", MAX_CONNECTIONS),
            files: files.map_err(WebhookServerError::Certificate)?.map(Arc::new),
            settings: self.clone(),
        })
    }

    /// Returns the names of the Service, the Secret and the webhook configurations: those that are set, otherwise the defaults.
    fn names(&self, operator: &str, cluster_name: &str) -> WebhookNames {
        let mut names = WebhookNames::new(operator, cluster_name);
        if let Some(service) = &self.service {
            (names.service, names.secret) = (service.clone(), format!("{service}-certificates"));
        }
        names.configuration = self.configuration.clone().unwrap_or(names.configuration);
        names
    }
}

impl From<SocketAddr> for WebhookServer {
    fn from(address: SocketAddr) -> Self {
        Self::new(address)
    }
}

/// Why the webhooks can't be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookServerError {
    /// The address is in use, or is no address of this machine.
    #[error("failed to listen on {address} for webhooks")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The files of the certificate can't be loaded.
    #[error("failed to load the certificate of the webhooks")]
    Certificate(#[source] io::Error),
}

/// A server whose address is bound.
#[derive(Debug)]
pub(crate) struct BoundWebhookServer {
    address: BoundAddress,
    /// The certificate in files; `None` if the operator makes it.
    files: Option<Arc<Certificate>>,
    settings: WebhookServer,
}

/// The parts of a running server.
#[derive(Clone)]
pub(crate) struct RunningWebhookServer {
    server: Arc<BoundWebhookServer>,
    pub(crate) keeper: Option<CertificateKeeper>,
    served: Option<Arc<ServedCertificates>>,
    dispatcher: Dispatcher,
    environment: Environment,
    is_serving: Arc<AtomicBool>,
    phase: watch::Sender<Phase>,
}

/// How far a server is with its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    #[default]
    Serving,
    /// Each response asks the client to close the connection.
    Draining,
    /// All requests have their response.
    Ended,
}

/// The operator of a server.
pub(crate) struct ServedOperator<'a> {
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    /// Whether it watches its own namespace only, so that a cluster may have several of it.
    pub(crate) is_namespaced: bool,
    pub(crate) environment: &'a Environment,
}

impl BoundWebhookServer {
    /// Combines the bound address with the webhooks of an operator to a server that can be started. If no certificate files are set, it
    /// creates a keeper of certificates; `client` is for its writes, which replicas that are not the leader make as well.
    pub(crate) fn running(
        self,
        dispatcher: Dispatcher,
        webhooks: &TrustedWebhooks<'_>,
        operator: &ServedOperator<'_>,
        client: Client,
    ) -> RunningWebhookServer {
        let cluster_name = match operator.is_namespaced {
            true => format!("{}-{}", operator.namespace, operator.name),
            false => operator.name.to_owned(),
        };
        let names = self.settings.names(operator.name, &cluster_name);
        let keeper = self.files.is_none().then(|| {
            let clock = (self.settings.lifetime, operator.environment.clone());
            CertificateKeeper::new(client, (operator.name, operator.namespace), &names, webhooks, clock)
        });
        RunningWebhookServer {
            server: Arc::new(self),
            served: keeper.as_ref().map(CertificateKeeper::served),
            keeper,
            dispatcher,
            environment: operator.environment.clone(),
            is_serving: Arc::default(),
            phase: watch::Sender::default(),
        }
    }
}

impl RunningWebhookServer {
    /// Serves the webhooks as soon as there is a certificate. After [`RunningWebhookServer::drain`] has been called it serves for
    /// [`DRAIN_PERIOD`], finishes its requests and sets the phase `Ended`. It never returns; the caller drops the future.
    pub(crate) async fn serve(&self) {
        if let Some(served) = &self.served {
            served.wait().await;
        }
        let (dispatcher, phase) = (self.dispatcher.clone(), self.phase.subscribe());
        let respond = move |request| {
            let (dispatcher, phase) = (dispatcher.clone(), phase.clone());
            async move {
                let mut response = dispatcher.respond(request).await;
                if *phase.borrow() >= Phase::Draining {
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                response
            }
        };
        self.is_serving.store(true, Ordering::Relaxed);
        let (stop, stopped) = watch::channel(false);
        let (mut phase, serving) =
            (self.phase.subscribe(), self.server.address.serve_until(&stopped, || self.transport(), respond));
        let mut serving = std::pin::pin!(serving);
        tokio::select! {
            () = serving.as_mut() => {}
            () = async {
                // The sender lives as long as `self`.
                let _ = phase.wait_for(|phase| *phase >= Phase::Draining).await;
                tokio::time::sleep(DRAIN_PERIOD).await;
            } => {
                stop.send_replace(true);
                serving.await;
            }
        }
        self.phase.send_replace(Phase::Ended);
        std::future::pending().await
    }

    /// Ends the server without a failed request. For [`DRAIN_PERIOD`] it still responds, with `Connection: close`, so that API servers
    /// learn that the replica is gone. Then it accepts no connection and waits for the open requests, at most [`FINISH_TIMEOUT`].
    pub(crate) async fn drain(&self) {
        if !self.is_serving.load(Ordering::Relaxed) {
            return;
        }
        let mut phase = self.phase.subscribe();
        self.phase.send_replace(Phase::Draining);
        let ended = timeout(DRAIN_PERIOD + FINISH_TIMEOUT, phase.wait_for(|phase| *phase == Phase::Ended)).await;
        if ended.is_err() {
            tracing::warn!("some requests of webhooks were not finished before the shutdown");
        }
    }

    /// Drops the listener, so that connections are refused from now on. Called after the task with [`RunningWebhookServer::serve`] has
    /// ended.
    pub(crate) fn close(&self) {
        self.server.address.close();
    }

    /// Returns how a new connection is served: by TLS with the current certificate, from the files or made by the operator. If there is no
    /// valid certificate, the connection is refused.
    fn transport(&self) -> Transport {
        let config = match (&self.server.files, &self.served) {
            (Some(files), _) => Some(files.current()),
            (None, Some(served)) => served.current(&self.environment),
            (None, None) => None,
        };
        config.map_or(Transport::Refused, Transport::Tls)
    }

    /// Returns why API servers can't call the webhooks now, for the readiness probe; `None` if they can.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        if !self.is_serving.load(Ordering::Relaxed) {
            return Some("the certificate of the webhooks is not there yet");
        }
        if self.served.as_ref().is_some_and(|served| !served.is_trusted(&self.environment)) {
            return Some("the API server does not trust the certificate of the webhooks yet");
        }
        matches!(self.transport(), Transport::Refused).then_some("the certificate of the webhooks has expired")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
