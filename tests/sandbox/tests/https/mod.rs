//! An HTTPS client that trusts the sandbox's certificate.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use opgen_sandbox::Serving;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use serde_json::Value;

/// Asks a served sandbox.
#[derive(Clone, Debug)]
pub(crate) struct HttpsClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    url: String,
    token: String,
    http2: bool,
}

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) code: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

impl HttpsClient {
    /// By HTTP/2, as the administrator.
    pub(crate) async fn of(serving: &Serving) -> Self {
        Self::new(serving, true)
    }

    /// By HTTP/1.1, as the administrator.
    pub(crate) async fn http1(serving: &Serving) -> Self {
        Self::new(serving, false)
    }

    fn new(serving: &Serving, http2: bool) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(serving.certificate().as_bytes()).unwrap()).unwrap();
        let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let tls =
            tls.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots).with_no_client_auth();
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_only();
        let connector = if http2 { connector.enable_http2().build() } else { connector.enable_http1().build() };
        let client = Client::builder(TokioExecutor::new()).http2_only(http2).build(connector);
        Self { client, url: serving.url(), token: serving.token().to_owned(), http2 }
    }

    pub(crate) fn is_http2(&self) -> bool {
        self.http2
    }

    /// With another token; an empty one is none.
    pub(crate) fn token(mut self, token: &str) -> Self {
        token.clone_into(&mut self.token);
        self
    }

    pub(crate) async fn get(&self, path: &str) -> Got {
        self.send("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, object: &Value) -> Got {
        self.send("POST", path, &[("content-type", "application/json")], object.to_string()).await
    }

    /// The body of an answer as it comes.
    pub(crate) async fn open(&self, path: &str) -> Incoming {
        self.request("GET", path, &[], Bytes::new()).await.into_body()
    }

    async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Bytes) -> Response<Incoming> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        if !self.token.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.client.request(request.body(Full::new(body)).unwrap()).await.unwrap()
    }

    pub(crate) async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Got {
        let (head, body) = self.request(method, path, headers, body.into()).await.into_parts();
        let text = body.collect().await.unwrap().to_bytes();
        Got { code: head.status.as_u16(), headers: head.headers, text: String::from_utf8_lossy(&text).into_owned() }
    }
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The reason of a `Status`.
    pub(crate) fn reason(&self) -> String {
        self.json()["reason"].as_str().unwrap_or_default().to_owned()
    }
}
