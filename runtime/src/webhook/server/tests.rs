//! Tests of operators whose webhooks a sandbox calls over the network.

use super::*;
use crate::{
    Operator, RunOptions,
    loopback::{free_addresses, get},
    metrics::MetricsServer,
    webhook::{Admission, Denied, Mode, Webhook, WebhookDescription},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use opgen_sandbox::Sandbox;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};

fn check(request: &Admission<ConfigMap>) -> Result<(), Denied> {
    request.warn("looked at");
    let is_bad = request.object().data.as_ref().is_some_and(|data| data.contains_key("bad"));
    if is_bad { Err(Denied::forbidden("data.bad", "remove it")) } else { Ok(()) }
}

fn set(request: &Admission<ConfigMap>, config: &mut ConfigMap) -> Result<(), Denied> {
    let user = request.user().username.clone().unwrap_or_default();
    config.data.get_or_insert_default().insert("creator".to_owned(), user);
    Ok(())
}

fn operator() -> Operator {
    Operator::new("shop").validates(check).defaults(set)
}

/// A replica that runs.
struct Replica {
    stop: oneshot::Sender<()>,
    run: JoinHandle<Result<(), crate::RunError>>,
    probes: SocketAddr,
}

impl Replica {
    async fn start(sandbox: &Sandbox, operator: Operator, webhooks: SocketAddr) -> Self {
        let [probes] = free_addresses().await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let (client, options) = (sandbox.client(), RunOptions::default().probes(probes).webhooks(webhooks));
        let run = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            operator.run_with(client, options, stopped).await
        });
        Self { stop, run, probes }
    }

    /// Returns the response of a probe; empty if nothing listens.
    async fn probe(&self, path: &str) -> String {
        get(self.probes, path).await.unwrap_or_default()
    }

    async fn is_ready(&self) {
        let ready = async {
            while !self.probe("/readyz/webhooks").await.starts_with("HTTP/1.1 200") {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(30), ready).await.unwrap();
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.run.await.unwrap().unwrap();
    }
}

/// Installs both configurations, without authorities.
async fn install(sandbox: &Sandbox) {
    for (mode, kind) in
        [(Mode::Validate, "ValidatingWebhookConfiguration"), (Mode::Default, "MutatingWebhookConfiguration")]
    {
        let kind_of = crate::kind::kind_of::<ConfigMap>();
        let description = WebhookDescription { mode, kind: kind_of, webhook: Webhook::default(), permissions: &[] };
        let service = json!({"namespace": "default", "name": "shop-webhook", "path": description.path()});
        let rule =
            json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]});
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "shop"},
            "webhooks": [{
                "name": description.name(), "clientConfig": {"service": service}, "rules": [rule],
                "sideEffects": "None", "admissionReviewVersions": ["v1"],
                // Not those that the sandbox creates in each namespace.
                "objectSelector": {"matchLabels": {"test": "yes"}},
            }],
        });
        let path = format!("/apis/admissionregistration.k8s.io/v1/{}s", kind.to_lowercase());
        let request = http::Request::post(path).body(configuration.to_string().into_bytes()).unwrap();
        sandbox.client().request::<Value>(request).await.unwrap();
    }
}

/// The created object, or the status of the error.
type Created = Result<ConfigMap, Box<kube::core::Status>>;

