//! Watches only the objects of the shards that this replica holds, and lists the objects again when the replica gets another shard.

use crate::{
    cache::Uid,
    informer::{
        reflector::{self, Sink, WatchScope},
        watch::{Health, WatchState},
    },
    kind::Kind,
    shard::watch::{CachedShards, ShardedWatch},
};
use http::{Request, Uri, uri::PathAndQuery};
use kube::client::Body;
use serde::Deserialize;
use std::{borrow::Cow, fmt::Write as _, pin::pin, sync::Arc};

/// Lists and watches a kind as [`reflector::run`] does, with only the objects of the shards that this replica holds. It never returns.
///
/// While the replica holds no shard, it sends no request, and the store is complete and empty. For a further shard it lists again.
pub(crate) async fn run(
    client: kube::Client,
    kind: &Kind,
    scope: WatchScope<'_>,
    sink: &dyn Sink,
    health: &Health,
    shards: &Arc<ShardedWatch>,
) {
    loop {
        let mut current = shards.cached();
        sink.remove_foreign();
        if current.set.is_empty() {
            sink.begin_list();
            sink.finish_list();
            health.set(WatchState::Following);
            shards.note_listed(&current);
            shards.wait_for_change(&current).await;
            continue;
        }
        let selector = shards.selector(&current.set);
        let selecting_client =
            selector.map_or_else(|| client.clone(), |selector| select(client.clone(), selector, shards));
        let sharded_sink = ShardedSink { sink, shards, listed: current.clone() };
        let mut watching = pin!(reflector::run(selecting_client, kind, scope, &sharded_sink, health));
        loop {
            tokio::select! {
                biased;
                changed = shards.wait_for_change(&current) => {
                    let has_only_removals = changed.additions == current.additions;
                    current = changed;
                    // The outer loop begins again: a new shard must be listed, no shard is left, or the selector of the requests changes.
                    if !has_only_removals || current.set.is_empty() || shards.selects() {
                        break;
                    }
                    // The watch already has all objects of the remaining shards.
                    sink.remove_foreign();
                }
                () = &mut watching => return,
            }
        }
    }
}

/// Passes the events of one list and watch on, and records the end of the list.
struct ShardedSink<'a> {
    sink: &'a dyn Sink,
    shards: &'a ShardedWatch,
    /// The shards for which the list was requested.
    listed: CachedShards,
}

impl Sink for ShardedSink<'_> {
    fn begin_list(&self) {
        self.sink.begin_list();
    }

    /// Passes an object on. If the list has an object of a shard that the request does not select, the API server ignores the selector:
    /// then further requests have none, and the store filters the objects.
    fn apply(&self, json: &[u8], from_list: bool) {
        if from_list && self.shards.selects() && !self.is_selected(json) {
            self.shards.stop_selecting("its response has objects of other shards");
        }
        self.sink.apply(json, from_list);
    }

    fn delete(&self, json: &[u8]) {
        self.sink.delete(json);
    }

    fn finish_list(&self) {
        self.sink.finish_list();
        self.shards.note_listed(&self.listed);
    }
}

impl ShardedSink<'_> {
    /// Returns whether an object is of a shard that the request selects. An object that can't be decoded counts as such; the store reports
    /// it.
    fn is_selected(&self, json: &[u8]) -> bool {
        let object: Result<IdentifiedObject<'_>, _> = serde_json::from_slice(json);
        let shard = object.map(|object| self.shards.count().shard_of(&Uid::from(&*object.metadata.uid)));
        shard.map_or(true, |shard| self.listed.set.contains(shard))
    }
}

/// The part of an object that decides about its shard.
#[derive(Deserialize)]
struct IdentifiedObject<'a> {
    #[serde(borrow)]
    metadata: UidOnly<'a>,
}

#[derive(Deserialize)]
struct UidOnly<'a> {
    #[serde(borrow, default)]
    uid: Cow<'a, str>,
}

/// Wraps a client so that its lists and watches select by shard, with the parameter `shardSelector` of the API. If the server refuses the
/// parameter, the request is sent without it.
fn select(client: kube::Client, selector: String, shards: &Arc<ShardedWatch>) -> kube::Client {
    let (namespace, shards) = (client.default_namespace().to_owned(), shards.clone());
    let parameter: Arc<str> = format!("shardSelector={}", encode(&selector)).into();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, shards, parameter) = (client.clone(), shards.clone(), parameter.clone());
        async move {
            let Some(uri) = with_parameter(request.uri(), &parameter).filter(|_| shards.selects()) else {
                return client.send(request).await;
            };
            let (parts, body) = request.into_parts();
            // A list or a watch has no body; the original one is kept for the second request.
            let mut selecting_request = Request::from_parts(parts.clone(), Body::empty());
            *selecting_request.uri_mut() = uri;
            let response = client.send(selecting_request).await?;
            if response.status() != http::StatusCode::BAD_REQUEST {
                return Ok(response);
            }
            shards.stop_selecting("it refuses the parameter shardSelector");
            client.send(Request::from_parts(parts, body)).await
        }
    });
    kube::Client::new(service, namespace)
}

