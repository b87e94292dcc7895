//! Tests of admission webhooks.

use std::sync::{Arc, Mutex};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Method, Request, Response};
use opgen_sandbox::{Sandbox, fault::WebhookFault};
use serde_json::{Value, json};

use super::{answer, create, prepare, register};

/// Answers as the path says, and keeps what was asked.
#[derive(Clone, Default)]
struct Program(Arc<Mutex<Vec<(String, Value)>>>);

impl Program {
    async fn answer(self, request: Request<Bytes>) -> Response<Bytes> {
        let review: Value = serde_json::from_slice(request.body()).unwrap();
        let uid = review["request"]["uid"].clone();
        let path = request.uri().path().to_owned();
        self.0.lock().unwrap().push((request.uri().to_string(), review));
        let patch = |operations: Value| json!({"uid": uid, "allowed": true, "patchType": "JSONPatch", "patch": STANDARD.encode(operations.to_string())});
        let response = match path.as_str() {
            "/deny" => json!({"uid": uid, "allowed": false}),
            "/because" => {
                json!({"uid": uid, "allowed": false, "status": {"message": "because", "code": 418, "reason": "Conflict"}})
            }
            "/reason" => json!({"uid": uid, "allowed": false, "status": {"reason": "Conflict"}}),
            "/warn" => json!({"uid": uid, "allowed": true, "warnings": ["w1", "w2"]}),
            "/uid" => json!({"uid": "x", "allowed": true}),
            "/patch" => patch(json!([{"op": "add", "path": "/data", "value": {"x": "y"}}])),
            "/remove" => patch(json!([{"op": "remove", "path": "/data/x/y"}])),
            "/untyped" => json!({"uid": uid, "allowed": true, "patch": "W10="}),
            _ => json!({"uid": uid, "allowed": true}),
        };
        let body = match path.as_str() {
            "/junk" => "junk".to_owned(),
            "/empty" => json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}).to_string(),
            _ => json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
                .to_string(),
        };
        if path == "/slow" {
            std::future::pending::<()>().await;
        }
        let code = if path == "/500" { 500 } else { 200 };
        Response::builder().status(code).body(body.into()).unwrap()
    }

    fn asked(&self) -> Vec<(String, Value)> {
        self.0.lock().unwrap().drain(..).collect()
    }
}

const HOST: &str = "https://hooks.example.com";

async fn sandbox() -> (Sandbox, Program) {
    let program = Program::default();
    let own = program.clone();
    let sandbox = Sandbox::builder().seed(1).webhook(HOST, move |request| own.clone().answer(request)).start();
    prepare(&sandbox).await;
    (sandbox, program)
}

/// Registers a webhook at a path, about ConfigMaps that are labelled with it.
async fn hook(sandbox: &Sandbox, sort: &str, path: &str, more: Value) {
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]});
    let mut hook = json!({
        "name": format!("{path}.example.com"), "clientConfig": {"url": format!("{HOST}/{path}")}, "rules": [rule],
        "objectSelector": {"matchLabels": {sort: path}}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 2,
    });
    hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let plural = format!("{sort}webhookconfigurations");
    let (code, body) = register(sandbox, &plural, path, json!({"webhooks": [hook]})).await;
    assert_eq!(code, 201, "{body}");
}

async fn labelled(sandbox: &Sandbox, sort: &str, path: &str) -> (u16, Value) {
    create(sandbox, "configmaps", json!({"metadata": {"name": format!("x{path}"), "labels": {sort: path}}})).await
}

