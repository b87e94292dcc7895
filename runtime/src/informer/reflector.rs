//! From `kube`'s watcher to a cache, without decoding what passes through.

use crate::{
    cache::ResourceVersion,
    client::{CallError, Client},
    error::Chain,
    informer::watch::{Health, WatchState},
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

/// What is watched of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchScope<'a> {
    pub(crate) namespace: Option<&'a str>,
    pub(crate) labels: Option<&'a str>,
    pub(crate) fields: Option<&'a str>,
    /// How many objects one page of the list holds at most.
    pub(crate) page_size: u32,
}

impl<'a> WatchScope<'a> {
    /// All objects of a namespace, or of all, in the client's pages.
    pub(crate) fn all(client: &Client, namespace: Option<&'a str>) -> Self {
        Self { namespace, labels: None, fields: None, page_size: client.page_size() }
    }
}

/// Where a watch pours its objects, as JSON.
pub(crate) trait Sink: Send + Sync {
    /// A list begins; what it doesn't hold is gone at its end.
    fn begin(&self);
    /// An object is there, or is different.
    fn apply(&self, json: &[u8], listing: bool);
    /// An object is gone.
    fn delete(&self, json: &[u8]);
    /// The list is complete.
    fn finish(&self);
}

/// Follows a kind for ever: lists, watches, resumes, lists again where it must; waits for a kind that isn't there.
pub(crate) async fn follow(client: kube::Client, kind: &Kind, scope: WatchScope<'_>, sink: &dyn Sink, health: &Health) {
    let resource = ApiResource {
        group: kind.group.to_string(),
        version: kind.version.to_string(),
        api_version: kind.api_version(),
        kind: kind.kind.to_string(),
        plural: kind.plural.to_string(),
    };
    let client = telling(client, health.clone());
    let api: Api<WatchedObject> = match scope.namespace.filter(|_| kind.namespaced) {
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
    let mut trouble = WatchBackoff::default();
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Init) => sink.begin(),
            Ok(watcher::Event::InitApply(object)) => sink.apply(object.json(), true),
            Ok(watcher::Event::InitDone) => sink.finish(),
            Ok(watcher::Event::Apply(object)) => sink.apply(object.json(), false),
            Ok(watcher::Event::Delete(object)) => sink.delete(object.json()),
            Err(error) => {
                if health.state() == WatchState::Following {
                    trouble = WatchBackoff::default();
                }
                if begins_anew(&error) {
                    health.begins_anew(error.to_string());
                } else {
                    health.set(trouble.judge(state_of(error, kind, scope)));
                }
                // The watcher begins nothing until it is asked for its next event.
                tokio::time::sleep(trouble.pause()).await;
            }
        }
    }
}

// Quick to begin with, so that an API server that was away is found again soon; the cap bounds what a kind that never
// appears costs.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// For how long a refusal is not believed: a server that has just started refuses everything until it has read its roles,
/// and all objects would say so.
const DOUBT: Duration = Duration::from_secs(5);

/// Errors in a row, since the watch was last open.
#[derive(Default)]
struct WatchBackoff {
    pauses: u32,
    refused: Option<Instant>,
}

impl WatchBackoff {
    fn judge(&mut self, state: WatchState) -> WatchState {
        match state {
            WatchState::Forbidden(rule) if self.refused.get_or_insert_with(Instant::now).elapsed() < DOUBT => {
                WatchState::Failing(rule.to_string())
            }
            state => state,
        }
    }

    fn pause(&mut self) -> Duration {
        let pause = FIRST_PAUSE.saturating_mul(1_u32.checked_shl(self.pauses).unwrap_or(u32::MAX));
        self.pauses += 1;
        pause.min(LONGEST_PAUSE)
    }
}

/// A client that takes note of every watch that the server begins to answer: `kube`'s watcher passes on what happens in a
/// watch, and nothing may happen for long.
fn telling(client: kube::Client, health: Health) -> kube::Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, health) = (client.clone(), health.clone());
        let version = request.uri().query().and_then(watched_from);
        async move {
            let response = client.send(request).await?;
            if let Some(version) = version.filter(|_| response.status().is_success()) {
                health.open(&version);
            }
            Ok::<_, kube::Error>(response)
        }
    });
    kube::Client::new(service, namespace)
}

/// The version that a watch begins at; `None` for other requests.
fn watched_from(query: &str) -> Option<ResourceVersion> {
    let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value("watch").filter(|watch| *watch == "true")?;
    Some(ResourceVersion::from(value("resourceVersion").unwrap_or_default()))
}

/// Whether the watch expired (410), so that a list follows, or the API server asked for time (429 with `Retry-After`), which the
/// client logs and counts.
fn begins_anew(error: &watcher::Error) -> bool {
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

fn state_of(error: watcher::Error, kind: &Kind, scope: WatchScope<'_>) -> WatchState {
    let (verb, source) = match error {
        watcher::Error::InitialListFailed(source) => (Verb::List, source),
        watcher::Error::WatchStartFailed(source) | watcher::Error::WatchFailed(source) => (Verb::Watch, source),
        watcher::Error::WatchError(status) => (Verb::Watch, kube::Error::Api(status)),
        watcher::Error::NoResourceVersion => return WatchState::Failing("lists of it carry no version".to_owned()),
    };
    let call = CallError {
        verb,
        kind: kind.clone(),
        subresource: "",
        namespace: scope.namespace.filter(|_| kind.namespaced).map(str::to_owned),
        name: String::new(),
        source: Box::new(source),
    };
    if call.is_not_found() {
        WatchState::Missing
    } else if call.is_forbidden() {
        WatchState::Forbidden(call.missing_rule())
    } else {
        WatchState::Failing(Chain(&call).to_string())
    }
}

/// An object as it came; only what the watcher itself needs is read.
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
