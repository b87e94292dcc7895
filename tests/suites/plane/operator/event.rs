//! Waits for the events that operators record.

use k8s_openapi::api::events::v1::Event;
use kube::Api;
use opgen_tests::wait::{PATIENCE, until};

/// Waits for an event that `is_wanted` accepts, and returns it.
#[track_caller]
pub(crate) fn until_event(
    events: &Api<Event>,
    what: impl Into<String>,
    is_wanted: impl Fn(&Event) -> bool,
) -> impl Future<Output = Event> {
    until(what, PATIENCE, async move || {
        let all = events.list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        let reasons: Vec<_> = all.iter().map(|event| event.reason.clone().unwrap_or_default()).collect();
        all.into_iter().find(|event| is_wanted(event)).ok_or_else(|| format!("{reasons:?}"))
    })
}

/// Waits for an event with a reason that regards an object of this name, and returns it.
#[track_caller]
pub(crate) fn until_event_about(events: &Api<Event>, name: &str, reason: &str) -> impl Future<Output = Event> {
    let is_wanted = move |event: &Event| {
        let regarding = event.regarding.as_ref().and_then(|object| object.name.as_deref());
        event.reason.as_deref() == Some(reason) && regarding == Some(name)
    };
    until_event(events, format!("an event {reason} about {name}"), is_wanted)
}
