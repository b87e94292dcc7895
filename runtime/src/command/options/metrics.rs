//! Defines the options of the server of `/metrics`, with the names that kubebuilder uses.

use super::{address::BindAddress, merge::overriding};
use crate::metrics::MetricsServer;
use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;

/// The server of `/metrics`.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(super) struct MetricsOptions {
    /// Address of /metrics, for example :8443; `0` disables it [default: 0]
    #[arg(long, env = "METRICS_BIND_ADDRESS", value_name = "ADDRESS")]
    #[serde(rename = "address", deserialize_with = "BindAddress::optional")]
    #[schemars(with = "Option<String>", extend("type" = ["string", "integer", "null"]))]
    metrics_bind_address: Option<BindAddress>,
    /// Serve /metrics over HTTPS, and only to authorized clients [default: true, except on a loopback address]
    #[arg(long, env = "METRICS_SECURE", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(rename = "secure")]
    metrics_secure: Option<bool>,
    /// Folder of the certificate of /metrics [default: none, a self-signed certificate is created]
    #[arg(long, env = "METRICS_CERT_PATH", value_name = "FOLDER")]
    #[serde(rename = "certPath")]
    metrics_cert_path: Option<String>,
    /// File of the certificate chain in that folder [default: tls.crt]
    #[arg(long, env = "METRICS_CERT_NAME", value_name = "FILE")]
    #[serde(rename = "certName")]
    metrics_cert_name: Option<String>,
    /// File of the private key in that folder [default: tls.key]
    #[arg(long, env = "METRICS_CERT_KEY", value_name = "FILE")]
    #[serde(rename = "certKey")]
    metrics_cert_key: Option<String>,
    /// Serve CPU profiles (/debug/pprof/profile) and memory statistics (/debug/memory) beside /metrics [default: false]
    #[arg(long, env = "PROFILING", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(rename = "profiling")]
    profiling: Option<bool>,
}

overriding!(MetricsOptions {
    metrics_bind_address,
    metrics_secure,
    metrics_cert_path,
    metrics_cert_name,
    metrics_cert_key,
    profiling,
});

impl MetricsOptions {
    /// Returns the server of the operator's code, `own`, with these options applied; `None` for no server. The address creates, moves or
    /// disables the server; the other options change a server only if there is one.
    pub(super) fn override_server(&self, own: Option<MetricsServer>) -> Option<MetricsServer> {
        let mut server = match self.metrics_bind_address {
            None => own?,
            Some(BindAddress(None)) => return None,
            Some(BindAddress(Some(address))) => match own {
                Some(server) => server.at(address),
                None => MetricsServer::new(address),
            },
        };
        if let Some(secure) = self.metrics_secure {
            server = server.secure(secure);
        }
        if let Some(folder) = self.metrics_cert_path.as_deref().filter(|folder| !folder.is_empty()) {
            let chain = self.metrics_cert_name.as_deref().unwrap_or("tls.crt");
            server = server.certificate(folder, chain, self.metrics_cert_key.as_deref().unwrap_or("tls.key"));
        }
        if let Some(profiling) = self.profiling {
            server = server.profiling(profiling);
        }
        Some(server)
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
        metrics: MetricsOptions,
    }

    fn server(args: &[&str]) -> Option<MetricsServer> {
        Run::try_parse_from([&["run"], args].concat()).unwrap().metrics.override_server(None)
    }

    #[test]
    fn manager_m7_no_address_and_zero_serve_no_metrics() {
        for args in [&[][..], &["--metrics-bind-address=0"], &["--metrics-bind-address="]] {
            assert_eq!(server(args), None);
        }
        assert!(Run::try_parse_from(["run", "--metrics-bind-address=8443"]).is_err());
    }

    #[test]
    fn the_flags_are_those_of_kubebuilder() {
        let all = MetricsServer::new("[::]:8443".parse().unwrap());
        assert_eq!(server(&["--metrics-bind-address=:8443"]), Some(all.clone()));
        assert_eq!(server(&["--metrics-bind-address=:8443", "--metrics-secure"]), Some(all.clone().secure(true)));
        let loopback = MetricsServer::new("127.0.0.1:8080".parse().unwrap()).secure(false);
        assert_eq!(server(&["--metrics-bind-address=127.0.0.1:8080", "--metrics-secure=false"]), Some(loopback));
        assert_eq!(server(&["--metrics-bind-address=:8443", "--profiling"]), Some(all.clone().profiling(true)));
        let files = all.certificate("/certs", "tls.crt", "key.pem");
        let args = ["--metrics-bind-address=:8443", "--metrics-cert-path=/certs", "--metrics-cert-key=key.pem"];
        assert_eq!(server(&args), Some(files));
    }
}