#[tokio::test(start_paused = true)]
async fn a_webhook_refuses_in_its_words() {
    let (sandbox, _) = sandbox().await;
    for (path, code, reason, message) in [
        ("deny", 400, None, "denied the request without explanation"),
        ("because", 418, Some("Conflict"), "denied the request: because"),
        ("reason", 400, Some("Conflict"), "denied the request: Conflict"),
    ] {
        hook(&sandbox, "validating", path, json!({})).await;
        let (was, status) = labelled(&sandbox, "validating", path).await;
        let message = format!("admission webhook \"{path}.example.com\" {message}");
        assert_eq!((was, &status["message"]), (code, &json!(message)));
        assert_eq!((status.get("reason").and_then(Value::as_str), status.get("details")), (reason, None));
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_gives_no_answer_is_an_error() {
    let (sandbox, _) = sandbox().await;
    let unread = "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";
    for (sort, path, why) in [
        (
            "validating",
            "500",
            "failed to call webhook: an error on the server (\"unknown\") has prevented the request from succeeding",
        ),
        ("validating", "junk", unread),
        ("validating", "empty", "received invalid webhook response: webhook response was absent"),
        ("validating", "patch", "received invalid webhook response: validating webhook may not return response.patch"),
        (
            "validating",
            "slow",
            "failed to call webhook: Post \"https://hooks.example.com/slow?timeout=2s\": context deadline exceeded",
        ),
        (
            "mutating",
            "untyped",
            "received invalid webhook response: webhook returned response.patch but not response.patchType",
        ),
    ] {
        hook(&sandbox, sort, path, json!({})).await;
        let (code, status) = labelled(&sandbox, sort, path).await;
        let why = format!("failed calling webhook \"{path}.example.com\": {why}");
        assert_eq!((code, &status["message"]), (500, &json!(format!("Internal error occurred: {why}"))));
        assert_eq!(
            (&status["reason"], &status["details"]),
            (&json!("InternalError"), &json!({"causes": [{"message": why}]}))
        );
    }
    hook(&sandbox, "mutating", "remove", json!({})).await;
    let (_, status) = labelled(&sandbox, "mutating", "remove").await;
    let why =
        "Internal error occurred: remove operation does not apply: doc is missing path: \"/data/x/y\": missing value";
    assert_eq!(status["message"], why);
    hook(&sandbox, "mutating", "uid", json!({"failurePolicy": "Ignore"})).await;
    assert_eq!(labelled(&sandbox, "mutating", "uid").await.0, 201);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_is_asked_about_the_write_as_it_is_then() {
    let (sandbox, program) = sandbox().await;
    hook(&sandbox, "mutating", "patch", json!({})).await;
    hook(&sandbox, "validating", "warn", json!({})).await;
    let body = json!({"metadata": {"generateName": "y", "labels": {"mutating": "patch", "validating": "warn"}}});
    let path = "/api/v1/namespaces/a/configmaps?fieldManager=me&fieldValidation=Strict";
    let (code, headers, made) = answer(&sandbox, Method::POST, path, body).await;
    assert_eq!((code, &made["data"]), (201, &json!({"x": "y"})));
    let warnings: Vec<_> = headers.get_all("warning").iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!(warnings, ["299 - \"w1\"", "299 - \"w2\""]);

    let asked = program.asked();
    assert_eq!(asked[0].0, "https://hooks.example.com/patch?timeout=2s");
    let mut first = asked[0].1["request"].clone();
    let object = first["object"].take();
    assert!(object["metadata"].get("uid").is_none() && object["metadata"].get("name").is_none(), "{object}");
    assert_eq!(object["kind"], "ConfigMap");
    let (kind, resource) = (
        json!({"group": "", "version": "v1", "kind": "ConfigMap"}),
        json!({"group": "", "version": "v1", "resource": "configmaps"}),
    );
    let options = json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me", "fieldValidation": "Strict"});
    let expected = json!({
        "uid": first["uid"], "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
        "namespace": "a", "operation": "CREATE", "oldObject": null, "object": null, "dryRun": false, "options": options,
        "userInfo": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
    });
    assert_eq!(first, expected);
    let second = &asked[1].1["request"];
    assert_eq!(second["name"], made["metadata"]["name"]);
    assert_eq!(second["object"]["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(second["object"]["data"], json!({"x": "y"}));
}

#[tokio::test(start_paused = true)]
async fn conditions_say_whether_a_webhook_is_asked() {
    let (sandbox, program) = sandbox().await;
    let condition = |expression: &str| json!({"matchConditions": [{"name": "c", "expression": expression}]});
    hook(&sandbox, "validating", "deny", condition("object.metadata.name == 'zz'")).await;
    hook(&sandbox, "validating", "fail", condition("object.nope == 'zz'")).await;
    assert_eq!(labelled(&sandbox, "validating", "deny").await.0, 201);
    let (code, status) = labelled(&sandbox, "validating", "fail").await;
    let why =
        "configmaps \"xfail\" is forbidden: expression 'object.nope == 'zz'' resulted in error: no such key: nope";
    assert_eq!((code, &status["message"]), (403, &json!(why)));
    assert!(program.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_webhook_is_asked_again_about_what_later_ones_changed() {
    let (sandbox, program) = sandbox().await;
    let all = json!({"objectSelector": {}, "reinvocationPolicy": "IfNeeded"});
    hook(&sandbox, "mutating", "allow", all).await;
    hook(&sandbox, "mutating", "patch", json!({"objectSelector": {}})).await;
    let (_, made) = create(&sandbox, "configmaps", json!({"metadata": {"name": "m"}})).await;
    assert_eq!(made["data"], json!({"x": "y"}));
    let urls: Vec<_> = program.asked().into_iter().map(|(url, _)| url).collect();
    let url = |path: &str| format!("https://hooks.example.com/{path}?timeout=2s");
    assert_eq!(urls, [url("allow"), url("patch"), url("allow")]);
}

#[tokio::test(start_paused = true)]
async fn a_call_with_a_fault_fails_as_the_failure_policy_says() {
    let chosen = Arc::new(Mutex::new(None));
    let (fault, program) = (chosen.clone(), Program::default());
    let builder = Sandbox::builder().seed(1).webhook(HOST, move |request| program.clone().answer(request));
    let sandbox = builder.webhook_faults(move |_| *fault.lock().unwrap()).start();
    prepare(&sandbox).await;
    let ignore = json!({"failurePolicy": "Ignore"});
    hook(&sandbox, "validating", "allow", json!({})).await;
    hook(&sandbox, "validating", "ignored", ignore.clone()).await;
    hook(&sandbox, "mutating", "mutating", json!({})).await;
    hook(&sandbox, "mutating", "ignored", ignore).await;
    let post = |path: &str, why: &str| format!("failed to call webhook: Post \"{HOST}/{path}?timeout=2s\": {why}");
    let zero = "00000000-0000-4000-8000-000000000000";
    for (fault, why) in [
        (WebhookFault::Refused, post("allow", "dial tcp hooks.example.com:443: connect: connection refused")),
        (WebhookFault::TimedOut, post("allow", "context deadline exceeded")),
        (WebhookFault::OtherRequest, format!("got {zero:?}")),
    ] {
        *chosen.lock().unwrap() = Some(fault);
        let began = tokio::time::Instant::now();
        let (code, status) = labelled(&sandbox, "validating", "allow").await;
        let message = status["message"].as_str().unwrap();
        assert!(code == 500 && message.ends_with(&why), "{fault}: {status}");
        assert!(
            message.starts_with("Internal error occurred: failed calling webhook \"allow.example.com\": "),
            "{status}"
        );
        let limit = if fault == WebhookFault::TimedOut { 2 } else { 0 };
        assert_eq!(began.elapsed().as_secs(), limit, "{fault}");
        assert_eq!(labelled(&sandbox, "mutating", "mutating").await.0, 500);
        for sort in ["validating", "mutating"] {
            let body = json!({"metadata": {"generateName": "x", "labels": {sort: "ignored"}}});
            assert_eq!(create(&sandbox, "configmaps", body).await.0, 201, "{fault}");
        }
    }
    // A review without `allowed` is a denial, which no failure policy ignores.
    *chosen.lock().unwrap() = Some(WebhookFault::Incomplete);
    let (code, status) = labelled(&sandbox, "validating", "ignored").await;
    let why = "admission webhook \"ignored.example.com\" denied the request without explanation";
    assert_eq!((code, &status["message"]), (400, &json!(why)));
    *chosen.lock().unwrap() = None;
    assert_eq!(labelled(&sandbox, "validating", "allow").await.0, 201);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_nobody_knows_is_not_found() {
    let (sandbox, _) = sandbox().await;
    let service = json!({"service": {"name": "svc", "namespace": "a", "path": "/p", "port": 443}});
    hook(&sandbox, "validating", "s", json!({"clientConfig": service, "timeoutSeconds": 10})).await;
    let (code, status) = labelled(&sandbox, "validating", "s").await;
    let why = "Internal error occurred: failed calling webhook \"s.example.com\": failed to call webhook: Post \"https://svc.a.svc:443/p?timeout=10s\": service \"svc\" not found";
    assert_eq!((code, &status["message"]), (500, &json!(why)));
}

/// A webhook over HTTPS behind a Service, and its authority as a `caBundle`.
async fn listen(program: Program) -> (std::net::SocketAddr, String) {
    use http_body_util::{BodyExt as _, Full};
    use hyper::service::service_fn;
    use hyper_util::rt::{TokioExecutor, TokioIo};
    use rustls::pki_types::PrivateKeyDer;

    let made = rcgen::generate_simple_self_signed(["svc.a.svc".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(tls));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let program = program.clone();
            let service = service_fn(move |request: Request<hyper::body::Incoming>| {
                let program = program.clone();
                async move {
                    let (head, body) = request.into_parts();
                    let body = body.collect().await?.to_bytes();
                    let answer = program.answer(Request::from_parts(head, body)).await;
                    Ok::<_, hyper::Error>(answer.map(Full::new))
                }
            });
            let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            tokio::spawn(async move { builder.serve_connection(TokioIo::new(stream), service).await.map_err(drop) });
        }
    });
    (address, STANDARD.encode(made.cert.pem()))
}

#[tokio::test]
async fn a_webhook_behind_a_service_is_asked_over_https() {
    let program = Program::default();
    let (address, authority) = listen(program.clone()).await;
    let sandbox = Sandbox::builder().seed(1).service("a", "svc", address).start();
    prepare(&sandbox).await;
    let service = |path: &str| json!({"name": "svc", "namespace": "a", "path": path, "port": 443});
    let config = json!({"service": service("/deny"), "caBundle": authority});
    hook(&sandbox, "validating", "s", json!({"clientConfig": config})).await;
    let (code, status) = labelled(&sandbox, "validating", "s").await;
    let why = "admission webhook \"s.example.com\" denied the request without explanation";
    assert_eq!((code, &status["message"]), (400, &json!(why)));
    assert_eq!(program.asked()[0].0, "/deny?timeout=2s");
    // Nobody vouches for it here.
    hook(&sandbox, "validating", "t", json!({"clientConfig": {"service": service("/deny")}})).await;
    let (_, status) = labelled(&sandbox, "validating", "t").await;
    let why = "Internal error occurred: failed calling webhook \"t.example.com\": failed to call webhook: Post \"https://svc.a.svc:443/deny?timeout=2s\": tls: failed to verify certificate: x509: certificate signed by unknown authority";
    assert_eq!(status["message"], why);
}

#[tokio::test]
async fn a_webhook_that_is_not_there_is_an_error() {
    let sandbox = Sandbox::new();
    prepare(&sandbox).await;
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = format!("https://{closed}/x");
    hook(&sandbox, "validating", "u", json!({"clientConfig": {"url": url}})).await;
    let (code, status) = labelled(&sandbox, "validating", "u").await;
    let why = format!(
        "Internal error occurred: failed calling webhook \"u.example.com\": failed to call webhook: Post \"{url}?timeout=2s\": dial tcp {closed}: connect: connection refused"
    );
    assert_eq!((code, &status["message"]), (500, &json!(why)));
}
