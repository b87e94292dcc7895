//! Sends a request to the metrics port of an operator's Pod by port forwarding.

use crate::{
    command::profile::{error::ProfileError, request::PodRequest},
    error::BoxError,
};
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt as _, Empty};
use hyper::{body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use rustls::{
    ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use std::{sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_rustls::TlsConnector;

/// Sends a request through a forwarded port, and returns the body of the response.
///
/// # Errors
/// Fails if the port can't be forwarded, the response takes longer than `limit`, or it is no success.
pub(super) async fn send(
    request: &PodRequest<'_>,
    client: kube::Client,
    limit: Duration,
) -> Result<Vec<u8>, ProfileError> {
    let pod = || format!("{}/{}", request.namespace, request.pod);
    let response = timeout(limit, forward(request, client)).await;
    let response = response.map_err(|_| ProfileError::Timeout { pod: pod(), seconds: limit.as_secs() })?;
    let (status, body) = response.map_err(|source| ProfileError::Connect { pod: pod(), port: request.port, source })?;
    if status == StatusCode::OK {
        return Ok(body);
    }
    let message = String::from_utf8_lossy(&body).trim().to_owned();
    let account = format!("{}/{}", request.namespace, request.account);
    Err(ProfileError::Refused { pod: pod(), status, message, account })
}

/// Forwards the port of the Pod, sends the request over TLS, and returns the status and the body of the response.
async fn forward(request: &PodRequest<'_>, client: kube::Client) -> Result<(StatusCode, Vec<u8>), BoxError> {
    let mut forwarder =
        Api::<Pod>::namespaced(client, request.namespace).portforward(request.pod, &[request.port]).await?;
    let stream = forwarder.take_stream(request.port).ok_or("the port was not forwarded")?;
    let failure = forwarder.take_error(request.port);
    let response = async {
        let tls = connector()?.connect(ServerName::try_from("localhost")?, stream).await?;
        get(tls, request.path, request.token).await
    };
    let response = response.await;
    // If the forwarding failed, the message of the kubelet explains more than the error of the broken stream.
    match (response, failure) {
        (Err(error), Some(failure)) => match timeout(Duration::from_secs(1), failure).await {
            Ok(Some(message)) => Err(message.into()),
            _ => Err(error),
        },
        (response, _) => response,
    }
}

/// Sends a GET request over a connection, and returns the status and the body.
async fn get(
    connection: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    path: &str,
    token: &str,
) -> Result<(StatusCode, Vec<u8>), BoxError> {
    let (mut sender, driver) = http1::handshake(TokioIo::new(connection)).await?;
    let request = Request::get(path)
        .header(header::HOST, "localhost")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(Empty::<Bytes>::new())?;
    // The driver of the connection runs beside the request, and ends after the sender is dropped.
    let response = async move {
        let response = sender.send_request(request).await?;
        let status = response.status();
        Ok::<_, hyper::Error>((status, response.into_body().collect().await?.to_bytes().to_vec()))
    };
    let (response, end) = futures::join!(response, driver);
    match (response, end) {
        (Ok(response), _) => Ok(response),
        // An error of the connection says more than the request that it canceled.
        (Err(_), Err(error)) | (Err(error), Ok(())) => Err(error.into()),
    }
}

/// Returns a connector for TLS that accepts any certificate of the server.
fn connector() -> Result<TlsConnector, BoxError> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let verifier = Arc::new(AnyCertificate(provider));
    let config = config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Accepts any certificate: by default an operator signs its own, and the API server has led to the right Pod.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    /// Accepts every certificate without a check.
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    /// Checks the signature of a TLS 1.2 handshake: the server must have the key of the certificate that it sent.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    /// Checks the signature of a TLS 1.3 handshake: the server must have the key of the certificate that it sent.
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
