//! Sends ten thousand malformed requests: each gets a response, and none does harm.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

const REQUESTS: usize = 10_000;

const METHODS: [&str; 8] = ["GET", "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"];

const PATHS: [&str; 26] = [
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/configmaps/a",
    "/api/v1/configmaps",
    "/api/v1/namespaces",
    "/api/v1/namespaces/default",
    "/api/v1/namespaces/default/status",
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods/a/log",
    "/api/v1/namespaces/default/secrets/a",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/apps/v1/namespaces/default/deployments/a/scale",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/noise.example.com/v1/namespaces/default/noises/a",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
    "/api",
    "/apis",
    "/apis/apps/v1",
    "/openapi/v3/apis/apps/v1",
    "/version",
    "/readyz",
    "/",
    "//",
    "/api/v1/namespaces/%ff%00/pods/%2e%2e%2f",
    "/api/v1/watch/namespaces/default/configmaps",
];

const PARAMETERS: [&str; 20] = [
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "watch",
    "timeoutSeconds",
    "labelSelector",
    "fieldSelector",
    "dryRun",
    "fieldManager",
    "force",
    "fieldValidation",
    "propagationPolicy",
    "gracePeriodSeconds",
    "sendInitialEvents",
    "allowWatchBookmarks",
    "pretty",
    "includeObject",
    "orphanDependents",
    "",
];

const VALUES: [&str; 17] = [
    "",
    "0",
    "1",
    "-1",
    "true",
    "All",
    "Exact",
    "NotOlderThan",
    "99999999999999999999999",
    "a=b,c in (d",
    "metadata.name=a",
    "%ff%fe",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYSJ9",
    "Strict",
    "Foreground",
    "{}",
    "+",
];

const TYPES: [&str; 9] = [
    "application/json",
    "application/yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/vnd.kubernetes.protobuf",
    "text/plain; charset=\"",
    "",
];

const ACCEPTS: [&str; 8] = [
    "application/json",
    "application/yaml",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf",
    "*/*;q=0",
    ";;,,=",
];

struct Noise(fastrand::Rng);

impl Noise {
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.0.usize(..of.len())]
    }

    fn value(&mut self, depth: usize) -> Value {
        let word = |noise: &mut Self| {
            let words =
                ["a", "metadata", "spec", "name", "labels", "\u{0}", "ü", "kind", "finalizers", "replicas", "data"];
            noise.one(&words).to_owned()
        };
        match self.0.usize(..if depth > 5 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => self.0.bool().into(),
            2 => self.0.i64(..).into(),
            3 => json!(self.0.f64() * 1e300),
            4 => json!(u64::MAX),
            5 => word(self).into(),
            6 => (0..self.0.usize(..4)).map(|_| self.value(depth + 1)).collect(),
            _ => (0..self.0.usize(..5))
                .map(|_| (word(self), self.value(depth + 1)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    fn body(&mut self) -> Bytes {
        let named = json!({"metadata": {"name": self.one(&["a", "b", "A/B", "", "x".repeat(300).as_str()])}});
        match self.0.usize(..9) {
            0 => Bytes::new(),
            1 => (0..self.0.usize(..64)).map(|_| self.0.u8(..)).collect(),
            2 => self.value(0).to_string().into(),
            3 => {
                let mut text = self.value(0).to_string();
                while !text.is_char_boundary(text.len() / 2) {
                    text.push(' ');
                }
                text.truncate(text.len() / 2);
                text.into()
            }
            4 => "[".repeat(self.0.usize(..200_000)).into(),
            5 => format!("{{\"metadata\":{{\"name\":\"a\"}},\"data\":{{\"n\":\"{}\"}}}}", "9".repeat(self.0.usize(..5000))).into(),
            6 => json!([{"op": self.one(&["add", "remove", "test", "move", "no"]), "path": self.one(&["/a/-", "", "/metadata/name", "~2"]), "value": self.value(2)}]).to_string().into(),
            7 => {
                let mut object = named;
                for part in ["spec", "data", "metadata", "status", "rules"] {
                    if self.0.bool() {
                        object[part] = self.value(1);
                    }
                }
                object.to_string().into()
            }
            _ => named.to_string().into(),
        }
    }

    fn request(&mut self) -> Request<Bytes> {
        let mut path = self.one(&PATHS).to_owned();
        if self.0.usize(..10) == 0 {
            path.push_str(self.one(&["/", "/a/b/c/d", "/%", "/..", "/status", "/nope"]));
        }
        let mut query = String::new();
        for _ in 0..self.0.usize(..4) {
            write!(query, "&{}={}", self.one(&PARAMETERS), self.one(&VALUES)).unwrap();
        }
        // A watch has an end here.
        let uri = format!("{path}?timeoutSeconds=1{}", query.replace("timeoutSeconds", "timeoutSecond"));
        let request = Request::builder().method(Method::from_bytes(self.one(&METHODS).as_bytes()).unwrap());
        let uri: String = uri.chars().filter(|letter| !"{}".contains(*letter)).collect();
        let uri = uri.replace(' ', "%20");
        request
            .uri(uri)
            .header("content-type", self.one(&TYPES))
            .header("accept", self.one(&ACCEPTS))
            .header("user-agent", self.one(&["", "curl/8", "kubectl/v1", "/"]))
            .body(self.body())
            .unwrap()
    }
}

/// What is wrong with an answer: it must be an object, a status, or the text of a page.
fn fault(code: u16, kind: &str, text: &[u8]) -> Option<&'static str> {
    if code >= 500 && code != 504 && code != 500 {
        return Some("an odd code");
    }
    if text.starts_with(b"{\"type\"") || text.is_empty() || !kind.starts_with("application/json") {
        return None;
    }
    let Ok(answer) = serde_json::from_slice::<Value>(text) else { return Some("no JSON") };
    if code < 400 {
        return None;
    }
    let is_status = answer["kind"] == "Status" && answer["status"] == "Failure" && answer["code"] == code;
    if is_status { None } else { Some("no status") }
}

#[tokio::test(start_paused = true)]
async fn every_request_gets_an_answer() {
    let sandbox = Sandbox::builder().seed(7).start();
    let mut noise = Noise(fastrand::Rng::with_seed(7));
    let mut codes = std::collections::BTreeMap::<u16, usize>::new();
    for turn in 0..REQUESTS {
        let request = noise.request();
        let said = format!(
            "{turn}: {} {} {:?}",
            request.method(),
            request.uri(),
            request.body().slice(..request.body().len().min(200))
        );
        let user = if noise.0.usize(..10) == 0 { User::anonymous() } else { User::admin("noise") };
        let response = sandbox.call(user, request).await;
        let (head, body) = response.into_parts();
        let kind = head.headers.get("content-type").map_or("", |kind| kind.to_str().unwrap()).to_owned();
        let text = body.collect().await.unwrap().to_bytes();
        let code = head.status.as_u16();
        *codes.entry(code).or_default() += 1;
        assert_eq!(fault(code, &kind, &text), None, "{said}\n{code} {}", String::from_utf8_lossy(&text));
    }
    assert!(codes.len() > 6, "{codes:?}");
    assert!(codes.get(&200).is_some_and(|often| *often > 500), "{codes:?}");
}
