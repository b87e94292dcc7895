//! `CollectorClient` sends batches of spans to a collector, with a single-threaded Tokio runtime in the thread of the exporter.

use super::settings::ExportSettings;
use crate::crypto_provider;
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response,
    header::{CONTENT_ENCODING, CONTENT_TYPE, USER_AGENT},
};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connect, HttpConnector},
    },
    rt::TokioExecutor,
};
use kube::{Config, client::ConfigExt as _};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use std::{fmt, path::Path, time::Duration};
use tokio::runtime::{Builder, Runtime};

/// The time for one request. The exporter limits all attempts of a batch by `OTEL_EXPORTER_OTLP_TIMEOUT` besides.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum size of a response, which only tells how many spans were accepted.
const MAX_RESPONSE: usize = 1 << 20;

/// A client of a collector. Its requests block the thread that sends them, so only the thread of the exporter may do that.
pub(super) struct CollectorClient {
    client: Box<dyn Send + Sync + Fn(Request<Bytes>) -> Exchange>,
    /// The headers of the settings. They replace those that the exporter reads from the environment itself.
    headers: HeaderMap,
    runtime: Runtime,
}

/// A request on its way.
type Exchange = futures::future::BoxFuture<'static, Result<Response<Bytes>, HttpError>>;

impl CollectorClient {
    /// Returns a client that trusts the certificates of the settings, or those of the system.
    ///
    /// # Errors
    /// Fails if the endpoint is no URL, or if the certificates can't be read.
    pub(super) fn new(settings: &ExportSettings) -> Result<Self, String> {
        let endpoint = settings.endpoint.parse().map_err(|error| format!("{}: {error}", settings.endpoint))?;
        let mut config = Config::new(endpoint);
        config.root_cert = settings.certificate.as_deref().map(certificates).transpose()?;
        crypto_provider::ensure_default();
        let is_https = config.cluster_url.scheme_str() == Some("https");
        // The connector for TLS wraps this one, which therefore has to accept URLs with `https`.
        let mut sockets = HttpConnector::new();
        sockets.enforce_http(false);
        let client = if is_https {
            exchanges(config.rustls_https_connector_with_connector(sockets).map_err(|error| error.to_string())?)
        } else {
            exchanges(sockets)
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let headers = settings
            .headers
            .iter()
            .map(|(name, value)| Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?)));
        let headers = headers.collect::<Option<_>>().ok_or("a header is invalid")?;
        Ok(Self { client, headers, runtime })
    }
}

/// Returns a function that sends a request through a connector and returns the response with its body, up to `MAX_RESPONSE` bytes.
fn exchanges<C: Connect + Clone + Send + Sync + 'static>(
    connector: C,
) -> Box<dyn Send + Sync + Fn(Request<Bytes>) -> Exchange> {
    let client: Client<C, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
    Box::new(move |request| {
        let response = client.request(request.map(Full::new));
        Box::pin(async move {
            let (head, body) = response.await?.into_parts();
            let body = Limited::new(body, MAX_RESPONSE).collect().await?;
            Ok(Response::from_parts(head, body.to_bytes()))
        })
    })
}

/// Reads the certificates in a PEM file, in DER form; an error if the file can't be read or has none.
fn certificates(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let failure = |error: &dyn fmt::Display| format!("failed to read the certificates in {}: {error}", path.display());
    let found = CertificateDer::pem_file_iter(path).map_err(|error| failure(&error))?;
    let found = found.map(|certificate| certificate.map(|certificate| certificate.to_vec()));
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| failure(&error))?;
    if found.is_empty() { Err(failure(&"there are none")) } else { Ok(found) }
}

#[async_trait::async_trait]
impl HttpClient for CollectorClient {
    /// Sends a request and blocks the calling thread, which is that of the exporter, until the response has arrived or
    /// `REQUEST_TIMEOUT` is over. The headers of the settings replace the headers that the exporter has read from the environment.
    async fn send_bytes(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // The exporter sets these three headers itself; it reads all other headers from the environment.
        let content = [CONTENT_TYPE, CONTENT_ENCODING, USER_AGENT];
        let kept = content.into_iter().filter_map(|name| Some((name.clone(), request.headers().get(&name)?.clone())));
        let headers: HeaderMap =
            kept.chain(self.headers.clone().into_iter().filter_map(|(name, value)| Some((name?, value)))).collect();
        *request.headers_mut() = headers;
        let exchange = async { tokio::time::timeout(REQUEST_TIMEOUT, (self.client)(request)).await };
        // The thread of the exporter runs no other task and is in no runtime.
        self.runtime.block_on(exchange)?
    }
}

impl fmt::Debug for CollectorClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CollectorClient")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use rcgen::{CertifiedKey, generate_simple_self_signed};
    use rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer};
    use std::{net::SocketAddr, sync::Arc};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };
    use tokio_rustls::TlsAcceptor;

    /// Starts a server over TLS that accepts each request, and returns its address and its certificate as PEM.
    async fn collector() -> (SocketAddr, String) {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let (acceptor, listener) =
            (TlsAcceptor::from(Arc::new(config)), TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // A client that does not know the certificate ends the handshake.
                let Ok(mut stream) = acceptor.accept(socket).await else { continue };
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
            }
        });
        (address, cert.pem())
    }

    /// Sends a request from a thread like that of the exporter.
    async fn send(settings: ExportSettings) -> Result<String, String> {
        let sent = tokio::task::spawn_blocking(move || {
            let client = CollectorClient::new(&settings)?;
            let request = Request::post(&settings.endpoint).body(Bytes::from_static(b"spans")).unwrap();
            // The request blocks its thread, so one poll is enough.
            let response = client.send_bytes(request).now_or_never().unwrap().map_err(|error| error.to_string())?;
            Ok(String::from_utf8_lossy(response.body()).into_owned())
        });
        sent.await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_https_collector_must_have_a_certificate_of_a_known_authority() {
        let (address, pem) = collector().await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, pem).unwrap();
        let endpoint = format!("https://{address}/v1/traces");
        let known = ExportSettings { endpoint: endpoint.clone(), certificate: Some(path), ..ExportSettings::default() };
        assert_eq!(send(known).await, Ok("ok".to_owned()));
        assert!(send(ExportSettings { endpoint, ..ExportSettings::default() }).await.is_err());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_file_without_certificates_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        for (text, reason) in [(None, "No such file"), (Some("nothing"), "there are none")] {
            if let Some(text) = text {
                std::fs::write(&path, text).unwrap();
            }
            let endpoint = "https://127.0.0.1:1".to_owned();
            let settings = ExportSettings { endpoint, certificate: Some(path.clone()), ..ExportSettings::default() };
            let error = send(settings).await.unwrap_err();
            assert!(error.contains(reason) && error.contains("ca.pem"), "{error}");
        }
    }
}
