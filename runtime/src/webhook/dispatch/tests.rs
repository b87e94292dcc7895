//! Tests of the webhooks, as HTTP requests and by the harness.

use super::*;
use crate::{
    manager::operator::Operator,
    testing::{AdmissionHarness, AdmissionOutcome},
    webhook::{Admission, Denied, FailurePolicy, Operation, Webhook, WebhookDescription, review::review},
};
use k8s_openapi::api::core::v1::Pod;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "demo.example.com", version = "v1", kind = "Shop", namespaced)]
struct ShopSpec {
    replicas: i32,
    #[serde(default)]
    class: String,
}

fn shop(replicas: i32) -> Shop {
    let mut shop = Shop::new("corner", ShopSpec { replicas, class: String::new() });
    shop.metadata.namespace = Some("market".to_owned());
    shop
}

fn check_size(request: &Admission<Shop>) -> Result<(), Denied> {
    let replicas = request.object().spec.replicas;
    assert_ne!(replicas, 13, "unlucky");
    if replicas > 3 {
        request.warn("more than 3\nreplicas are expensive");
    }
    if request.old_object().is_some_and(|old| old.spec.replicas > replicas)
        && request.user().username.as_deref() != Some("chief")
    {
        return Err(Denied::forbidden("spec.replicas", "only chief may decrease it"));
    }
    if replicas > 5 { Err(Denied::invalid("spec.replicas", "must be at most 5")) } else { Ok(()) }
}

fn set_class(request: &Admission<Shop>, shop: &mut Shop) -> Result<(), Denied> {
    shop.spec.class = if request.is_dry_run() { "dry" } else { "blue" }.to_owned();
    Ok(())
}

fn operator() -> Operator {
    Operator::new("shops").validates(check_size).defaults(set_class)
}

async fn call(harness: AdmissionHarness) -> AdmissionOutcome {
    harness.call(&operator()).await
}

fn dispatcher(operator: &Operator) -> Dispatcher {
    Dispatcher::new(operator.extensions.webhooks.iter().cloned(), Converter::default(), operator.counters(), None)
}

const PATH: &str = "/validate/shops.demo.example.com";

/// Returns the status and the body of the response to a request.
async fn ask(operator: &Operator, method: Method, content_type: &str, body: Vec<u8>) -> (u16, String) {
    let request = Request::builder().method(method).uri(PATH).header(header::CONTENT_TYPE, content_type);
    let response = dispatcher(operator).respond(request.body(Full::new(Bytes::from(body))).unwrap()).await;
    let (head, body) = response.into_parts();
    (head.status.as_u16(), String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap())
}

fn body(object: Value) -> Vec<u8> {
    review(json!({"uid": "7", "operation": "CREATE", "object": object})).to_string().into_bytes()
}

#[tokio::test]
async fn a_denial_has_the_message_the_code_and_the_causes() {
    let outcome = call(AdmissionHarness::create(&shop(6))).await;
    let denied = outcome.denied.unwrap();
    assert_eq!(
        (denied.to_string().as_str(), denied.code(), denied.reason()),
        ("spec.replicas: must be at most 5", 422, "Invalid")
    );
    let cause = &denied.causes()[0];
    assert_eq!((cause.field.as_str(), cause.reason.as_ref()), ("spec.replicas", "FieldValueInvalid"));
    assert_eq!(outcome.warnings, ["more than 3 replicas are expensive"]);
    assert_eq!(call(AdmissionHarness::create(&shop(5))).await.denied, None);
}

#[tokio::test]
async fn the_function_sees_the_old_object_and_the_user() {
    let update = || AdmissionHarness::update(&shop(3), &shop(2));
    let denied = call(update()).await.denied.unwrap();
    assert_eq!(denied.causes()[0].reason, "FieldValueForbidden");
    assert_eq!(call(update().user("chief")).await.denied, None);
    assert_eq!(call(AdmissionHarness::delete(&shop(9))).await.denied, None, "deletions are no default operation");
    assert_eq!(call(AdmissionHarness::update(&shop(3), &shop(2)).subresource("status")).await.denied, None);
}

#[tokio::test]
async fn a_default_is_set_and_fields_that_the_type_does_not_have_are_kept() {
    let raw = json!({
        "apiVersion": "demo.example.com/v1", "kind": "Shop", "metadata": {"name": "corner", "future": 1},
        "spec": {"replicas": 1, "awning": {"color": "red"}},
    });
    let outcome = call(AdmissionHarness::create(&shop(1)).json(raw.clone())).await;
    let mut wanted = raw.clone();
    wanted["spec"]["class"] = json!("blue");
    assert_eq!((outcome.denied, outcome.object), (None, wanted));
    let outcome = call(AdmissionHarness::create(&shop(1)).json(raw).dry_run()).await;
    assert_eq!(outcome.object_as::<Shop>().unwrap().spec.class, "dry");
}

