//! Creates the API client of an operator with leader election. The connections of this client send nothing after the deadline of the
//! leadership.
//!
//! The [guard](super::guard) checks the deadline when it passes a write on. If the process is stopped before the bytes of the
//! write reach the socket, they would be sent when it continues. So each connection checks the deadline again, directly before it
//! writes to its socket. It also holds back reads, which does no harm: the run ends when the deadline has passed.

use super::leads::Leads;
use crate::{crypto_provider, error::not_leading::NotLeading};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connected, Connection, HttpConnector},
    },
    rt::TokioExecutor,
};
use kube::{
    Config,
    client::{Body, ConfigExt as _},
};
use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};
use tower::{ServiceBuilder, ServiceExt as _};

/// Returns a client whose connections send nothing after the deadline of the leadership. It is built as [`kube::Client::try_from`] does,
/// but without retries, decompression and the spans of `kube`. A connection through a proxy does not check the deadline.
///
/// # Errors
/// Fails if the configuration can't be used.
pub(crate) fn client(config: Config, leads: Leads) -> kube::Result<kube::Client> {
    if config.proxy_url.is_some() {
        return kube::Client::try_from(config);
    }
    crypto_provider::ensure_default();
    let mut sockets = HttpConnector::new();
    sockets.enforce_http(false);
    let sockets = sockets.map_response(move |socket| GuardedSocket { socket, leads: leads.clone() });
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(sockets)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    let http: Client<_, Body> = Client::builder(TokioExecutor::new()).build(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(tower::BoxError::from)
        .service(http);
    Ok(kube::Client::new(service, config.default_namespace))
}

/// A socket to which nothing is written after the deadline of a lead.
struct GuardedSocket<S> {
    socket: S,
    leads: Leads,
}

impl<S: Unpin> GuardedSocket<S> {
    /// Returns the inner socket for a write.
    ///
    /// # Errors
    /// Fails if the deadline of the leadership has passed.
    fn writable(&mut self) -> io::Result<Pin<&mut S>> {
        if self.leads.has_expired() {
            return Err(io::Error::other(NotLeading::NotSent));
        }
        Ok(Pin::new(&mut self.socket))
    }
}

impl<S: Read + Unpin> Read for GuardedSocket<S> {
    /// Reads from the socket, without a check of the deadline.
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl<S: Write + Unpin> Write for GuardedSocket<S> {
    /// Writes to the socket. Fails if the deadline of the leadership has passed.
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.writable()?.poll_write(context, data)
    }

    /// Writes several buffers to the socket. Fails if the deadline of the leadership has passed.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writable()?.poll_write_vectored(context, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

impl<S: Connection> Connection for GuardedSocket<S> {
    fn connected(&self) -> Connected {
        self.socket.connected()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        error::ErrorChain,
        lease::lead::{Lead, LeadState, Tenure},
    };
    use axum::Router;
    use http::Request;
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };
    use tokio::{net::TcpListener, time::Instant};

    /// A server that counts its requests, and a client of it. Nothing above the connections checks the lead.
    struct Site {
        client: kube::Client,
        leads: Leads,
        lead: Lead,
        requests: Arc<AtomicUsize>,
    }

    impl Site {
        /// Starts the server, and creates the client whose connections check `leads`. The leadership is not held yet.
        async fn start() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let config = Config::new(format!("http://{}", listener.local_addr().unwrap()).parse().unwrap());
            let (leads, requests) = (Leads::new(), Arc::new(AtomicUsize::new(0)));
            let lead = leads.process().clone();
            let counter = requests.clone();
            let server = Router::new().fallback(move || {
                counter.fetch_add(1, Ordering::SeqCst);
                std::future::ready("{}")
            });
            tokio::spawn(async move { axum::serve(listener, server).await });
            Self { client: client(config, leads.clone()).unwrap(), leads, lead, requests }
        }

        /// Sends a write, and returns the number of requests that the server received, or the error.
        async fn write(&self) -> Result<usize, String> {
            let request = Request::put("/api/v1/namespaces/a/configmaps/b").body(Body::from(b"{}".to_vec())).unwrap();
            let response = self.client.send(request).await.map_err(|error| ErrorChain(&error).to_string())?;
            assert_eq!(response.status(), 200);
            response.into_body().collect_bytes().await.unwrap();
            Ok(self.requests.load(Ordering::SeqCst))
        }
    }

    fn held_until(deadline: Instant) -> LeadState {
        LeadState::Held(Tenure { deadline, give_up: deadline, overdue: deadline })
    }

    /// The client has no guard, so only its connections check the deadline. There is none before the leadership is held.
    #[tokio::test]
    async fn a_write_that_passed_the_guard_is_not_sent_after_the_deadline() {
        let site = Site::start().await;
        assert_eq!(site.write().await, Ok(1), "the caches are filled before the lead");
        site.lead.set(held_until(Instant::now() + Duration::from_secs(3600)));
        assert_eq!(site.write().await, Ok(2));
        site.lead.set(held_until(Instant::now()));
        for state in ["held", "ended"] {
            let error = site.write().await.unwrap_err();
            assert!(error.contains("this replica is not the leader"), "{state}: {error}");
            assert_eq!(site.requests.load(Ordering::SeqCst), 2, "{state}");
            site.lead.set(LeadState::Ended);
        }
    }

    /// Each held shard has a Lease of its own, whose deadline counts until the shard is removed.
    #[tokio::test]
    async fn nothing_is_sent_after_the_deadline_of_a_shard_until_it_is_handed_over() {
        let (site, shard) = (Site::start().await, Lead::new());
        site.lead.set(held_until(Instant::now() + Duration::from_secs(3600)));
        site.leads.add(shard.clone());
        shard.set(held_until(Instant::now()));
        assert!(site.write().await.is_err());
        site.leads.remove(&shard);
        assert_eq!(site.write().await, Ok(1));
    }

    /// The release of the Lease is a write after the end of the leadership and before its deadline.
    #[tokio::test]
    async fn the_release_after_the_last_write_is_sent() {
        let site = Site::start().await;
        site.lead.set(held_until(Instant::now() + Duration::from_secs(3600)));
        site.lead.set(LeadState::Ended);
        assert_eq!(site.write().await, Ok(1));
    }
}
