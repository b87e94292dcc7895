//! Accepts TLS connections, serves HTTP on them, and shuts them down gracefully.

use std::{convert::Infallible, pin::pin, sync::Arc, time::Duration};

use http::Request;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::{backend::Backend, request};

/// The timeout of a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The timeout for the head of a request, the same as kube-apiserver's.
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);

/// The interval of pings on a silent HTTP/2 connection.
const PING_INTERVAL: Duration = Duration::from_secs(30);

/// The timeout of the response to a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum number of concurrent requests of a connection.
const MAX_STREAMS: u32 = 250;

/// The time for which open requests may continue after the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Accepts connections and serves each in a task until `stopped` becomes true or its sender is dropped. Then waits until
/// the open connections have ended, at most for `SHUTDOWN_TIMEOUT`.
pub(super) async fn accept(
    listener: TcpListener,
    tls: TlsAcceptor,
    backend: Arc<Backend>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            // An error means that the sender is gone because `Serving` was dropped, which also stops the server.
            _ = stopped.wait_for(|stopped| *stopped) => break,
            // Removes ended tasks from the set.
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (tls, backend, stopped) = (tls.clone(), backend.clone(), stopped.clone());
                connections.spawn(serve_connection(stream, tls, backend, stopped));
            }
            // Probably no file handles are left: wait until other connections close.
            Err(error) => {
                tracing::warn!(%error, "no connection could be taken");
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let all_closed = async { while connections.join_next().await.is_some() {} };
    if timeout(SHUTDOWN_TIMEOUT, all_closed).await.is_err() {
        tracing::warn!("requests were cut off");
    }
}

/// Performs the TLS handshake of a connection and serves its requests. Logs errors, which concern only this client.
async fn serve_connection(
    stream: TcpStream,
    tls: TlsAcceptor,
    backend: Arc<Backend>,
    mut stopped: watch::Receiver<bool>,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "small answers may wait");
    }
    let handshake = tokio::select! {
        biased;
        result = timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)) => result,
        _ = stopped.wait_for(|stopped| *stopped) => return,
    };
    let Ok(Ok(stream)) = handshake else {
        tracing::debug!("a client did not agree on TLS");
        return;
    };
    if let Err(error) = serve_requests(stream, backend, stopped).await {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Serves the requests of a connection, with HTTP/2 or HTTP/1, until the client closes it, or until the server stops
/// and the running requests have ended.
async fn serve_requests(
    stream: TlsStream<TcpStream>,
    backend: Arc<Backend>,
    mut stopped: watch::Receiver<bool>,
) -> hyper::Result<()> {
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stop = stopped.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (backend, stop) = (backend.clone(), stop.clone());
        async move { Ok::<_, Infallible>(request::answer(&backend, request, stop).await) }
    });
    let io = TokioIo::new(stream);
    // Runs the connection, and shuts it down gracefully when the server stops. A macro, because the HTTP/1 and HTTP/2
    // connection types have no common trait.
    macro_rules! run {
        ($connection:expr) => {{
            let mut connection = pin!($connection);
            tokio::select! {
                biased;
                result = connection.as_mut() => return result,
                _ = stopped.wait_for(|stopped| *stopped) => connection.as_mut().graceful_shutdown(),
            }
            connection.await
        }};
    }
    if is_http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(PING_INTERVAL).keep_alive_timeout(PING_TIMEOUT);
        builder.max_concurrent_streams(MAX_STREAMS);
        run!(builder.serve_connection(io, service))
    } else {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
        run!(builder.serve_connection(io, service))
    }
}