#[tokio::test]
async fn an_object_that_can_not_be_decoded_is_refused_by_its_field() {
    let harness = || AdmissionHarness::create(&shop(1)).json(json!({"metadata": {}, "spec": {"replicas": "two"}}));
    let denied = call(harness()).await.denied.unwrap();
    assert_eq!((denied.code(), denied.causes()[0].field.as_str()), (422, "spec.replicas"));
    assert!(
        denied.to_string().starts_with("spec.replicas: the operator can't read it: invalid type: string"),
        "{denied}"
    );
}

#[tokio::test]
async fn an_object_that_is_being_deleted_loses_its_finalizers_whatever_it_contains() {
    let update = |replicas: i32| {
        let object = |finalizers: Value, replicas: i32| json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": finalizers}, "spec": {"replicas": replicas}});
        let request = json!({
            "uid": "7", "operation": "UPDATE", "oldObject": object(json!(["a/b"]), 9), "object": object(json!([]), replicas),
        });
        review(request).to_string().into_bytes()
    };
    let allowed = async |replicas| {
        let (code, text) = ask(&operator(), Method::POST, "application/json", update(replicas)).await;
        assert_eq!(code, 200, "{text}");
        serde_json::from_str::<Value>(&text).unwrap()["response"]["allowed"].clone()
    };
    assert_eq!(allowed(9).await, true);
    assert_eq!(allowed(10).await, false, "a change of the spec is validated");
}

#[tokio::test]
async fn other_changes_of_an_object_that_is_being_deleted_are_validated() {
    let old = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"]}, "spec": {"replicas": 9}});
    for (pointer, value) in [
        ("/metadata/labels", json!({"team": "red"})),
        ("/metadata/annotations", json!({"note": "x"})),
        ("/metadata/ownerReferences", json!([])),
        ("/metadata/finalizers", json!(["a/b", "c/d"])),
        ("/status", json!({})),
    ] {
        let mut new = old.clone();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        new.pointer_mut(parent).unwrap()[field] = value;
        let request = json!({"uid": "7", "operation": "UPDATE", "oldObject": old, "object": new});
        let body = review(request).to_string().into_bytes();
        let (_, text) = ask(&operator(), Method::POST, "application/json", body).await;
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["response"]["allowed"], false, "{pointer}");
    }
}

#[tokio::test]
async fn an_old_object_that_can_not_be_decoded_can_be_repaired() {
    let request = json!({
        "uid": "7", "operation": "UPDATE", "oldObject": {"metadata": {}, "spec": {"replicas": "two"}},
        "object": {"metadata": {}, "spec": {"replicas": 2}},
    });
    let (_, text) = ask(&operator(), Method::POST, "application/json", review(request).to_string().into_bytes()).await;
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["response"], json!({"uid": "7", "allowed": true}));
}

