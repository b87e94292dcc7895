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
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The timeout for the head of a request, the same as kube-apiserver's.
const HEAD: Duration = Duration::from_secs(32);

/// The interval of pings on a silent HTTP/2 connection, and the timeout of their responses.
const PING: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(20));

/// The maximum number of concurrent requests of a connection.
const STREAMS: u32 = 250;

/// The time for which open requests may continue after the server stops.
const LAST: Duration = Duration::from_secs(5);

/// Accepts connections until the server stops, then waits for the open ones.
pub(super) async fn accept(
    listener: TcpListener,
    tls: TlsAcceptor,
    backend: Arc<Backend>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let taken = tokio::select! {
            biased;
            // An error means that `Serving` is dropped, which also stops the server.
            _ = stopped.wait_for(|stopped| *stopped) => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            taken = listener.accept() => taken,
        };
        match taken {
            Ok((stream, _)) => {
                let (tls, backend, stopped) = (tls.clone(), backend.clone(), stopped.clone());
                connections.spawn(connection(stream, tls, backend, stopped));
            }
            // Probably no file handles are left: wait until other connections close.
            Err(error) => {
                tracing::warn!(%error, "no connection could be taken");
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if timeout(LAST, ended).await.is_err() {
        tracing::warn!("requests were cut off");
    }
}

async fn connection(stream: TcpStream, tls: TlsAcceptor, backend: Arc<Backend>, mut stopped: watch::Receiver<bool>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "small answers may wait");
    }
    let handshake = tokio::select! {
        biased;
        agreed = timeout(HANDSHAKE, tls.accept(stream)) => agreed,
        _ = stopped.wait_for(|stopped| *stopped) => return,
    };
    let Ok(Ok(stream)) = handshake else {
        tracing::debug!("a client did not agree on TLS");
        return;
    };
    if let Err(error) = answer_requests(stream, backend, stopped).await {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Serves the requests of a connection until the client closes it or the server stops.
async fn answer_requests(
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
    // The HTTP/1 and HTTP/2 connection types have no common trait.
    macro_rules! run {
        ($connection:expr) => {{
            let mut connection = pin!($connection);
            tokio::select! {
                biased;
                ended = connection.as_mut() => return ended,
                _ = stopped.wait_for(|stopped| *stopped) => connection.as_mut().graceful_shutdown(),
            }
            connection.await
        }};
    }
    if is_http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(PING.0).keep_alive_timeout(PING.1);
        builder.max_concurrent_streams(STREAMS);
        run!(builder.serve_connection(io, service))
    } else {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
        run!(builder.serve_connection(io, service))
    }
}
