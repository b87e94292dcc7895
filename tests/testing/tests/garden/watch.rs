//! Watches gardens and ConfigMaps in a hand-written operator for tests, and reconciles all gardens after each change.

use std::{collections::BTreeMap, panic::AssertUnwindSafe, time::Duration};

use futures::{
    FutureExt as _, StreamExt as _,
    stream::{self, BoxStream},
};
use kube::{
    Api, Client, ResourceExt as _,
    api::{ApiResource, DynamicObject, GroupVersionKind},
    runtime::watcher::{self, Event, watcher},
};

use opgen::environment::Environment;

use super::{Bug, Gardener, pass::Gardens};

/// The delay of the next pass after a failure.
pub const RETRY: Duration = Duration::from_secs(5);

/// The timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The interval of a gardener that polls.
const POLL: Duration = Duration::from_secs(7);

/// Watched objects by namespace and name.
pub type Cache = BTreeMap<(String, String), DynamicObject>;

pub fn garden() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Garden"))
}

pub fn config_map() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Gardens,
    Maps,
}

type WatchEvent = (Source, Result<Event<DynamicObject>, watcher::Error>);

fn follow(client: &Client, kind: &ApiResource, of: Source, gardener: Gardener) -> BoxStream<'static, WatchEvent> {
    let mut config = watcher::Config::default();
    if of == Source::Maps {
        config = config.labels("garden");
    }
    if gardener.weeds && of == Source::Gardens {
        // A paginated list does not accept any version.
        config = watcher::Config { page_size: None, ..config.any_semantic() };
    }
    watcher(Api::all_with(client.clone(), kind), config).map(move |event| (of, event)).boxed()
}

/// A client whose calls have a timeout; the watcher has one for watches.
fn with_timeout(client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request| {
        let client = client.clone();
        async move {
            let answer = tokio::time::timeout(TIMEOUT, client.send(request)).await;
            answer.unwrap_or_else(|late| Err(kube::Error::Service(late.into())))
        }
    });
    Client::new(service, namespace)
}

pub async fn run(gardener: Gardener, client: Client, environment: Environment) -> Result<(), String> {
    let client = if gardener.bug.is(Bug::NoDeadline) { client } else { with_timeout(client) };
    let mut all = vec![follow(&client, &garden(), Source::Gardens, gardener)];
    if !gardener.bug.is(Bug::MissingWatch) {
        all.push(follow(&client, &config_map(), Source::Maps, gardener));
    }
    let mut listed = 2 - all.len();
    let mut events = stream::select_all(all);
    let mut gardens = Gardens::new(gardener, client, environment);
    let mut retry = None;
    let mut poll = tokio::time::Instant::now() + POLL;
    loop {
        let event = tokio::select! {
            biased;
            event = events.next() => event,
            () = tokio::time::sleep_until(poll), if gardener.polls => {
                poll += POLL;
                gardens.poll().await;
                continue;
            }
            () = tokio::time::sleep_until(retry.unwrap_or_else(tokio::time::Instant::now)), if retry.is_some() => None,
        };
        let mut pass = event.is_none();
        match event {
            // The next list has the missed changes.
            Some((_, Err(_))) => {
                tokio::time::sleep_until(tokio::time::Instant::now() + Duration::from_secs(1)).await;
                continue;
            }
            Some((of, Ok(event))) => pass |= update_cache(&mut gardens, of, event, &mut listed),
            None => {}
        }
        if !pass || listed < 2 {
            continue;
        }
        retry = match AssertUnwindSafe(gardens.pass()).catch_unwind().await {
            Ok(Ok(())) => None,
            Ok(Err(_)) | Err(_) => Some(tokio::time::Instant::now() + RETRY),
        };
    }
}

/// Updates the cache; whether the event starts a pass.
fn update_cache(gardens: &mut Gardens, of: Source, event: Event<DynamicObject>, listed: &mut usize) -> bool {
    let bug = gardens.bug;
    let (cache, listing) = match of {
        Source::Gardens => (&mut gardens.gardens, &mut gardens.listing[0]),
        Source::Maps => (&mut gardens.maps, &mut gardens.listing[1]),
    };
    let key = |object: &DynamicObject| (object.namespace().unwrap_or_default(), object.name_any());
    match event {
        Event::Init => {
            listing.clear();
            false
        }
        Event::InitApply(object) => {
            listing.insert(key(&object), object);
            false
        }
        Event::InitDone => {
            let again = *listed >= 2;
            *cache = std::mem::take(listing);
            *listed += 1;
            gardens.relisted = again && of == Source::Maps;
            // A handler of events alone misses the objects that a new list lacks.
            !(again && bug.is(Bug::UnobservedState))
        }
        Event::Apply(object) => {
            cache.insert(key(&object), object);
            true
        }
        Event::Delete(object) => {
            cache.remove(&key(&object));
            true
        }
    }
}