#[tokio::test]
async fn requests_that_are_no_reviews_get_the_codes_of_http() {
    let operator = operator();
    let good = body(json!({"metadata": {}, "spec": {"replicas": 1}}));
    let code = async |method, content_type, body| ask(&operator, method, content_type, body).await.0;
    assert_eq!(code(Method::POST, "application/json; charset=utf-8", good.clone()).await, 200);
    assert_eq!(code(Method::GET, "application/json", good.clone()).await, 405);
    assert_eq!(code(Method::POST, "application/yaml", good.clone()).await, 415);
    assert_eq!(code(Method::POST, "application/json", b"{}".to_vec()).await, 400);
    assert_eq!(code(Method::POST, "application/json", vec![b' '; MAX_BODY + 1]).await, 413);
    let old = String::from_utf8(good).unwrap().replace("k8s.io/v1", "k8s.io/v1beta1");
    let (code, text) = ask(&operator, Method::POST, "application/json", old.into_bytes()).await;
    assert_eq!(
        (code, text.trim_end()),
        (400, "expected AdmissionReview of admission.k8s.io/v1, got AdmissionReview of admission.k8s.io/v1beta1")
    );
    let request = Request::post("/validate/pods").body(Full::new(Bytes::new())).unwrap();
    assert_eq!(dispatcher(&operator).respond(request).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_large_object_is_answered() {
    let note = "x".repeat(3 << 20);
    let (code, _) = ask(
        &operator(),
        Method::POST,
        "application/json",
        body(json!({"metadata": {}, "spec": {"replicas": 1, "class": note}})),
    )
    .await;
    assert_eq!(code, 200);
}

#[tokio::test]
async fn a_panic_is_an_internal_error_without_its_text_and_is_counted() {
    let operator = operator();
    let (code, text) =
        ask(&operator, Method::POST, "application/json", body(json!({"metadata": {}, "spec": {"replicas": 13}}))).await;
    assert_eq!((code, text.contains("panicked"), text.contains("unlucky")), (500, true, false), "{text}");
    assert_eq!(operator.counters().panics(Closure::Webhook), 1);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_fails_or_takes_too_long_leaves_the_decision_to_the_failure_policy() {
    let failing = Operator::new("shops").validates(|_: &Admission<Shop>| Err(Denied::unexpected("secret detail")));
    let slow = Operator::new("shops").validates_async(
        |_: Admission<Shop>| std::future::pending(),
        |webhook| webhook.timeout(Duration::from_secs(2)),
    );
    let good = body(json!({"metadata": {}, "spec": {"replicas": 1}}));
    let (code, text) = ask(&failing, Method::POST, "application/json", good.clone()).await;
    assert_eq!((code, text.as_str()), (500, "the webhook failed; the reason is in the log of the operator\n"));
    let (code, text) = ask(&slow, Method::POST, "application/json", good).await;
    assert_eq!((code, text.as_str()), (500, "the webhook did not answer within 2 s\n"));
}

#[tokio::test]
async fn asynchronous_functions_validate_and_set_defaults() {
    let operator = Operator::new("shops")
        .validates_async(
            async |request: Admission<Shop>| match request.object().spec.class.as_str() {
                "green" => Ok(()),
                class => Err(Denied::new(format!("no class {class}"))),
            },
            |webhook| webhook,
        )
        .defaults_async(
            async |_, mut shop: Shop| {
                shop.spec.class = "green".to_owned();
                Ok(shop)
            },
            |webhook| webhook,
        );
    let outcome = AdmissionHarness::create(&shop(1)).call(&operator).await;
    assert_eq!((outcome.denied, outcome.object["spec"]["class"].as_str()), (None, Some("green")));
}

fn description(settings: impl FnOnce(Webhook) -> Webhook) -> WebhookDescription {
    let operator = Operator::new("pods").validates_with(|_: &Admission<Pod>| Ok(()), settings);
    operator.extensions.webhooks[0].description.clone()
}

#[test]
fn names_and_paths_follow_from_the_kind() {
    let [validating, defaulting] = &operator().extensions.webhooks[..] else { panic!("two webhooks") };
    assert_eq!(validating.description.name(), "validate-shops.demo.example.com");
    assert_eq!(defaulting.description.path(), "/default/shops.demo.example.com");
    let named = description(|webhook| webhook.name("image"));
    assert_eq!(
        (named.name(), named.path()),
        ("validate-image.pods.core.opgen.dev".to_owned(), "/validate/pods.core.opgen.dev/image".to_owned())
    );
}

#[test]
fn settings_that_the_api_server_refuses_are_errors_of_the_run() {
    let problem = |settings: fn(Webhook) -> Webhook| description(settings).check().err().map(|error| error.to_string());
    assert_eq!(problem(|webhook| webhook.failure_policy(FailurePolicy::Fail).timeout(Duration::from_secs(30))), None);
    for (settings, text) in [
        ((|webhook| webhook.timeout(Duration::from_secs(31))) as fn(Webhook) -> Webhook, "use 1 to 30 whole seconds"),
        (|webhook| webhook.timeout(Duration::from_millis(1500)), "use 1 to 30 whole seconds"),
        (|webhook| webhook.name("A b"), "no DNS label"),
        (|webhook| webhook.operations([]), "it has no operations"),
        (|webhook| webhook.subresources(["scale"]), "subresource `scale`"),
        (|webhook| webhook.match_condition("a", "true").match_condition("a", "false"), "two match conditions `a`"),
    ] {
        let problem = problem(settings).unwrap();
        assert!(problem.starts_with("webhook validate-") && problem.contains(text), "{problem}");
    }
    let twice = operator().validates(check_size);
    let error = WebhookDescription::check_all(twice.extensions.webhooks.iter().map(|handler| &handler.description));
    assert!(error.unwrap_err().to_string().contains("two webhooks"));
    let deletes = Operator::new("shops")
        .defaults_with(set_class, |webhook| webhook.operations([Operation::Create, Operation::Delete]));
    let error = deletes.extensions.webhooks[0].description.check().unwrap_err().to_string();
    assert!(error.ends_with(": it sets defaults, but is called for deletions; use creations and updates"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_given_up() {
    let never = futures::stream::pending::<Result<hyper::body::Frame<Bytes>, std::io::Error>>();
    let request = Request::post(PATH).header(header::CONTENT_TYPE, "application/json");
    let request = request.body(http_body_util::StreamBody::new(never)).unwrap();
    assert_eq!(dispatcher(&operator()).respond(request).await.status(), StatusCode::REQUEST_TIMEOUT);
}
