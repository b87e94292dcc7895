//! Admission webhooks of an operator, which the API server calls over the network.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    jiff::Timestamp,
};
use kube::{Api, Client, CustomResource, api::PostParams, client::Body};
use libtest_mimic::Trial;
use opgen::{
    Operator, RunOptions,
    prelude::*,
    webhook::{Admission, Denied, FailurePolicy, ObjectReader, ValidatingWebhook, WebhookServer},
};
use opgen_tests::{
    Options, Plane, case_on,
    wait::{self, PATIENCE},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    install::{apply_quietly, generated},
    log,
    site::{NAME, Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    let (first, second) = (free_address(), free_address());
    let options = |address| Options::with_webhooks(NAMESPACE, SERVICE, address);
    vec![
        case_on("webhooks_deny_with_causes_set_defaults_and_warn", options(first), move |plane| called(plane, first)),
        case_on("a_renewal_of_the_certificate_of_webhooks_fails_no_request", options(second), move |plane| {
            renewed(plane, second)
        }),
    ]
}

/// The namespace of the operator, known before the plane is.
pub(super) const NAMESPACE: &str = "default";
pub(super) const SERVICE: &str = "live-webhook";

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "stall.example.com", version = "v1", kind = "Stall", namespaced, status = "Status")]
pub(crate) struct StallSpec {
    size: i32,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    awning: Option<String>,
}

/// The same kind, without a field that stored objects have.
mod slim {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    #[kube(group = "stall.example.com", version = "v1", kind = "Stall", namespaced)]
    pub(super) struct StallSpec {
        pub(super) size: i32,
        pub(super) class: Option<String>,
    }
}

fn check_size(request: &Admission<Stall>) -> Result<(), Denied> {
    let size = request.object().spec.size;
    if size > 3 {
        request.warn("a stall over 3 is expensive");
    }
    if size > 5 { Err(Denied::invalid("spec.size", "must be at most 5")) } else { Ok(()) }
}

fn set_class(_: &Admission<slim::Stall>, stall: &mut slim::Stall) -> Result<(), Denied> {
    stall.spec.class.get_or_insert_with(|| "blue".to_owned());
    Ok(())
}

fn refuse(_: &Admission<ConfigMap>) -> Result<(), Denied> {
    Err(Denied::new("no ConfigMaps today"))
}

/// Refuses stalls that the ConfigMap `closed` of their namespace names.
#[derive(Provisioner)]
#[provisioner(access(ConfigMap("closed"): get))]
struct CheckClosed;

impl ValidatingWebhook for CheckClosed {
    type Object = Stall;

    async fn validate(request: &Admission<Stall>, reader: &ObjectReader<Self>) -> Result<(), Denied> {
        let closed = reader.find::<ConfigMap>("closed").await?.and_then(|config| config.data).unwrap_or_default();
        if closed.contains_key(request.name()) { Err(Denied::new("the stall is closed")) } else { Ok(()) }
    }
}

pub(super) fn operator() -> Operator {
    Operator::new(NAME)
        .namespace(NAMESPACE)
        .defines::<Stall>()
        .validates(check_size)
        .defaults(set_class)
        .validates_by::<CheckClosed>(|webhook| webhook.name("closed"))
        .validates_with(refuse, |webhook| {
            let selector = json!({"matchLabels": {"refused": "yes"}});
            let selector = serde_json::from_value(selector).expect("a selector");
            webhook.object_selector(selector).failure_policy(FailurePolicy::Fail)
        })
}

/// An address of this machine that is free now. kube-apiserver reaches no webhook at a loopback address.
pub(super) fn free_address() -> SocketAddr {
    // Connecting a datagram socket sends nothing, and chooses the address.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a socket");
    let chosen = socket.connect((Ipv4Addr::new(192, 0, 2, 254), 9)).and_then(|()| socket.local_addr());
    let host = chosen.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |address| address.ip());
    let listener = TcpListener::bind((host, 0)).expect("a free port");
    listener.local_addr().expect("its address")
}

/// Installs the operator, with its Service and the address behind it.
pub(super) async fn installed(plane: &Arc<Plane>, address: SocketAddr) -> Site {
    log::keep();
    let site = Site { plane: plane.clone(), namespace: NAMESPACE.to_owned() };
    let operator = operator();
    site.install(&operator).await;
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE, "labels": {"kubernetes.io/service-name": SERVICE}},
        "endpoints": [{"addresses": [address.ip().to_string()], "conditions": {"ready": true}}],
        "ports": [{"name": "https", "port": address.port(), "protocol": "TCP"}],
    });
    let text = generated(&operator).text("base/operator.yaml").expect("the workload").to_owned();
    let services = text.split("\n---\n").filter(|document| document.contains(&format!("  name: {SERVICE}\n")));
    apply_quietly(plane, &services.collect::<Vec<_>>().join("\n---\n")).await;
    apply_quietly(plane, &slice.to_string()).await;
    apply_quietly(plane, generated(&operator).text("base/webhooks.yaml").expect("configurations")).await;
    site
}

