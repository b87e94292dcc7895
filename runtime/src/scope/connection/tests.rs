//! Tests when a connection to another cluster runs an external program again to renew the credentials that it has issued.

use super::*;
use crate::{
    environment::Environment,
    metrics::clusters::ClusterMetrics,
    scope::{ExecPlugin, Kubeconfig},
};
use k8s_openapi::ByteString;
use secrecy::ExposeSecret as _;
use serde_json::json;
use std::{convert::Infallible, fs};

/// Issues the credentials `token-<number of the run>`, which expire after so many hours of the day. It waits for a writer of its pipe, if
/// there is one.
const PROGRAM: &str = r#"
echo run >> "$0.runs"
run=$(($(wc -l < "$0.runs")))
if [ -p "$0.wait" ]; then read -r _ < "$0.wait"; fi
if [ -e "$0.fails" ]; then exit 1; fi
version=client.authentication.k8s.io/v1
status="{\"token\": \"token-$run\", \"expirationTimestamp\": \"2026-01-01T0$run:00:00Z\"}"
echo "{\"apiVersion\": \"$version\", \"kind\": \"ExecCredential\", \"status\": $status}"
"#;

/// A cluster whose credentials the program issues.
struct IssuedCluster {
    folder: tempfile::TempDir,
    connection: Arc<ClusterConnection>,
    clock: Arc<Mutex<Timestamp>>,
    /// The tokens of the requests.
    tokens: Arc<Mutex<Vec<String>>>,
}

impl IssuedCluster {
    /// Connects to a cluster that refuses a token.
    async fn connect(refused: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plugin.sh").to_str().unwrap().to_owned();
        fs::write(&path, PROGRAM).unwrap();
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let (clock, tokens) = (Arc::new(Mutex::new(start)), Arc::<Mutex<Vec<String>>>::default());
        let (read_clock, sent) = (clock.clone(), tokens.clone());
        let environment = Environment::new(move || *read_clock.lock(), || 0);
        let plugin = ExecPlugin::new("sh").arguments([path.as_str()]);
        let connect = move |config: kube::Config| Ok(cluster(&config, refused, sent.clone()));
        let connector = ClusterConnector::new(connect, |client, _| Client::new(client), ClusterMetrics::default());
        let connector = connector.allow(&[plugin], &environment);
        let secret = Kubeconfig::secret("blue").record(Some("teams")).unwrap().secret;
        let opened = ClusterConnection::open(&secret, &cluster_of_secret(&path), &connector).await;
        let connection = opened.unwrap().unwrap();
        Self { folder, connection, clock, tokens }
    }

    /// Sends a request at a time of the day. Returns its status and the tokens of all requests, after the end of a renewal.
    async fn send_at(&self, time: &str) -> (u16, Vec<String>) {
        let (status, tokens) = self.send_during_renewal_at(time).await;
        drop(self.connection.last_read.lock().await);
        (status, tokens)
    }

    /// As [`IssuedCluster::send_at`], but does not wait for the end of a renewal.
    async fn send_during_renewal_at(&self, time: &str) -> (u16, Vec<String>) {
        *self.clock.lock() = format!("2026-01-01T{time}Z").parse().unwrap();
        let request = Request::get("/version").body(Body::empty()).unwrap();
        let response = self.connection.send(request).await.unwrap();
        (response.status().as_u16(), self.tokens.lock().clone())
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.folder.path().join("plugin.sh.runs")).unwrap().lines().count()
    }
}

/// Returns the client of a cluster, which records the tokens of its requests and refuses one of them.
fn cluster(config: &kube::Config, refused: &'static str, tokens: Arc<Mutex<Vec<String>>>) -> kube::Client {
    let token = config.auth_info.token.as_ref().map(|token| token.expose_secret().to_owned()).unwrap_or_default();
    let respond = move |_: Request<Body>| {
        tokens.lock().push(token.clone());
        let status = if token == refused { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
        let response = Response::builder().status(status).body(Body::empty()).unwrap();
        std::future::ready(Ok::<_, Infallible>(response))
    };
    kube::Client::new(tower::service_fn(respond), "default")
}

/// Returns the client of a cluster that has the Secret with the kubeconfig.
fn cluster_of_secret(path: &str) -> Client {
    let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": [path]});
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://a"}}],
        "users": [{"name": "u", "user": {"exec": exec}}],
    });
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "teams", "name": "blue"},
        "data": {"value": ByteString(kubeconfig.to_string().into_bytes())},
    });
    let respond = move |_: Request<Body>| {
        let response = Response::new(Body::from(secret.to_string().into_bytes()));
        std::future::ready(Ok::<_, Infallible>(response))
    };
    Client::new(kube::Client::new(tower::service_fn(respond), "default"))
}

