//! Accepts the connections of a bound address, and serves HTTP/1.1 over TLS or over plain TCP.

use http::{Request, Response};
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use rustls::ServerConfig;
use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

/// How long a client may take to agree on TLS.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection may have no request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// The pause after a connection could not be accepted, for example because of too many open files.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// How the bytes of a connection are sent.
#[derive(Clone, Debug)]
pub(crate) enum Transport {
    /// As they are.
    Plain,
    /// Encrypted, with the certificate of these settings.
    Tls(Arc<ServerConfig>),
    /// Not at all: the connection is closed.
    Refused,
}

/// A bound address, until it is closed.
#[derive(Debug)]
pub(crate) struct BoundAddress {
    /// It stays bound while the task that serves is started again. `None` after [`BoundAddress::close`].
    listener: Mutex<Option<Arc<TcpListener>>>,
    server: &'static str,
    max_connections: usize,
}

/// Binds a TCP address. If it is `[::]` and can't be bound although its port is free, the machine has no IPv6; then binds the port on all
/// IPv4 addresses.
pub(crate) async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    match TcpListener::bind(address).await {
        Err(error)
            if address.is_ipv6() && address.ip().is_unspecified() && error.kind() != io::ErrorKind::AddrInUse =>
        {
            TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], address.port()))).await
        }
        bound => bound,
    }
}

impl BoundAddress {
    /// Wraps a bound listener. `server` names the server in messages. While `max_connections` connections are open, further ones wait.
    pub(crate) fn new(listener: TcpListener, server: &'static str, max_connections: usize) -> Self {
        Self { listener: Mutex::new(Some(Arc::new(listener))), server, max_connections }
    }

    /// Drops the listener. The address is closed as soon as no running [`BoundAddress::serve_until`] holds a clone of the listener.
    pub(crate) fn close(&self) {
        self.listener.lock().take();
    }

    /// Returns the bound address; panics after [`BoundAddress::close`].
    #[cfg(test)]
    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.listener.lock().as_ref().and_then(|listener| listener.local_addr().ok()).unwrap()
    }

    /// Accepts connections and serves their HTTP requests until the future is dropped, which ends all connections. Calls `transport` for
    /// each connection, to choose plain TCP or TLS, and `respond` for each request.
    pub(crate) async fn serve<R, F>(&self, transport: impl Fn() -> Transport, respond: R)
    where
        R: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        // The value stays false, since nothing sends to it. The sender lives as long as the future.
        let (_stop, stopped) = watch::channel(false);
        self.serve_until(&stopped, transport, respond).await;
    }

    /// Accepts and serves connections, as [`BoundAddress::serve`] does, until `stopped` is true. Then it closes the address, and returns
    /// when each open connection has sent the response to its current request.
    pub(crate) async fn serve_until<R, F>(
        &self,
        stopped: &watch::Receiver<bool>,
        transport: impl Fn() -> Transport,
        respond: R,
    ) where
        R: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        let (permits, mut connections) = (Arc::new(Semaphore::new(self.max_connections)), JoinSet::new());
        let (server, listener) = (self.server, self.listener.lock().clone());
        let Some(listener) = listener else { return };
        loop {
            // While all permits are taken, no connection is accepted.
            let accepted = async {
                let permit = permits.clone().acquire_owned().await.ok();
                (permit, listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                biased;
                () = wait_until_true(stopped.clone()) => break,
                accepted = accepted => accepted,
            };
            // Removes the tasks of ended connections from the set.
            while connections.try_join_next().is_some() {}
            match accepted {
                Ok((stream, _)) => {
                    let (transport, respond, stopped) = (transport(), respond.clone(), stopped.clone());
                    connections.spawn(async move {
                        serve_connection(server, stream, transport, respond, stopped).await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(server, %error, "failed to accept a client");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        // Both clones of the listener are dropped, so that the operating system refuses further connections.
        drop(listener);
        self.close();
        while connections.join_next().await.is_some() {}
    }
}

/// Waits until the value is true. Never returns if the sender is dropped before.
async fn wait_until_true(mut value: watch::Receiver<bool>) {
    if value.wait_for(|is_true| *is_true).await.is_err() {
        std::future::pending().await
    }
}

/// Serves one accepted connection: performs the TLS handshake if `transport` requires it, and then serves the HTTP requests. Closes a
/// connection that is refused, or whose handshake fails or takes longer than [`HANDSHAKE_TIMEOUT`].
async fn serve_connection<R, F>(
    server: &'static str,
    stream: TcpStream,
    transport: Transport,
    respond: R,
    stopped: watch::Receiver<bool>,
) where
    R: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Full<Bytes>>>,
{
    let config = match transport {
        Transport::Plain => return serve_requests(server, stream, respond, stopped).await,
        Transport::Tls(config) => config,
        Transport::Refused => {
            return tracing::debug!(server, "closed a connection, since there is no valid certificate");
        }
    };
    match timeout(HANDSHAKE_TIMEOUT, TlsAcceptor::from(config).accept(stream)).await {
        Ok(Ok(stream)) => serve_requests(server, stream, respond, stopped).await,
        Ok(Err(error)) => tracing::debug!(server, %error, "the TLS handshake with a client failed"),
        Err(_) => tracing::debug!(server, "the TLS handshake with a client timed out"),
    }
}

/// Serves the HTTP/1.1 requests of a connection until the client closes it, sends no request for [`IDLE_TIMEOUT`], or `stopped` is true.
/// In the last case, the connection ends after the response to the current request.
async fn serve_requests<R, F>(
    server: &'static str,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    respond: R,
    stopped: watch::Receiver<bool>,
) where
    R: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Full<Bytes>>>,
{
    let service = service_fn(|request: Request<Incoming>| {
        let response = respond(request);
        async move { Ok::<_, Infallible>(response.await) }
    });
    let mut connection = http1::Builder::new();
    connection.timer(TokioTimer::new()).header_read_timeout(IDLE_TIMEOUT);
    let mut connection = std::pin::pin!(connection.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = wait_until_true(stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(server, %error, "a connection ended");
    }
}
