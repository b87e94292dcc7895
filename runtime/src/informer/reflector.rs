//! Lists and watches one kind with kube's watcher, and passes each object as undecoded JSON to a `Sink`, the trait of the receivers.

use crate::{
    cache::ResourceVersion,
    client::{CallError, Client},
    error::ErrorChain,
    informer::{
        namespaces::Namespaces,
        watch::{Health, WatchState},
    },
    kind::Kind,
    shape::Verb,
};
use futures::StreamExt;
use http::Request;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Api, Resource, api::ApiResource, client::Body, runtime::watcher};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::{borrow::Cow, time::Duration};
use tokio::time::Instant;

/// The scope of a watch: namespaces, selectors and page size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchScope<'a> {
    pub(crate) namespaces: &'a Namespaces,
    pub(crate) labels: Option<&'a str>,
    pub(crate) fields: Option<&'a str>,
    /// The maximum number of objects in one page of the list.
    pub(crate) page_size: u32,
}

impl<'a> WatchScope<'a> {
    /// Returns the scope of all objects of these namespaces, with the client's page size.
    pub(crate) fn all(client: &Client, namespaces: &'a Namespaces) -> Self {
        Self { namespaces, labels: None, fields: None, page_size: client.page_size() }
    }
}

/// The receiver of the events of a watch, with objects as JSON.
pub(crate) trait Sink: Send + Sync {
    /// Begins a list. An object that it does not contain counts as deleted at [`Sink::finish_list`].
    fn begin_list(&self);
    /// Handles an object that was added or changed; `from_list` is true if the list contains it.
    fn apply(&self, json: &[u8], from_list: bool);
    /// Handles the deletion of an object.
    fn delete(&self, json: &[u8]);
    /// Ends the list, which is complete: the other objects of the store count as deleted.
    fn finish_list(&self);
    /// Removes the objects of shards that this replica no longer holds. They still exist.
    fn remove_foreign(&self) {}
}

/// Lists and watches a kind. It never returns: it resumes a watch that broke, lists again after an expired one, and retries while
/// the kind is missing or forbidden. It reports the state of the watch to `health`.
pub(crate) async fn run(client: kube::Client, kind: &Kind, scope: WatchScope<'_>, sink: &dyn Sink, health: &Health) {
    let resource = ApiResource {
        group: kind.group.to_string(),
        version: kind.version.to_string(),
        api_version: kind.api_version(),
        kind: kind.kind.to_string(),
        plural: kind.plural.to_string(),
    };
    let client = reporting_open_watches(client, health.clone());
    let api: Api<WatchedObject> = match scope.namespaces.request_namespace().filter(|_| kind.namespaced) {
        Some(namespace) => Api::namespaced_with(client, namespace, &resource),
        None => Api::all_with(client, &resource),
    };
    let config = watcher::Config {
        label_selector: scope.labels.map(str::to_owned),
        field_selector: scope.fields.map(str::to_owned),
        page_size: Some(scope.page_size),
        ..watcher::Config::default()
    };
    let mut events = watcher(api, config).boxed();
    let mut backoff = WatchBackoff::default();
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Init) => sink.begin_list(),
            Ok(watcher::Event::InitDone) => sink.finish_list(),
            // A watch of several namespaces gets the objects of all namespaces; those of the others are dropped here.
            Ok(watcher::Event::InitApply(object) | watcher::Event::Apply(object) | watcher::Event::Delete(object))
                if !scope.namespaces.contains_object(object.json()) => {}
            Ok(watcher::Event::InitApply(object)) => sink.apply(object.json(), true),
            Ok(watcher::Event::Apply(object)) => sink.apply(object.json(), false),
            Ok(watcher::Event::Delete(object)) => sink.delete(object.json()),
            Err(error) => {
                health.count_restart();
                // The watch was open before this error, so the delays begin again.
                if health.state() == WatchState::Following {
                    backoff = WatchBackoff::default();
                }
                if is_expired_or_throttled(&error) {
                    health.set_restarting(error.to_string());
                } else {
                    health.set(backoff.defer_forbidden(state_of(error, kind, scope)));
                }
                // The watcher makes no request until its stream is polled again.
                tokio::time::sleep(backoff.next_delay()).await;
            }
        }
    }
}

/// The first retry comes soon, so that the operator notices quickly when the API server is back. The maximum bounds the cost of a
/// kind that never appears.
const MIN_DELAY: Duration = Duration::from_millis(200);
const MAX_DELAY: Duration = Duration::from_secs(5);

/// How long a "forbidden" response counts as a failure that may pass: an API server that has just started forbids everything
/// until it has read its roles, and the conditions of all objects would report that.
const FORBIDDEN_GRACE: Duration = Duration::from_secs(5);

/// The consecutive errors since the watch was last open.
#[derive(Default)]
struct WatchBackoff {
    retries: u32,
    forbidden_since: Option<Instant>,
}