#[tokio::test]
async fn issued_credentials_are_renewed_a_minute_before_they_expire_and_not_before() {
    let cluster = IssuedCluster::connect("").await;
    for (time, expected, runs) in [
        ("00:00:00", "token-1", 1),
        ("00:58:59", "token-1", 1),
        // The request does not wait for the renewal.
        ("00:59:00", "token-1", 2),
        ("00:59:00", "token-2", 2),
        ("01:58:59", "token-2", 2),
        // The credentials have expired.
        ("02:30:00", "token-3", 3),
    ] {
        let (status, tokens) = cluster.send_at(time).await;
        assert_eq!((status, tokens.last().map(String::as_str)), (200, Some(expected)), "{time}");
        assert_eq!(cluster.runs(), runs, "{time}");
    }
}

#[tokio::test]
async fn an_unchanged_kubeconfig_is_read_again_without_a_run_of_its_program() {
    let cluster = IssuedCluster::connect("").await;
    assert!(cluster.connection.refresh().await.unwrap());
    assert_eq!(cluster.runs(), 1);
}

#[tokio::test]
async fn concurrent_requests_renew_the_credentials_once() {
    let cluster = IssuedCluster::connect("").await;
    for (time, token) in [("00:59:30", "token-1"), ("02:00:00", "token-3")] {
        cluster.tokens.lock().clear();
        let requests = futures::future::join_all((0..8).map(|_| cluster.send_at(time)));
        assert!(requests.await.iter().all(|(status, _)| *status == 200));
        assert_eq!(*cluster.tokens.lock(), vec![token.to_owned(); 8], "{time}");
    }
    assert_eq!(cluster.runs(), 3);
}

#[tokio::test]
async fn no_request_waits_for_the_renewal_of_credentials_that_have_not_expired() {
    let cluster = IssuedCluster::connect("").await;
    let pipe = cluster.folder.path().join("plugin.sh.wait");
    assert!(tokio::process::Command::new("mkfifo").arg(&pipe).status().await.unwrap().success());
    for time in ["00:59:00", "00:59:30"] {
        let (status, tokens) = cluster.send_during_renewal_at(time).await;
        assert_eq!((status, tokens.last().map(String::as_str)), (200, Some("token-1")), "{time}");
    }
    assert!(cluster.connection.last_read.try_lock().is_err(), "the program waits for its pipe");
    tokio::task::spawn_blocking(move || fs::write(pipe, "go\n")).await.unwrap().unwrap();
    cluster.send_at("00:59:40").await;
    let (_, tokens) = cluster.send_at("00:59:41").await;
    assert_eq!((tokens.last().map(String::as_str), cluster.runs()), (Some("token-2"), 2));
}

#[tokio::test]
async fn credentials_that_cannot_be_renewed_remain_in_use_and_the_program_runs_again_ten_seconds_later() {
    let cluster = IssuedCluster::connect("").await;
    fs::write(cluster.folder.path().join("plugin.sh.fails"), "").unwrap();
    for (time, runs) in [("00:59:00", 2), ("00:59:09", 2), ("00:59:10", 3)] {
        let (status, tokens) = cluster.send_at(time).await;
        assert_eq!((status, tokens.last().map(String::as_str)), (200, Some("token-1")), "{time}");
        assert_eq!(cluster.runs(), runs, "{time}");
    }
    fs::remove_file(cluster.folder.path().join("plugin.sh.fails")).unwrap();
    cluster.send_at("00:59:20").await;
    let (_, tokens) = cluster.send_at("00:59:20").await;
    assert_eq!(tokens.last().map(String::as_str), Some("token-4"));
}

#[tokio::test]
async fn a_program_runs_again_ten_seconds_after_it_issued_credentials_that_the_cluster_refuses() {
    let cluster = IssuedCluster::connect("token-1").await;
    let (status, tokens) = cluster.send_at("00:00:00").await;
    assert_eq!((status, tokens.len(), cluster.runs()), (401, 1, 1));
    tokio::time::pause();
    tokio::time::advance(RELOAD_PERIOD).await;
    tokio::time::resume();
    let (status, tokens) = cluster.send_at("00:00:10").await;
    assert_eq!(
        (status, tokens, cluster.runs()),
        (200, ["token-1", "token-1", "token-2"].map(str::to_owned).to_vec(), 2)
    );
}
