//! `MetricsServer`: the settings of the server of `/metrics`, and the server itself.
//!
//! The server uses HTTPS with bearer tokens, which the API server reviews, or plain HTTP on a loopback address.

use super::{
    handler::MetricsHandler,
    profiling,
    registry::Metrics,
    reviews::{METRICS_PATH, Reviews, TokenAccess},
    text::Format,
};
use crate::{
    error::{BoxError, ErrorChain},
    server::{
        certificate::{Certificate, CertificateFiles},
        connection::{self, BoundAddress, Transport},
    },
};
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body, Bytes};
use std::{io, net::SocketAddr, path::Path, sync::Arc};

/// The maximum number of connections at a time. Further ones wait.
const MAX_CONNECTIONS: usize = 100;

/// The maximum size of the body of a request.
const MAX_BODY: usize = 1 << 20;

/// The address of `/metrics`, and how it is served there.
///
/// ```
/// # use opgen::metrics::MetricsServer;
/// # use opgen::RunOptions;
/// let server = MetricsServer::new(([0, 0, 0, 0], 8443).into()).certificate("/certs", "tls.crt", "tls.key");
/// let options = RunOptions::default().metrics(server);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsServer {
    address: SocketAddr,
    secure: Option<bool>,
    files: Option<CertificateFiles>,
    profiling: bool,
}

impl MetricsServer {
    /// Serves the metrics at this address. An unspecified IPv6 address (`[::]`) stands for all addresses of the machine.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, secure: None, files: None, profiling: false }
    }

    /// Returns the same server at another address.
    pub(crate) fn at(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    /// Sets whether to serve HTTPS, and to require a token whose user may get `/metrics`. Default: yes, unless the address is
    /// a loopback address. Plain HTTP is possible on a loopback address only.
    #[must_use]
    pub fn secure(mut self, secure: bool) -> Self {
        self.secure = Some(secure);
        self
    }

    /// Sets the folder of the certificate, and the names of the files of its chain and its key, in PEM. Changed files are loaded
    /// within ten seconds. Default: a self-signed certificate, created at the start.
    #[must_use]
    pub fn certificate(mut self, folder: impl AsRef<Path>, chain: &str, key: &str) -> Self {
        let folder = folder.as_ref();
        self.files = Some(CertificateFiles { chain: folder.join(chain), key: folder.join(key) });
        self
    }

    /// Sets whether to serve CPU profiles and memory statistics as well. Default: no.
    ///
    /// - `/debug/pprof/profile?seconds=N` samples the stack of the running thread 99 times for each second of CPU time, for `N` seconds
    ///   (1 to 300, default 30), and responds in the format of [pprof](https://github.com/google/pprof). It needs the feature
    ///   `profiling`, and a binary that is not stripped of its symbols.
    /// - `/debug/memory` responds with the memory of the process, in KiB, as Linux counts it. The caches are in the metrics.
    ///
    /// A client needs the right to `get` the path, as for `/metrics`. Stacks name the functions of a program, and none of its data.
    #[must_use]
    pub fn profiling(mut self, profiling: bool) -> Self {
        self.profiling = profiling;
        self
    }

    /// Returns whether the server uses HTTPS and lets the API server review the tokens of clients.
    fn is_secure(&self) -> bool {
        self.secure.unwrap_or(!self.address.ip().is_loopback())
    }

    /// Checks that the server needs no token reviews, for an operator without Kubernetes, which has no API server to review tokens.
    ///
    /// # Errors
    /// [`MetricsError::NoReviews`] if the server is secure.
    pub(crate) fn check_without_kubernetes(&self) -> Result<(), MetricsError> {
        if self.is_secure() { Err(MetricsError::NoReviews { address: self.address }) } else { Ok(()) }
    }

    /// Loads the certificate, or creates a self-signed one for these DNS names, and binds the address.
    ///
    /// # Errors
    /// Fails for plain HTTP on an address that is not a loopback address, for an unusable certificate, and for an address that
    /// can't be bound.
    pub(crate) async fn bind(&self, names: Vec<String>) -> Result<BoundServer, MetricsError> {
        let address = self.address;
        let is_loopback = address.ip().is_loopback();
        let certificate = match (self.is_secure(), &self.files) {
            (false, _) if !is_loopback => return Err(MetricsError::Insecure { address }),
            (false, _) => None,
            (true, Some(files)) => {
                Some(Certificate::load("metrics", files.clone()).map_err(MetricsError::Certificate)?)
            }
            (true, None) => Some(Certificate::self_signed("metrics", names).map_err(MetricsError::Certificate)?),
        };
        let listener = connection::bind(address).await.map_err(|source| MetricsError::Listen { address, source })?;
        let address = BoundAddress::new(listener, "metrics", MAX_CONNECTIONS);
        Ok(BoundServer { address, certificate: certificate.map(Arc::new), profiling: self.profiling })
    }
}

