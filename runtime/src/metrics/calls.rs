//! `CallMetrics` counts and times the calls of the API server by verb, resource and status code.

use super::{
    histogram::{CALL_BUCKETS, Histogram, HistogramValues},
    label::OTHER,
};
use crate::spans::{bridge::current_context, call::CallSpan};
use http::{Method, Request, StatusCode};
use kube::client::Body;
use parking_lot::RwLock;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::time::Instant;

/// The maximum number of pairs of verb and resource; all further calls count as those of the resource `other`.
const MAX_TARGETS: usize = 200;

/// The code of a request without a response.
pub(super) const NO_RESPONSE: &str = "<error>";

/// The name that replaces the resource of a path like `/version`.
const NO_RESOURCE: &str = "nonresource";

/// A call of an API server that has ended.
#[derive(Debug)]
pub(super) struct FinishedCall {
    method: Method,
    /// The verb of RBAC.
    verb: &'static str,
    /// The full name of the resource, with its subresource.
    resource: String,
    /// `None` if there was no response.
    pub(super) status: Option<StatusCode>,
    start: Instant,
}

/// Returns a client that sends requests through `client`, and calls `observe` when a request has been answered or has failed. Each request
/// within a recorded span, such as that of a pass, gets a span of its own, unless its trace is not sampled.
pub(super) fn observe_calls(
    client: kube::Client,
    observe: impl Fn(&FinishedCall) + Clone + Send + Sync + 'static,
) -> kube::Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |mut request: Request<Body>| {
        let (observe, client) = (observe.clone(), client.clone());
        async move {
            let (method, start) = (request.method().clone(), Instant::now());
            let (verb, resource) = verb_and_resource(&method, request.uri().path(), request.uri().query());
            let span = CallSpan::begin(&mut request, verb, &resource);
            let response = span.run(client.send(request)).await;
            let status = response.as_ref().ok().map(http::Response::status);
            observe(&FinishedCall { method, verb, resource, status, start });
            response
        }
    });
    kube::Client::new(service, namespace)
}

/// The calls of one operator in its own cluster. Clones share the values.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallMetrics(Arc<CallCounts>);

/// The values of [`CallMetrics`].
#[derive(Debug, Default)]
struct CallCounts {
    /// By status code and method.
    requests: RwLock<BTreeMap<(String, String), AtomicU64>>,
    /// By method.
    methods: RwLock<BTreeMap<String, Histogram>>,
    /// By verb and resource.
    targets: RwLock<BTreeMap<(&'static str, String), Histogram>>,
}

impl CallMetrics {
    /// Returns a client that sends requests through `client` and counts them. Each request within a recorded
    /// span has a span, unless its trace is not sampled.
    pub(crate) fn wrap(&self, client: kube::Client) -> kube::Client {
        let calls = self.clone();
        observe_calls(client, move |call| calls.observe(call))
    }

