//! Formats the errors of webhook calls as Go's HTTP client and client-go do.

use std::{error::Error, io};

use http::StatusCode;

/// The message for a body that is not a JSON object.
pub(super) const UNREADABLE: &str = "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go \
    value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
    \"json:\\\"kind,omitempty\\\"\" }";

/// Returns the error message for a response with an error status: the message of the `Status` in the body, else the message of client-go
/// for the status code.
pub(super) fn response_error(code: StatusCode, body: &[u8]) -> String {
    let status: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    if let (Some("Status"), Some(message)) = (status["kind"].as_str(), status["message"].as_str()) {
        return message.to_owned();
    }
    match code {
        StatusCode::NOT_FOUND => "the server could not find the requested resource".to_owned(),
        StatusCode::UNAUTHORIZED => "the server has asked for the client to provide credentials".to_owned(),
        StatusCode::FORBIDDEN => "forbidden".to_owned(),
        StatusCode::BAD_REQUEST => "the server rejected our request for an unknown reason".to_owned(),
        StatusCode::METHOD_NOT_ALLOWED => "the server does not allow this method on the requested resource".to_owned(),
        StatusCode::SERVICE_UNAVAILABLE => "the server is currently unable to handle the request".to_owned(),
        StatusCode::GATEWAY_TIMEOUT => {
            "the server was unable to return a response in the time allotted, but may still be processing the request"
                .to_owned()
        }
        code if code.is_server_error() => {
            "an error on the server (\"unknown\") has prevented the request from succeeding".to_owned()
        }
        code => {
            format!("the server responded with the status code {} but did not return more information", code.as_u16())
        }
    }
}

/// Returns the message of Go's HTTP client for a request that could not be sent. Searches the error and its causes for the first TLS, DNS
/// or connection error; any other error formats itself.
pub(super) fn request_error(error: &(dyn Error + 'static), host: &str, port: u16) -> String {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return tls_error(error);
        }
        if error.to_string() == "dns error" {
            return format!("dial tcp: lookup {host}: no such host");
        }
        let io = error.downcast_ref::<io::Error>();
        match io.map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => {
                return connection_refused(&format!("https://{host}:{port}"));
            }
            Some(io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof) => return "EOF".to_owned(),
            _ => {}
        }
        // `source()` of an I/O error skips the wrapped error, so the next cause is read by `get_ref()`.
        let inner = io.and_then(io::Error::get_ref).map(|inner| inner as &(dyn Error + 'static));
        cause = inner.or_else(|| error.source());
    }
    error.to_string()
}

/// Returns the message for a URL at which nothing listens.
pub(super) fn connection_refused(url: &str) -> String {
    let url: http::Uri = url.parse().unwrap_or_default();
    let (host, port) = (url.host().unwrap_or_default(), url.port_u16().unwrap_or(443));
    format!("dial tcp {host}:{port}: connect: connection refused")
}

/// Returns the message of a TLS error.
fn tls_error(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer) => {
            "tls: failed to verify certificate: x509: certificate signed by unknown authority".to_owned()
        }
        rustls::Error::InvalidCertificate(why) => format!("tls: failed to verify certificate: x509: {why}"),
        other => format!("tls: {other}"),
    }
}