impl WatchBackoff {
    /// Replaces the state "forbidden" by "failing" for [`FORBIDDEN_GRACE`] after the first such response. An API server that has just
    /// started forbids everything until it has read its roles.
    fn defer_forbidden(&mut self, state: WatchState) -> WatchState {
        match state {
            WatchState::Forbidden(rule)
                if self.forbidden_since.get_or_insert_with(Instant::now).elapsed() < FORBIDDEN_GRACE =>
            {
                WatchState::Failing(rule.to_string())
            }
            state => state,
        }
    }

    /// Returns the delay before the next retry: twice the one before, up to the maximum.
    fn next_delay(&mut self) -> Duration {
        let delay = MIN_DELAY.saturating_mul(1_u32.checked_shl(self.retries).unwrap_or(u32::MAX));
        self.retries += 1;
        delay.min(MAX_DELAY)
    }
}

/// Wraps a client so that `health` learns of every watch request that the server accepts. kube's watcher reports only the events
/// of a watch, and an open watch may have no event for a long time.
fn reporting_open_watches(client: kube::Client, health: Health) -> kube::Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, health) = (client.clone(), health.clone());
        let start_version = request.uri().query().and_then(watch_start_version);
        async move {
            let response = client.send(request).await?;
            if let Some(version) = start_version.filter(|_| response.status().is_success()) {
                health.open(&version);
            }
            Ok::<_, kube::Error>(response)
        }
    });
    kube::Client::new(service, namespace)
}

/// Returns the resourceVersion at which a watch starts, from the query of its request; `None` for other requests.
fn watch_start_version(query: &str) -> Option<ResourceVersion> {
    let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value("watch").filter(|watch| *watch == "true")?;
    Some(ResourceVersion::from(value("resourceVersion").unwrap_or_default()))
}

/// Returns whether the watch expired (410), so that the watcher lists again, or the API server throttled it (429 with
/// `Retry-After`), which the client logs and counts.
fn is_expired_or_throttled(error: &watcher::Error) -> bool {
    let status = match error {
        watcher::Error::WatchError(status) => status,
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status)) => status,
        _ => return false,
    };
    let has_retry_after = || status.details.as_ref().is_some_and(|details| details.retry_after_seconds > 0);
    status.code == 410 || status.code == 429 && has_retry_after()
}

/// Returns the state of a watch after this error: `Missing` after a 404, `Forbidden` with the missing rule after a 403, else
/// `Failing` with the error.
fn state_of(error: watcher::Error, kind: &Kind, scope: WatchScope<'_>) -> WatchState {
    let (verb, source) = match error {
        watcher::Error::InitialListFailed(source) => (Verb::List, source),
        watcher::Error::WatchStartFailed(source) | watcher::Error::WatchFailed(source) => (Verb::Watch, source),
        watcher::Error::WatchError(status) => (Verb::Watch, kube::Error::Api(status)),
        watcher::Error::NoResourceVersion => {
            return WatchState::Failing("its lists have no resourceVersion".to_owned());
        }
    };
    let call = CallError {
        verb,
        kind: kind.clone(),
        subresource: "",
        namespace: scope.namespaces.request_namespace().filter(|_| kind.namespaced).map(str::to_owned),
        name: String::new(),
        source: Box::new(source),
    };
    if call.is_not_found() {
        WatchState::Missing
    } else if call.is_forbidden() {
        WatchState::Forbidden(call.missing_rule())
    } else {
        WatchState::Failing(ErrorChain(&call).to_string())
    }
}

/// An object as undecoded JSON, with the one field that kube's watcher needs: its resourceVersion.
#[derive(Clone, Debug)]
struct WatchedObject {
    metadata: ObjectMeta,
    json: Box<RawValue>,
}

impl WatchedObject {
    fn json(&self) -> &[u8] {
        self.json.get().as_bytes()
    }
}

impl<'de> Deserialize<'de> for WatchedObject {
    /// Keeps the JSON of the object, and decodes only the resourceVersion.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct VersionedObject<'a> {
            #[serde(borrow)]
            metadata: VersionOnly<'a>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct VersionOnly<'a> {
            #[serde(borrow, default)]
            resource_version: Option<Cow<'a, str>>,
        }
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let object: VersionedObject<'_> = serde_json::from_str(json.get()).map_err(serde::de::Error::custom)?;
        let resource_version = object.metadata.resource_version.map(Cow::into_owned);
        Ok(Self { metadata: ObjectMeta { resource_version, ..ObjectMeta::default() }, json })
    }
}

impl Resource for WatchedObject {
    type DynamicType = ApiResource;
    type Scope = kube::core::DynamicResourceScope;

    fn kind(kind: &ApiResource) -> Cow<'_, str> {
        kind.kind.as_str().into()
    }
    fn group(kind: &ApiResource) -> Cow<'_, str> {
        kind.group.as_str().into()
    }
    fn version(kind: &ApiResource) -> Cow<'_, str> {
        kind.version.as_str().into()
    }
    fn api_version(kind: &ApiResource) -> Cow<'_, str> {
        kind.api_version.as_str().into()
    }
    fn plural(kind: &ApiResource) -> Cow<'_, str> {
        kind.plural.as_str().into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