    /// Counts a finished call by status code and method, and adds its duration to the histogram of its method and to that of its verb and
    /// resource. If the current trace is sampled, it becomes the exemplar of the duration.
    fn observe(&self, call: &FinishedCall) {
        let (duration, method) = (call.start.elapsed(), method_name(&call.method));
        let code = match call.status {
            None => NO_RESPONSE,
            Some(status) if status.canonical_reason().is_none() => OTHER,
            Some(ref status) => status.as_str(),
        };
        with_entry(&self.0.requests, (code.to_owned(), method.to_owned()), AtomicU64::default, |count| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let histogram = || Histogram::new(CALL_BUCKETS);
        let trace = current_context().filter(|context| context.is_sampled);
        let observe = |histogram: &Histogram| histogram.observe_traced(duration, trace.as_ref());
        with_entry(&self.0.methods, method.to_owned(), histogram, observe);
        let mut target = (call.verb, call.resource.clone());
        let targets = self.0.targets.read();
        // The number of series is bounded: once there are `MAX_TARGETS`, a new pair counts as the resource `other` of its verb.
        if targets.len() >= MAX_TARGETS && !targets.contains_key(&target) {
            target.1 = OTHER.to_owned();
        }
        drop(targets);
        with_entry(&self.0.targets, target, histogram, observe);
    }

    /// Returns the number of requests by their labels: status code and method, in this order.
    pub(super) fn requests(&self) -> Vec<((String, String), u64)> {
        let requests = self.0.requests.read();
        requests.iter().map(|(labels, count)| (labels.clone(), count.load(Ordering::Relaxed))).collect()
    }

    /// Returns the durations by method.
    pub(super) fn methods(&self) -> Vec<(String, HistogramValues)> {
        self.0.methods.read().iter().map(|(method, histogram)| (method.clone(), histogram.values())).collect()
    }

    /// Returns the durations by verb and resource.
    pub(super) fn targets(&self) -> Vec<((&'static str, String), HistogramValues)> {
        self.0.targets.read().iter().map(|(target, histogram)| (target.clone(), histogram.values())).collect()
    }
}

/// Calls `use_value` with the value of a key. If the key is missing, `create` makes its value first. Most keys exist already, so the
/// function tries a read lock before it takes the write lock.
fn with_entry<K: Ord, V>(map: &RwLock<BTreeMap<K, V>>, key: K, create: impl FnOnce() -> V, use_value: impl FnOnce(&V)) {
    if let Some(value) = map.read().get(&key) {
        return use_value(value);
    }
    use_value(map.write().entry(key).or_insert_with(create));
}

/// Returns the name of a method; a custom one is `other`.
fn method_name(method: &Method) -> &str {
    match *method {
        Method::GET | Method::POST | Method::PUT | Method::PATCH | Method::DELETE | Method::HEAD | Method::OPTIONS => {
            method.as_str()
        }
        _ => OTHER,
    }
}

/// Returns the verb of RBAC and the full name of the resource, with its subresource, of a request to the API server, such as `get` and
/// `deployments/status.apps`. A path like `/version` has the resource `nonresource`.
fn verb_and_resource(method: &Method, path: &str, query: Option<&str>) -> (&'static str, String) {
    let segments: Vec<_> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let (group, segments) = match &segments[..] {
        ["api", _version, segments @ ..] => ("", segments),
        ["apis", group, _version, segments @ ..] => (*group, segments),
        _ => ("", &[][..]),
    };
    // From here on, the segments are the plural name, the name and the subresource, without the namespace.
    let segments = match segments {
        // The Namespace itself, or a subresource of it.
        ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => segments,
        ["namespaces", _, rest @ ..] => rest,
        segments => segments,
    };
    let watches = query.is_some_and(|query| query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1")));
    let has_name = segments.len() > 1;
    let verb = match (method.as_str(), has_name) {
        ("GET", _) if watches => "watch",
        ("GET", false) if !segments.is_empty() => "list",
        ("GET" | "HEAD", _) => "get",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", true) => "delete",
        ("DELETE", false) => "deletecollection",
        _ => OTHER,
    };
    let full_name = |plural: &str| if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
    let resource = match segments {
        [] => NO_RESOURCE.to_owned(),
        [plural, _, subresource, ..] => full_name(&format!("{plural}/{subresource}")),
        [plural, ..] => full_name(plural),
    };
    (verb, resource)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use http::Response;
    use std::{convert::Infallible, time::Duration};

    #[test]
    fn the_verb_and_the_resource_follow_from_the_request() {
        let classify = |method: Method, path: &str, query: Option<&str>| {
            let (verb, resource) = verb_and_resource(&method, path, query);
            format!("{verb} {resource}")
        };
        let pods = "/api/v1/namespaces/shop/pods";
        assert_eq!(classify(Method::GET, pods, Some("limit=500")), "list pods");
        assert_eq!(classify(Method::GET, pods, Some("allowWatchBookmarks=true&watch=true")), "watch pods");
        assert_eq!(classify(Method::GET, &format!("{pods}/web"), None), "get pods");
        assert_eq!(classify(Method::POST, &format!("{pods}/web/eviction"), None), "create pods/eviction");
        assert_eq!(classify(Method::DELETE, pods, None), "deletecollection pods");
        assert_eq!(classify(Method::DELETE, "/api/v1/namespaces/shop", None), "delete namespaces");
        assert_eq!(classify(Method::PUT, "/api/v1/namespaces/shop/finalize", None), "update namespaces/finalize");
        assert_eq!(classify(Method::GET, "/api/v1/namespaces", None), "list namespaces");
        let status = "/apis/demo.example.com/v1/namespaces/shop/webapps/web/status";
        assert_eq!(classify(Method::PUT, status, None), "update webapps/status.demo.example.com");
        assert_eq!(
            classify(Method::PATCH, "/apis/apps/v1/namespaces/shop/deployments/web", None),
            "patch deployments.apps"
        );
        assert_eq!(classify(Method::GET, "/version", None), "get nonresource");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_are_counted_by_code_and_method_and_resources_are_bounded() {
        let service = tower::service_fn(|request: Request<Body>| async move {
            tokio::time::advance(Duration::from_secs(1)).await;
            let code = if request.uri().path().ends_with("gone") { 404 } else { 200 };
            Ok::<_, Infallible>(Response::builder().status(code).body(Body::empty()).unwrap())
        });
        let calls = CallMetrics::default();
        let client = calls.wrap(kube::Client::new(service, "default"));
        for path in ["/api/v1/pods", "/api/v1/namespaces/shop/pods/gone"] {
            client.send(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        }
        let counted: Vec<_> =
            calls.requests().into_iter().map(|((code, method), n)| format!("{method} {code} {n}")).collect();
        assert_eq!(counted, ["GET 200 1", "GET 404 1"]);
        assert_eq!(calls.methods().first().map(|(method, values)| (method.as_str(), values.sum)), Some(("GET", 2.0)));
        for number in 0..MAX_TARGETS {
            let resource = format!("kind-{number}");
            let call = FinishedCall { method: Method::GET, verb: "get", resource, status: None, start: Instant::now() };
            calls.observe(&call);
        }
        assert!(calls.targets().len() <= MAX_TARGETS + 1);
        assert!(calls.targets().iter().any(|((_, resource), _)| resource == OTHER));
    }
}