impl From<SocketAddr> for MetricsServer {
    fn from(address: SocketAddr) -> Self {
        Self::new(address)
    }
}

/// Why the metrics can't be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// The address is in use, or is no address of this machine.
    #[error("failed to listen on {address} for metrics")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Plain HTTP was requested on an address that other machines can reach.
    #[error("metrics over plain HTTP need a loopback address, not {address}")]
    Insecure {
        /// The address.
        address: SocketAddr,
    },
    /// The tokens of clients need an API server that reviews them, and the operator runs without Kubernetes.
    #[error("metrics over HTTPS on {address} need Kubernetes, which reviews the tokens of their clients")]
    NoReviews {
        /// The address.
        address: SocketAddr,
    },
    /// The certificate can't be loaded or created.
    #[error("failed to load the certificate of the metrics")]
    Certificate(#[source] io::Error),
}

impl MetricsError {
    /// Returns what the user of the command line can do.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Listen { .. } => "choose another `--metrics-bind-address`, or 0 for none",
            Self::Insecure { .. } => {
                "remove `--metrics-secure=false`, or choose a loopback address such as 127.0.0.1:8080"
            }
            Self::NoReviews { .. } => {
                "choose a loopback address such as `--metrics-bind-address=127.0.0.1:8080`, which a proxy beside the operator can \
                 read, or 0 for none"
            }
            Self::Certificate(_) => {
                "check `--metrics-cert-path`, `--metrics-cert-name` and `--metrics-cert-key`, or remove them for a self-signed certificate"
            }
        }
    }
}

/// A server whose address is bound.
#[derive(Debug)]
pub(crate) struct BoundServer {
    address: BoundAddress,
    certificate: Option<Arc<Certificate>>,
    profiling: bool,
}

impl BoundServer {
    /// Serves the metrics and the paths of `handlers` until the caller drops the future, which also ends the connections. With HTTPS,
    /// `client` creates the token reviews.
    pub(crate) async fn serve(&self, metrics: Metrics, handlers: Vec<MetricsHandler>, client: kube::Client) {
        let reviews = self.certificate.is_some().then(|| Reviews::new(client));
        let profiling_handlers = self.profiling.then(profiling::handlers).into_iter().flatten();
        let handlers = handlers.into_iter().chain(profiling_handlers).collect();
        let handler = Arc::new(Handler { metrics, handlers, reviews });
        let transport =
            || self.certificate.as_ref().map_or(Transport::Plain, |served| Transport::Tls(served.current()));
        let respond = move |request| {
            let handler = handler.clone();
            async move { handler.respond(request).await }
        };
        self.address.serve(transport, respond).await;
    }
}

/// Responds to the requests of all paths of the server.
struct Handler {
    metrics: Metrics,
    /// The paths of the user.
    handlers: Vec<MetricsHandler>,
    /// `None` if everybody may read the metrics.
    reviews: Option<Reviews>,
}