pub(super) async fn run(site: &Site, server: WebhookServer) -> Running {
    site.run(&operator(), RunOptions::default().webhooks(server)).await
}

/// Creates an object, and returns the status, the warnings and the body of the response.
pub(super) async fn create(client: &Client, path: &str, object: &Value) -> (u16, String, Value) {
    let request = http::Request::post(path).header("content-type", "application/json");
    let response = client.send(request.body(Body::from(object.to_string().into_bytes())).unwrap()).await.unwrap();
    let warnings = response.headers().get_all("warning").iter().filter_map(|value| value.to_str().ok());
    let (status, warnings) = (response.status().as_u16(), warnings.collect::<Vec<_>>().join("\n"));
    let body = response.into_body().collect_bytes().await.unwrap();
    (status, warnings, serde_json::from_slice(&body).unwrap())
}

pub(super) const STALLS: &str = "/apis/stall.example.com/v1/namespaces/default/stalls";

pub(super) fn stall(name: &str, size: i32) -> Value {
    json!({
        "apiVersion": "stall.example.com/v1", "kind": "Stall", "metadata": {"name": name},
        "spec": {"size": size, "awning": "red"},
    })
}

pub(super) async fn is_served(client: &Client) {
    wait::until("the webhooks are called", PATIENCE, async || {
        let (status, _, body) = create(client, &format!("{STALLS}?dryRun=All"), &stall("probe", 1)).await;
        if status == 201 { Ok(()) } else { Err(body.to_string()) }
    })
    .await;
}

async fn certificates(site: &Site) -> Vec<Value> {
    let secret = site.api::<Secret>().get("live-webhook-certificates").await.unwrap();
    serde_json::from_slice(&secret.data.unwrap()["certificates.json"].0).unwrap()
}

async fn called(plane: Arc<Plane>, address: SocketAddr) {
    let site = installed(&plane, address).await;
    let client = plane.client();
    // Without the operator, its own kind fails closed.
    let (status, _, body) = create(&client, STALLS, &stall("early", 1)).await;
    assert_eq!(status, 500, "{body}");
    let replicas = [run(&site, address.into()).await, run(&site, free_address().into()).await];
    is_served(&client).await;
    assert_eq!(certificates(&site).await.len(), 1, "the replicas share one certificate");
    let (status, warnings, body) = create(&client, STALLS, &stall("good", 4)).await;
    assert_eq!((status, &body["spec"]), (201, &json!({"size": 4, "class": "blue", "awning": "red"})), "{body}");
    assert!(warnings.contains("a stall over 3 is expensive"), "{warnings}");
    let (status, _, body) = create(&client, STALLS, &stall("large", 6)).await;
    let message =
        "admission webhook \"validate-stalls.stall.example.com\" denied the request: spec.size: must be at most 5";
    assert_eq!((status, &body["message"], &body["reason"]), (422, &json!(message), &json!("Invalid")), "{body}");
    let cause = json!({"field": "spec.size", "message": "must be at most 5", "reason": "FieldValueInvalid"});
    assert_eq!(body["details"]["causes"], json!([cause]), "{body}");
    // A webhook that reads other objects, with the rights of the generated role.
    let closed = json!({"metadata": {"name": "closed"}, "data": {"ruin": ""}});
    site.create(&serde_json::from_value::<ConfigMap>(closed).unwrap()).await;
    let (status, _, body) = create(&client, STALLS, &stall("ruin", 1)).await;
    assert_eq!((status, body["message"].to_string().contains("the stall is closed")), (403, true), "{body}");
    let elsewhere = plane.namespace("elsewhere").await;
    let config = json!({"metadata": {"name": "refused", "labels": {"refused": "yes"}}});
    let config: ConfigMap = serde_json::from_value(config).unwrap();
    let created = Api::namespaced(client.clone(), &elsewhere).create(&PostParams::default(), &config).await;
    assert!(created.is_err_and(|error| error.to_string().contains("no ConfigMaps today")));
    site.create(&config).await;
    for replica in replicas {
        replica.end_now().await;
    }
}

async fn renewed(plane: Arc<Plane>, address: SocketAddr) {
    let site = installed(&plane, address).await;
    let client = plane.client();
    let server = WebhookServer::new(address).lifetime(Duration::from_secs(60));
    let replica = run(&site, server).await;
    is_served(&client).await;
    let first = certificates(&site).await[0]["created"].clone();
    let mut requests = 0;
    wait::until("the second certificate is served", 2 * PATIENCE, async || {
        let (status, _, body) = create(&client, &format!("{STALLS}?dryRun=All"), &stall("probe", 1)).await;
        assert_eq!(status, 201, "{body}");
        requests += 1;
        let certificates = certificates(&site).await;
        let newest = certificates.last().expect("a certificate");
        let served_from = newest["servedFrom"].as_i64().expect("a time");
        let is_new = newest["created"] != first && served_from + 2 < Timestamp::now().as_second();
        if is_new { Ok(()) } else { Err(format!("{} certificates", certificates.len())) }
    })
    .await;
    assert!(requests > 50, "{requests} requests");
    replica.end_now().await;
}
