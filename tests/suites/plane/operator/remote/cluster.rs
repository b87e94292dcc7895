//! A second cluster, which an operator reaches by the kubeconfig in a Secret.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::body::Body as ResponseBody;
use futures::stream;
use http::{Request, Response, StatusCode};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{ListParams, ObjectMeta, Patch, PatchParams},
    client::Body,
};
use opgen::environment::Environment;
use opgen_tests::{Form, Options, Plane};
use serde_json::json;

use super::Site;

/// A second cluster of the same form as the first one. It accepts tokens, and can be cut off.
pub(super) struct SecondCluster {
    plane: Plane,
    /// Its name, and that of the Secret.
    pub(super) name: &'static str,
    /// The accepted tokens. The last one is in the kubeconfigs that are written.
    tokens: Mutex<Vec<String>>,
    network: Mutex<Network>,
    /// The number of requests of operators to it.
    requests: AtomicU64,
    deletions: Mutex<Vec<u64>>,
}

/// What happens to a request on its way to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    Open,
    /// The connection is refused.
    Refused,
    /// The request is lost, and there is no answer.
    Silent,
    /// The response never ends.
    Endless,
    /// The response leads to the cluster `green`.
    Redirected,
}

/// A part of an endless response.
const CHUNK: &[u8] = &[b' '; 1 << 16];

/// The number of requests of operators to second clusters so far.
static REQUESTS: AtomicU64 = AtomicU64::new(0);

impl SecondCluster {
    pub(super) async fn start(home: &Plane, name: &'static str) -> Arc<Self> {
        let served = home.form() != Form::Sandbox;
        let options = Options { form: home.form(), served, kubelet: false, ..Options::default() };
        let plane = Plane::start(options).await.expect("a second plane");
        let tokens = Mutex::new(vec!["first".to_owned()]);
        let network = Mutex::new(Network::Open);
        Arc::new(Self { plane, name, tokens, network, requests: AtomicU64::new(0), deletions: Mutex::default() })
    }

    /// Adds these clusters to the environment of an operator.
    pub(super) fn reachable_from(environment: Environment, clusters: &[&Arc<Self>]) -> Environment {
        Self::wrapped(environment, clusters, |_, client| client)
    }

