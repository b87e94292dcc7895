//! A client that costs little: requests over HTTP/2 connections that stay open.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring::default_provider,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

/// Where a server is, and how it is asked.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Door {
    /// `127.0.0.1:PORT`
    pub(crate) address: String,
    pub(crate) token: String,
    /// The certificate that it is trusted by, as PEM.
    pub(crate) authority: String,
}

/// A connection; clones are of the same one.
#[derive(Clone)]
pub(crate) struct Client {
    sender: http2::SendRequest<Full<Bytes>>,
    address: Arc<str>,
    token: Arc<str>,
}

impl Client {
    /// Connects, or says why it can't yet.
    pub(crate) async fn connect(door: &Door) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(door.authority.as_bytes()).unwrap()).unwrap();
        let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let tls = tls.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
        let mut tls = tls.with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let stream = TcpStream::connect(&door.address).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let stream =
            TlsConnector::from(Arc::new(tls)).connect(name, stream).await.map_err(|error| error.to_string())?;
        let mut builder = http2::Builder::new(TokioExecutor::new());
        // A watch must not wait for others on its connection.
        builder.initial_stream_window_size(1 << 20).initial_connection_window_size(1 << 24);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        Ok(Self { sender, address: door.address.as_str().into(), token: door.token.as_str().into() })
    }

    /// An answer whose body is still to come.
    pub(crate) async fn open(
        &self,
        method: &str,
        path: &str,
        media: &str,
        body: Bytes,
    ) -> Result<Response<Incoming>, String> {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", self.address))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", media)
            .body(Full::new(body))
            .unwrap();
        self.sender.clone().send_request(request).await.map_err(|error| error.to_string())
    }

    /// A request that must succeed, and what it is answered.
    pub(crate) async fn send(&self, method: &str, path: &str, media: &str, body: Bytes) -> Bytes {
        let (head, body) = self.open(method, path, media, body).await.unwrap().into_parts();
        let text = body.collect().await.unwrap().to_bytes();
        assert!(head.status.is_success(), "{method} {path}: {} {text:?}", head.status);
        text
    }
}
