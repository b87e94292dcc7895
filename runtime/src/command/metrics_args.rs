//! Defines the options of `run` for the server of `/metrics`, with the names that kubebuilder uses.

use crate::metrics::MetricsServer;
use clap::Args;
use std::net::{AddrParseError, Ipv6Addr, SocketAddr};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct MetricsArgs {
    /// Address of /metrics, for example :8443; `0` disables it
    #[arg(long, env = "METRICS_BIND_ADDRESS", default_value = "0")]
    metrics_bind_address: String,
    /// Serve /metrics over HTTPS, and only to authorized clients [default: true, except on a loopback address]
    #[arg(long, env = "METRICS_SECURE", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    metrics_secure: Option<bool>,
    /// Folder of the certificate of /metrics; by default, a self-signed certificate is created
    #[arg(long, env = "METRICS_CERT_PATH", value_name = "FOLDER", default_value = "", hide_default_value = true)]
    metrics_cert_path: String,
    /// File of the certificate chain in that folder
    #[arg(long, env = "METRICS_CERT_NAME", value_name = "FILE", default_value = "tls.crt")]
    metrics_cert_name: String,
    /// File of the private key in that folder
    #[arg(long, env = "METRICS_CERT_KEY", value_name = "FILE", default_value = "tls.key")]
    metrics_cert_key: String,
}

impl MetricsArgs {
    /// The server that the options describe; `None` if there is none.
    ///
    /// # Errors
    /// Fails if the address is none.
    pub(super) fn server(&self) -> Result<Option<MetricsServer>, AddrParseError> {
        let Some(address) = parse_address(&self.metrics_bind_address)? else { return Ok(None) };
        let mut server = MetricsServer::new(address);
        if let Some(secure) = self.metrics_secure {
            server = server.secure(secure);
        }
        if !self.metrics_cert_path.is_empty() {
            server = server.certificate(&self.metrics_cert_path, &self.metrics_cert_name, &self.metrics_cert_key);
        }
        Ok(Some(server))
    }
}

/// Parses an address. The host may be absent, as in `:8443`, which stands for all addresses of the machine.
fn parse_address(text: &str) -> Result<Option<SocketAddr>, AddrParseError> {
    match text {
        "" | "0" => Ok(None),
        _ => match text.strip_prefix(':').and_then(|port| port.parse().ok()) {
            Some(port) => Ok(Some(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)))),
            None => text.parse().map(Some),
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Run {
        #[command(flatten)]
        metrics: MetricsArgs,
    }

    fn server(args: &[&str]) -> Result<Option<MetricsServer>, AddrParseError> {
        Run::try_parse_from([&["run"], args].concat()).unwrap().metrics.server()
    }

    #[test]
    fn manager_m7_no_address_and_zero_serve_no_metrics() {
        for args in [&[][..], &["--metrics-bind-address=0"], &["--metrics-bind-address="]] {
            assert_eq!(server(args), Ok(None));
        }
        assert!(server(&["--metrics-bind-address=8443"]).is_err());
    }

    #[test]
    fn the_flags_are_those_of_kubebuilder() {
        let all = MetricsServer::new("[::]:8443".parse().unwrap());
        assert_eq!(server(&["--metrics-bind-address=:8443"]), Ok(Some(all.clone())));
        assert_eq!(server(&["--metrics-bind-address=:8443", "--metrics-secure"]), Ok(Some(all.clone().secure(true))));
        let loopback = MetricsServer::new("127.0.0.1:8080".parse().unwrap()).secure(false);
        assert_eq!(server(&["--metrics-bind-address=127.0.0.1:8080", "--metrics-secure=false"]), Ok(Some(loopback)));
        let files = all.certificate("/certs", "tls.crt", "key.pem");
        let args = ["--metrics-bind-address=:8443", "--metrics-cert-path=/certs", "--metrics-cert-key=key.pem"];
        assert_eq!(server(&args), Ok(Some(files)));
    }
}