/// Returns a URI with one more parameter; `None` if it has no query, as only lists and watches have one.
fn with_parameter(uri: &Uri, parameter: &str) -> Option<Uri> {
    let query = uri.query()?;
    let separator = if query.is_empty() || query.ends_with('&') { "" } else { "&" };
    let path: PathAndQuery = format!("{}?{query}{separator}{parameter}", uri.path()).parse().ok()?;
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path);
    Uri::from_parts(parts).ok()
}

/// Percent-encodes a value of a query.
fn encode(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len() * 2);
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            // Writing to a string can't fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        client::Client,
        informer::namespaces::Namespaces,
        kind::kind_of,
        lease::{lead::Lead, leads::Leads},
        shard::{gate::Shards, hash::ShardCount},
    };
    use http::Response;
    use k8s_openapi::api::core::v1::Pod;
    use parking_lot::Mutex;
    use serde_json::json;
    use std::{convert::Infallible, future::pending};

    /// The queries of the requests that a server received.
    type Queries = Arc<Mutex<Vec<String>>>;

    /// Returns a server of two objects in two shards, and the queries of its requests. If `refuses`, it responds to a `shardSelector` with
    /// 400; otherwise it ignores the parameter.
    fn server(refuses: bool) -> (kube::Client, Queries) {
        let queries = Queries::default();
        let log = queries.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default().to_owned();
            log.lock().push(query.clone());
            async move {
                if query.contains("watch=true") {
                    pending::<()>().await;
                }
                let item = |name: &str| json!({"metadata": {"name": name, "uid": name, "resourceVersion": "1"}});
                let (code, body) = if refuses && query.contains("shardSelector") {
                    (400, json!({"kind": "Status", "code": 400, "message": "unknown parameter"}))
                } else {
                    (200, json!({"metadata": {"resourceVersion": "1"}, "items": [item("one"), item("five")]}))
                };
                let response = Response::builder().status(code).body(Body::from(body.to_string().into_bytes()));
                Ok::<_, Infallible>(response.unwrap())
            }
        });
        (kube::Client::new(service, "default"), queries)
    }

    /// Counts the complete lists.
    #[derive(Default)]
    struct Lists(tokio::sync::watch::Sender<usize>);

    impl Sink for Lists {
        fn begin_list(&self) {}
        fn apply(&self, _: &[u8], _: bool) {}
        fn delete(&self, _: &[u8]) {}
        fn finish_list(&self) {
            self.0.send_modify(|count| *count += 1);
        }
    }

    /// Runs a watch in a replica without a shard and then with one of two shards, until it has listed the shard, and returns the queries.
    async fn queries_of(refuses: bool) -> Vec<String> {
        let count = ShardCount::new(2).unwrap();
        let [a, b] = ["one", "five"].map(|uid| count.shard_of(&Uid::from(uid)));
        assert_ne!(a, b, "the objects are in different shards");
        let ((client, queries), shards) = (server(refuses), Shards::new(count, Leads::new()));
        let (kind, namespaces, lists) = (kind_of::<Pod>(), Namespaces::default(), Lists::default());
        let health = Health::new(kind.clone());
        let watch = shards.add_watch(&health, true);
        let scope = WatchScope::all(&Client::new(client.clone()), &namespaces);
        let mut listed = lists.0.subscribe();
        let work = async {
            listed.wait_for(|count| *count == 1).await.unwrap();
            assert!(queries.lock().is_empty(), "no request without a shard");
            shards.add(a, &Lead::new());
            listed.wait_for(|count| *count == 2).await.unwrap();
        };
        tokio::select! {
            () = run(client, &kind, scope, &lists, &health, &watch) => {}
            () = work => {}
        }
        assert!(!watch.selects());
        queries.lock().clone()
    }

    #[tokio::test]
    async fn the_selector_is_not_sent_again_to_a_server_that_refuses_or_ignores_it() {
        let refused = queries_of(true).await;
        assert!(refused[0].contains("shardSelector=shardRange%28object.metadata.uid%2C%20%270x"), "{refused:?}");
        assert!(!refused[1].contains("shardSelector") && refused[1].contains("limit="), "{refused:?}");
        assert!(queries_of(false).await[0].contains("shardSelector="));
    }

    #[test]
    fn a_parameter_is_added_to_the_others() {
        let added = |uri: &str| with_parameter(&uri.parse().unwrap(), "a=b").map(|uri| uri.to_string());
        assert_eq!(added("http://server/pods?limit=5").as_deref(), Some("http://server/pods?limit=5&a=b"));
        assert_eq!(added("/pods?").as_deref(), Some("/pods?a=b"));
        assert_eq!(added("/pods"), None);
    }
}