    /// Adds these clusters to the environment of an operator, with clients that `wrap` returns for each name and client.
    pub(super) fn wrapped(
        environment: Environment,
        clusters: &[&Arc<Self>],
        wrap: impl Fn(&'static str, Client) -> Client + Send + Sync + 'static,
    ) -> Environment {
        let clusters: Vec<_> = clusters.iter().map(|cluster| Arc::clone(cluster)).collect();
        environment.clusters(move |config| {
            let host = config.cluster_url.host()?;
            let cluster = clusters.iter().find(|cluster| host == cluster.host())?;
            Some(wrap(cluster.name, cluster.client_of(config)))
        })
    }

    fn host(&self) -> String {
        format!("{}.example.com", self.name)
    }

    /// A client as the operator has it.
    fn client_of(self: &Arc<Self>, config: &Config) -> Client {
        use secrecy::ExposeSecret as _;
        let token = config.auth_info.token.as_ref().map(|token| token.expose_secret().to_owned());
        let (cluster, client) = (self.clone(), self.plane.client());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (cluster, client, token) = (cluster.clone(), client.clone(), token.clone());
            async move {
                let position = REQUESTS.fetch_add(1, Ordering::Relaxed);
                if request.method() == http::Method::DELETE {
                    cluster.deletions.lock().unwrap_or_else(PoisonError::into_inner).push(position);
                }
                cluster.requests.fetch_add(1, Ordering::Relaxed);
                let network = *cluster.network.lock().unwrap_or_else(PoisonError::into_inner);
                match network {
                    Network::Open => {}
                    Network::Refused => return Err(kube::Error::Service("connection refused".into())),
                    Network::Silent => std::future::pending().await,
                    Network::Endless => {
                        let chunks = stream::repeat_with(|| Ok::<_, Infallible>(CHUNK));
                        return Ok(Response::new(ResponseBody::from_stream(chunks)));
                    }
                    Network::Redirected => {
                        let location = format!("https://green.example.com{}", request.uri());
                        let response = Response::builder().status(StatusCode::TEMPORARY_REDIRECT);
                        let response = response.header(http::header::LOCATION, location);
                        return Ok(response.body(ResponseBody::empty()).expect("a response"));
                    }
                }
                if !token.as_ref().is_some_and(|token| cluster.tokens().contains(token)) {
                    let status = json!({"kind": "Status", "apiVersion": "v1", "code": 401, "reason": "Unauthorized"});
                    let mut response = Response::new(ResponseBody::from(status.to_string()));
                    *response.status_mut() = StatusCode::UNAUTHORIZED;
                    return Ok(response);
                }
                client.send(request).await.map(|response| response.map(ResponseBody::new))
            }
        });
        Client::new(service, "default")
    }

    pub(super) fn form(&self) -> Form {
        self.plane.form()
    }

    pub(super) fn set_network(&self, network: Network) {
        *self.network.lock().unwrap_or_else(PoisonError::into_inner) = network;
    }

    /// The number of requests of operators to it so far.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    fn tokens(&self) -> MutexGuard<'_, Vec<String>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts only this token from now on.
    pub(super) fn accept(&self, token: &str) {
        *self.tokens() = vec![token.to_owned()];
    }

    /// Accepts this token in addition to the others.
    pub(super) fn accept_also(&self, token: &str) {
        self.tokens().push(token.to_owned());
    }

    /// Writes the Secret of its name with the kubeconfig for it, under two keys.
    pub(super) async fn publish(&self, site: &Site) {
        self.publish_as(site, self.name).await;
    }

    /// Writes the Secret into another second cluster.
    pub(super) async fn publish_in(&self, other: &Self) {
        self.publish_to(&Api::namespaced(other.plane.client(), "default")).await;
    }

    /// Writes a Secret of this name with the kubeconfig for it.
    pub(super) async fn publish_as(&self, site: &Site, name: &str) {
        self.write(&site.api::<Secret>(), name).await;
    }

    /// Writes the Secret of its name with this client.
    pub(super) async fn publish_to(&self, secrets: &Api<Secret>) {
        self.write(secrets, self.name).await;
    }

    async fn write(&self, secrets: &Api<Secret>, name: &str) {
        let token = self.tokens().last().cloned();
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "a",
            "clusters": [{"name": "a", "cluster": {"server": format!("https://{}", self.host())}}],
            "users": [{"name": "a", "user": {"token": token}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        });
        let secret = Secret {
            metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
            string_data: Some(["value", "other"].map(|key| (key.to_owned(), kubeconfig.to_string())).into()),
            ..Secret::default()
        };
        secrets.patch(name, &PatchParams::apply("admin").force(), &Patch::Apply(&secret)).await.unwrap();
    }

    pub(super) fn configs(&self) -> Api<ConfigMap> {
        Api::namespaced(self.plane.client(), "default")
    }

    /// Checks that it has only the ConfigMap that each namespace has.
    pub(super) async fn is_empty(&self) {
        let left = self.configs().list(&ListParams::default()).await.unwrap();
        let names: Vec<_> = left.iter().map(ResourceExt::name_any).collect();
        assert!(names.iter().all(|name| name == "kube-root-ca.crt"), "{}: {names:?}", self.name);
    }

    /// The times of the deletions of ConfigMaps there, by the audit log. They are empty for a sandbox in the process.
    pub(super) async fn deletion_times(&self) -> Vec<String> {
        let deleted = self.plane.audit().await.resource("configmaps").verb("delete");
        deleted.iter().map(|entry| entry.received.clone()).collect()
    }

    /// The positions of the deletions among all requests of operators to second clusters.
    pub(super) fn deletions(&self) -> Vec<u64> {
        self.deletions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of lists of ConfigMaps there so far.
    pub(super) async fn lists(&self) -> usize {
        self.plane.audit().await.resource("configmaps").verb("list").len()
    }

    /// The number of writes of ConfigMaps there so far.
    pub(super) async fn writes(&self) -> usize {
        self.plane.audit().await.resource("configmaps").writes().len()
    }
}