impl Handler {
    /// Returns the response to a request: for `/metrics` the metrics, for the path of a handler the response of the handler. A client
    /// without the right to the path gets an error.
    async fn respond<B: Body<Data = Bytes, Error: Into<BoxError>>>(
        &self,
        request: Request<B>,
    ) -> Response<Full<Bytes>> {
        let path = request.uri().path();
        let handler = self.handlers.iter().find(|handler| handler.path() == path);
        if path != METRICS_PATH && handler.is_none() {
            return text_response(StatusCode::NOT_FOUND, "not found; the metrics are at /metrics");
        }
        if handler.is_none() && request.method() != Method::GET {
            return text_response(StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed");
        }
        if let Some(refusal) = self.refusal(request.method(), path, request.headers()).await {
            return refusal;
        }
        match handler {
            Some(handler) => self.call(handler, request).await,
            None => self.encode(request.headers()).await,
        }
    }

    /// Reads the body of a request, up to 1 MiB, and returns the response of a handler to the request.
    async fn call<B: Body<Data = Bytes, Error: Into<BoxError>>>(
        &self,
        handler: &MetricsHandler,
        request: Request<B>,
    ) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            return text_response(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body of the request is incomplete or larger than 1 MiB",
            );
        };
        let request = Request::from_parts(head, body.to_bytes().to_vec());
        match handler.respond(request, self.metrics.counters()).await {
            Some(response) => response.map(|body| Full::new(Bytes::from(body))),
            None => text_response(StatusCode::INTERNAL_SERVER_ERROR, "the handler failed; the reason is in the log"),
        }
    }

    /// Returns the metrics as a response, in the format that the header `Accept` prefers.
    async fn encode(&self, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let format = Format::of_accept(&accept.collect::<Vec<_>>().join(","));
        let metrics = self.metrics.clone();
        // Counting the bytes of large caches takes a while, so it must not block a thread of the async runtime.
        let encoded = tokio::task::spawn_blocking(move || match format {
            Format::OpenMetrics => metrics.open_metrics(),
            Format::Text => metrics.text(),
        });
        match encoded.await {
            Ok(Ok(text)) => response(StatusCode::OK, format.content_type(), text),
            failed => {
                tracing::error!(?failed, "failed to encode the metrics");
                text_response(StatusCode::INTERNAL_SERVER_ERROR, "failed to encode the metrics")
            }
        }
    }

    /// Returns the error response for a client that has no right to a path; `None` if the client has the right, or if no rights are
    /// required.
    async fn refusal(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Response<Full<Bytes>>> {
        let reviews = self.reviews.as_ref()?;
        let Some(token) = bearer_token(headers) else {
            return Some(text_response(StatusCode::UNAUTHORIZED, "Unauthorized: a bearer token is required"));
        };
        let verb = method.as_str().to_lowercase();
        match reviews.access(token, &verb, path).await {
            Ok(TokenAccess::Allowed) => None,
            Ok(TokenAccess::Unauthenticated) => {
                Some(text_response(StatusCode::UNAUTHORIZED, "Unauthorized: the token is not valid"))
            }
            Ok(TokenAccess::Forbidden { user }) => Some(text_response(
                StatusCode::FORBIDDEN,
                &format!("Forbidden: user {user:?} cannot {verb} path {path:?}"),
            )),
            Err(error) => {
                let error = ErrorChain(&error);
                tracing::error!(%error, "failed to review the token of a client of {path}");
                Some(text_response(StatusCode::INTERNAL_SERVER_ERROR, "failed to review the token"))
            }
        }
    }
}

/// Returns the token of the header `Authorization: Bearer …`; `None` if the header is missing or has another form.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}

/// Returns a response with one line of text.
fn text_response(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    response(status, "text/plain; charset=utf-8", format!("{text}\n"))
}

/// Returns a response. With status 401, its header `WWW-Authenticate` names the scheme `Bearer`, as RFC 6750 requires.
fn response(status: StatusCode, content_type: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(content_type));
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
    }
    response
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
