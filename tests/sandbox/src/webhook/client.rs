//! Implements the HTTPS client of webhooks: one connection pool for each set of certificate authorities and address.

use std::{
    collections::BTreeMap,
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{
            HttpConnector,
            dns::{GaiResolver, Name},
        },
    },
    rt::TokioExecutor,
};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use tower::Service;

use super::wording;

/// The maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 16 << 20;

/// A client that connects by HTTPS and pools its connections.
type HttpsClient = Client<HttpsConnector<HttpConnector<Resolver>>, Full<Bytes>>;

/// The key of a client: the certificate authorities that it trusts, and the address if the URL does not give it.
type ConnectionKey = (Vec<u8>, Option<SocketAddr>);

/// Clients with their pooled connections.
#[derive(Default)]
pub(super) struct Connections(Mutex<BTreeMap<ConnectionKey, HttpsClient>>);

/// Sends a request by HTTPS and reads the whole response. Connects to `address`, or to the host and port of the URL if it is `None`.
/// Returns the message of Go's HTTP client on failure.
pub(super) async fn send(
    connections: &Connections,
    authorities: &[u8],
    address: Option<SocketAddr>,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, String> {
    let host = request.uri().host().unwrap_or_default().to_owned();
    let port = request.uri().port_u16().unwrap_or(443);
    let client = connections.client(authorities, address)?;
    let response = client.request(request.map(Full::new)).await;
    let response = response
        .map_err(|error| wording::request_error(&error, &host, address.map_or(port, |address| address.port())))?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, MAX_RESPONSE_BYTES).collect().await.map_err(|error| error.to_string())?;
    Ok(Response::from_parts(parts, body.to_bytes()))
}

impl Connections {
    /// Returns the client for the certificate authorities and the address. Creates it on first use.
    fn client(&self, authorities: &[u8], address: Option<SocketAddr>) -> Result<HttpsClient, String> {
        let key = (authorities.to_vec(), address);
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = new_client(authorities, address).map_err(|error| format!("tls: {error}"))?;
        clients.insert(key, client.clone());
        Ok(client)
    }
}

/// Creates a client that trusts only the certificate authorities (PEM). It connects to `address` regardless of the host in the URL, or
/// resolves the host if `address` is `None`.
fn new_client(authorities: &[u8], address: Option<SocketAddr>) -> Result<HttpsClient, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(authorities).filter_map(Result::ok));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let tls = tls.with_root_certificates(roots).with_no_client_auth();
    let mut connector = HttpConnector::new_with_resolver(Resolver(address));
    // Admits URLs with the scheme `https`, which the HTTP connector rejects by default.
    connector.enforce_http(false);
    let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http1();
    Ok(Client::builder(TokioExecutor::new()).build(https.wrap_connector(connector)))
}

/// Resolves a host to a fixed address, or by the machine's resolver.
#[derive(Clone)]
struct Resolver(Option<SocketAddr>);

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Returns the fixed address if there is one, else the addresses that the machine's resolver returns for the host `name`.
    fn call(&mut self, name: Name) -> Self::Future {
        let fixed_address = self.0;
        Box::pin(async move {
            let addresses = match fixed_address {
                Some(address) => vec![address],
                None => GaiResolver::new().call(name).await?.collect(),
            };
            Ok(addresses.into_iter())
        })
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}
