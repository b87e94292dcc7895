//! Builds the client configuration of a verb from the environment, with a deadline for each request.

use kube::{Config, config::InferConfigError};
use std::time::Duration;

/// The connection options of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct Connection {
    /// Timeout of each request to the API server, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        env = "OPGEN_REQUEST_TIMEOUT",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=3600)
    )]
    request_timeout: u64,
}

impl Default for Connection {
    fn default() -> Self {
        Self { request_timeout: 30 }
    }
}

impl Connection {
    /// Returns the configuration of the environment's cluster, with a deadline for each step of a request and without retries.
    pub(crate) async fn config(self) -> Result<Config, InferConfigError> {
        Ok(self.with_deadlines(Config::infer().await?))
    }

    /// Returns the timeout of each request.
    pub(crate) fn timeout(self) -> Duration {
        Duration::from_secs(self.request_timeout)
    }

    /// Applies the request timeout to connecting, reading and writing, and turns off the retries of the client.
    fn with_deadlines(self, mut config: Config) -> Config {
        let deadline = Some(self.timeout());
        config.default_retry = false;
        (config.connect_timeout, config.read_timeout, config.write_timeout) = (deadline, deadline, deadline);
        config
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::time::Instant;
    use tokio::net::TcpListener;

    /// Accepts connections, with TLS and without, and never answers.
    #[tokio::test]
    async fn a_server_that_never_answers_is_an_error_after_the_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let silent = tokio::spawn(async move {
            let mut connections = Vec::new();
            while let Ok((connection, _)) = listener.accept().await {
                connections.push(connection);
            }
        });
        for scheme in ["http", "https"] {
            let config = Config::new(format!("{scheme}://{address}").parse().unwrap());
            let config = Connection { request_timeout: 1 }.with_deadlines(config);
            let began = Instant::now();
            let client = kube::Client::try_from(config).unwrap();
            let response = tokio::time::timeout(Duration::from_secs(20), client.apiserver_version()).await;
            assert!(response.is_ok_and(|answer| answer.is_err()), "{scheme}: it is still waited for");
            assert!(began.elapsed() >= Duration::from_secs(1), "{scheme}");
        }
        silent.abort();
    }
}
