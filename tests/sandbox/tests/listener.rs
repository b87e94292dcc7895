//! Tests of the sandbox on a socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, ServeOptions, Serving, User};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::timeout};

use crate::{https::HttpsClient, wait::until};

async fn served() -> (Sandbox, Serving) {
    let sandbox = Sandbox::builder().token("reader", User::service_account("default", "reader", "")).start();
    let serving = sandbox.serve(ServeOptions::default()).await.unwrap();
    (sandbox, serving)
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"key": "value"}})
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn it_answers_as_soon_as_it_is_there() {
    let began = Instant::now();
    let (_sandbox, serving) = served().await;
    let ready = HttpsClient::of(&serving).await.get("/readyz").await;
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    assert_eq!((ready.code, ready.text.as_str()), (200, "ok"));
}

#[tokio::test]
async fn http_1_and_http_2_are_spoken() {
    let (_sandbox, serving) = served().await;
    for asker in [HttpsClient::http1(&serving).await, HttpsClient::of(&serving).await] {
        assert_eq!(asker.post(MAPS, &map("a")).await.code, if asker.is_http2() { 409 } else { 201 });
        assert_eq!(asker.get(&format!("{MAPS}/a")).await.json()["data"]["key"], "value");
        let list = asker.get(MAPS).await;
        assert_eq!(list.json()["kind"], "ConfigMapList");
    }
}

#[tokio::test]
async fn every_namespace_has_the_certificate_of_whoever_listens() {
    let sandbox = Sandbox::new();
    let certificates = async |asker: &HttpsClient, wanted: &str| {
        let path = "/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt";
        until(path, async || (asker.get(path).await.json()["data"]["ca.crt"] == wanted).then_some(())).await;
    };
    let first = sandbox.serve(ServeOptions::default()).await.unwrap();
    let asker = HttpsClient::of(&first).await;
    certificates(&asker, first.certificate()).await;
    // One that comes later is trusted, too: by the maps that are there, and by those of new namespaces.
    let second = sandbox.serve(ServeOptions::default()).await.unwrap();
    let both = format!("{}{}", first.certificate(), second.certificate());
    certificates(&asker, &both).await;
    assert_eq!(asker.post("/api/v1/namespaces", &json!({"metadata": {"name": "late"}})).await.code, 201);
    let path = "/api/v1/namespaces/late/configmaps/kube-root-ca.crt";
    until(path, async || (asker.get(path).await.json()["data"]["ca.crt"] == both.as_str()).then_some(())).await;
}

#[tokio::test]
async fn a_token_that_nobody_gave_is_refused() {
    let (_sandbox, serving) = served().await;
    let asker = HttpsClient::of(&serving).await.token("nobody's");
    let refused = asker.get(MAPS).await;
    assert_eq!(refused.code, 401);
    let expected = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "Unauthorized", "reason": "Unauthorized", "code": 401});
    assert_eq!(refused.json(), expected);
}

#[tokio::test]
async fn a_body_over_three_mebibytes_is_refused() {
    let (_sandbox, serving) = served().await;
    let asker = HttpsClient::of(&serving).await;
    let body = "a".repeat(3 * 1024 * 1024 + 1);
    let refused = asker.send("POST", MAPS, &[("content-type", "application/json")], body).await;
    assert_eq!((refused.code, refused.reason()), (413, "RequestEntityTooLarge".to_owned()));
    assert_eq!(refused.json()["message"], "Request entity too large: limit is 3145728");
    assert_eq!(asker.get("/readyz").await.code, 200);
}

#[tokio::test]
async fn a_watch_ends_in_good_order_when_the_server_stops() {
    let (_sandbox, serving) = served().await;
    let asker = HttpsClient::of(&serving).await;
    asker.post(MAPS, &map("a")).await;
    let mut watch = asker.open(&format!("{MAPS}?watch=true&fieldSelector=metadata.name%3Da")).await;
    let first = watch.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(first.starts_with(b"{\"type\":\"ADDED\""), "{first:?}");
    // An error here would say that it was cut off.
    let both = async { tokio::join!(watch.collect(), serving.stop()) };
    let (rest, ()) = timeout(Duration::from_secs(10), both).await.unwrap();
    assert_eq!(rest.unwrap().to_bytes(), "");
}

#[tokio::test]
async fn a_client_that_says_nothing_holds_nobody_up() {
    let (_sandbox, serving) = served().await;
    let mut silent = TcpStream::connect(serving.address()).await.unwrap();
    silent.write_all(b"not TLS at all").await.unwrap();
    let _idle = TcpStream::connect(serving.address()).await.unwrap();
    assert_eq!(HttpsClient::of(&serving).await.get("/readyz").await.code, 200);
    timeout(Duration::from_secs(2), serving.stop()).await.unwrap();
}

#[tokio::test]
async fn the_kubeconfig_is_written_for_its_owner_alone() {
    let folder = std::env::temp_dir().join(format!("sandbox-kubeconfig-{}", std::process::id()));
    let options = ServeOptions::default().folder(folder.clone()).token("chosen");
    let serving = Sandbox::new().serve(options).await.unwrap();
    let path = serving.path().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), serving.kubeconfig());
    assert!(serving.kubeconfig().contains("token: \"chosen\"") && serving.kubeconfig().contains(&serving.url()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    std::fs::remove_dir_all(folder).unwrap();
}
