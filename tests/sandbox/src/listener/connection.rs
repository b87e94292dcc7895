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

/// How long a client may take to agree on TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a client may take to send the head of a request, as long as kube-apiserver lets it.
const HEAD: Duration = Duration::from_secs(32);

/// How often a silent HTTP/2 connection is asked whether it is still there, and how long it may take to answer.
const PING: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(20));

/// How many requests of a connection are answered at a time.
const STREAMS: u32 = 250;

/// How long requests that are being answered may go on after the server was told to stop.
const LAST: Duration = Duration::from_secs(5);

/// Takes connections until it is told to stop, then waits for those that it has.
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
            // The other side is gone when `Serving` is: both mean the end.
            _ = stopped.wait_for(|stopped| *stopped) => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            taken = listener.accept() => taken,
        };
        match taken {
            Ok((stream, _)) => {
                let (tls, backend, stopped) = (tls.clone(), backend.clone(), stopped.clone());
                connections.spawn(connection(stream, tls, backend, stopped));
            }
            // No file handles left, most likely: others will be closed.
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

/// Answers the requests of a connection until the client closes it or the server stops.
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
    // The two kinds of a connection have no name in common.
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
