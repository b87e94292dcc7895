//! Connects a verb (subcommand) to the cluster of the environment, with a deadline for each request, and to the key-value buckets of the
//! operator's kinds.

use crate::{
    bucket::BucketError,
    client::Client,
    command::{options::BucketOptions, terminal},
    manager::{buckets, operator::Operator, run_error::RunError},
};
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

/// The connection options of a verb that reads or writes objects of the operator's kinds.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ObjectConnection {
    #[command(flatten)]
    cluster: Connection,
    #[command(flatten)]
    nats: BucketOptions,
}

/// The client of a verb, and the namespace of objects for which the command line names none.
pub(crate) struct ConnectedClient {
    pub(crate) client: Client,
    pub(crate) default_namespace: String,
}

/// The reasons why a verb has no client.
#[derive(Debug)]
pub(crate) enum ConnectError {
    Config(InferConfigError),
    Client(kube::Error),
    Buckets(Box<RunError>),
}

impl ObjectConnection {
    /// Connects to the cluster of the environment, with the rights of the user, and opens the buckets of the operator. Missing buckets
    /// are not created, but named in warnings. The client of an operator without Kubernetes reaches its buckets only.
    pub(crate) async fn connect(&self, operator: &Operator) -> Result<ConnectedClient, ConnectError> {
        let mut operator = operator.clone();
        self.nats.apply_to_verb(&mut operator);
        let client = if operator.without_kubernetes {
            Client::disconnected()
        } else {
            let config = self.cluster.config().await.map_err(ConnectError::Config)?;
            Client::for_command(config).map_err(ConnectError::Client)?
        };
        let default_namespace = client.kube().default_namespace().to_owned();
        let client = buckets::connect(&operator, client).await.map_err(ConnectError::Buckets)?;
        for bucket in client.missing_buckets() {
            terminal::warn(&format!("bucket {bucket:?} does not exist, so it is read as an empty one"));
        }
        Ok(ConnectedClient { client, default_namespace })
    }
}

/// Returns the advice about an error of the buckets of a run or of a verb; `None` if there is none.
pub(crate) fn bucket_hint(error: &RunError) -> Option<&'static str> {
    match error {
        RunError::NoBuckets { .. } => Some(
            "set NATS_URL (`--nats-url`; the key `url` of the Secret `<operator>-nats` in the generated manifests), which needs the \
             feature `nats` of opgen, or connect by `Operator::buckets`",
        ),
        RunError::Bucket { source, .. } => match source {
            BucketError::Unavailable { .. } => {
                Some("check NATS_URL (`--nats-url`), and that the server can be reached from here and has JetStream")
            }
            BucketError::Forbidden { .. } => Some(
                "check NATS_CREDS (`--nats-credentials`), and that its user has the permissions of `nats/account.json` in the manifests",
            ),
            BucketError::Invalid { .. } => {
                Some("correct NATS_URL, NATS_CREDS, the connection of `Operator::buckets`, or the name of the bucket")
            }
            _ => None,
        },
        RunError::SharedBucket { .. } => Some(
            "give each kind a bucket of its own: `#[managed(nats(bucket = \"...\"))]`; `<operator>-leases`, `-events`, \
             `-core-events`, `-configmaps` and `-secrets` are those of an operator without Kubernetes",
        ),
        RunError::NeedsKubernetes { .. } => Some(
            "keep the kind in a bucket (`#[managed(nats(bucket = \"...\"))]`), or remove `Operator::without_kubernetes`",
        ),
        RunError::WebhookWithoutKubernetes { .. } => {
            Some("remove the webhook, and express its rule in the schema: `#[schemars(...)]` or `#[valid(...)]`")
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::ConfigMap;
    use std::time::Instant;
    use tokio::net::TcpListener;

    #[test]
    fn the_advice_about_a_bucket_depends_on_what_its_store_says() {
        let hint = |source| bucket_hint(&RunError::Bucket { kind: kind_of::<ConfigMap>(), source });
        assert!(hint(BucketError::unavailable("units", "no answer")).unwrap().starts_with("check NATS_URL"));
        assert!(hint(BucketError::forbidden("units", "open", "no")).unwrap().starts_with("check NATS_CREDS"));
        assert!(hint(BucketError::invalid("units", "no server")).unwrap().starts_with("correct NATS_URL"));
        assert_eq!(hint(BucketError::no_bucket("units")), None);
    }

    #[test]
    fn each_error_of_an_operator_without_kubernetes_has_advice() {
        let (operator, kind) = ("units".to_owned(), kind_of::<ConfigMap>());
        let webhook = RunError::WebhookWithoutKubernetes { operator: operator.clone(), kind: kind.clone() };
        assert!(bucket_hint(&webhook).unwrap().starts_with("remove the webhook"));
        let node = RunError::NeedsKubernetes { operator, part: "node a".to_owned(), kind: kind.clone() };
        assert!(bucket_hint(&node).unwrap().starts_with("keep the kind in a bucket"));
        let unconnected = RunError::NoBuckets { kind, bucket: "units".to_owned() };
        assert!(bucket_hint(&unconnected).unwrap().starts_with("set NATS_URL"));
    }

    /// The server accepts connections and sends nothing, so neither the TLS handshake of `https` nor a response of `http` completes.
    #[tokio::test]
    async fn a_server_that_never_answers_is_an_error_after_the_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let silent_server = tokio::spawn(async move {
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
        silent_server.abort();
    }
}