/// Creates a ConfigMap.
async fn create(sandbox: &Sandbox, name: &str, key: &str) -> Created {
    let config = json!({"metadata": {"name": name, "labels": {"test": "yes"}}, "data": {key: "x"}});
    let api = Api::<ConfigMap>::default_namespaced(sandbox.client());
    let created = api.create(&PostParams::default(), &serde_json::from_value(config).unwrap()).await;
    created.map_err(|error| match error {
        kube::Error::Api(status) => status,
        other => panic!("{other}"),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_calls_the_webhooks_of_an_operator_through_their_service() {
    let [webhooks] = free_addresses().await.unwrap();
    let sandbox = Sandbox::builder().seed(1).service("default", "shop-webhook", webhooks).start();
    install(&sandbox).await;
    let replica = Replica::start(&sandbox, operator(), webhooks).await;
    replica.is_ready().await;
    let created = create(&sandbox, "good", "a").await.unwrap();
    assert!(created.data.unwrap().contains_key("creator"), "the default is set");
    let status = create(&sandbox, "refused", "bad").await.unwrap_err();
    let message = "admission webhook \"validate-configmaps.core.opgen.dev\" denied the request: data.bad: remove it";
    assert_eq!((status.message.as_str(), status.code, status.reason.as_str()), (message, 422, "Invalid"));
    let cause = &status.details.unwrap().causes[0];
    assert_eq!(
        (cause.field.as_str(), cause.reason.as_str(), cause.message.as_str()),
        ("data.bad", "FieldValueForbidden", "remove it")
    );
    replica.stop().await;
    let failed = create(&sandbox, "unserved", "a").await.unwrap_err();
    assert!(failed.message.contains("failed calling webhook"), "{}", failed.message);
}

/// Waits until the webhook has been called for a creation, which does not end before.
async fn is_called(calls: &mut watch::Receiver<i32>, number: i32, creation: &mut JoinHandle<Created>) {
    tokio::select! {
        called = timeout(Duration::from_secs(30), calls.wait_for(|calls| *calls == number)) => drop(called.unwrap().unwrap()),
        ended = creation => panic!("the creation ended without a review: {ended:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_running_reviews_finish_and_answers_new_ones_for_a_while() {
    let [webhooks] = free_addresses().await.unwrap();
    let sandbox = Sandbox::builder().seed(1).service("default", "shop-webhook", webhooks).start();
    install(&sandbox).await;
    let (called, mut calls) = watch::channel(0);
    let (release, released) = watch::channel(false);
    let slow = move |_: Admission<ConfigMap>| {
        let mut released = released.clone();
        called.send_modify(|calls| *calls += 1);
        async move {
            released.wait_for(|released| *released).await.unwrap();
            Ok(())
        }
    };
    let operator = Operator::new("shop").validates_async(slow, |webhook| webhook).defaults(set);
    let replica = Replica::start(&sandbox, operator, webhooks).await;
    replica.is_ready().await;
    let started = |name: &'static str| {
        let sandbox = sandbox.clone();
        tokio::spawn(async move { create(&sandbox, name, "a").await })
    };
    let mut running = started("running");
    is_called(&mut calls, 1, &mut running).await;
    replica.stop.send(()).unwrap();
    let mut late = started("late");
    is_called(&mut calls, 2, &mut late).await;
    release.send_replace(true);
    for creation in [running, late] {
        assert!(creation.await.unwrap().is_ok());
    }
    replica.run.await.unwrap().unwrap();
    assert!(TcpStream::connect(webhooks).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_operator_has_left_its_addresses_so_that_the_next_one_can_bind_them() {
    let [webhooks, probes, metrics] = free_addresses().await.unwrap();
    let sandbox = Sandbox::builder().seed(1).start();
    for _ in 0..50 {
        let options =
            RunOptions::default().probes(probes).webhooks(webhooks).metrics(MetricsServer::new(metrics).secure(false));
        let operator = operator().shutdown_timeout(Duration::ZERO);
        operator.run_with(sandbox.client(), options, async {}).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_without_webhooks_opens_no_port_for_them() {
    let [webhooks] = free_addresses().await.unwrap();
    let sandbox = Sandbox::builder().seed(1).start();
    let replica = Replica::start(&sandbox, Operator::new("shop"), webhooks).await;
    let answers = async {
        while replica.probe("/livez").await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), answers).await.unwrap();
    assert!(TcpStream::connect(webhooks).await.is_err());
    assert!(replica.probe("/readyz/webhooks").await.starts_with("HTTP/1.1 404"));
    replica.stop().await;
}

#[tokio::test]
async fn an_address_in_use_is_an_error_before_anything_starts() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = RunOptions::default().webhooks(taken.local_addr().unwrap());
    let ended = operator().run_with(Client::disconnected().kube(), options, async {}).await;
    let error = ended.unwrap_err();
    assert!(error.to_string().starts_with("failed to listen on 127.0.0.1:"), "{error}");
}
