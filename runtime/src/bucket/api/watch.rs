//! Handles watch requests: streams the changes of the selected objects of a kind as events.

use super::{
    call::ApiCall,
    change_window::ObjectChange,
    failure::{ApiFailure, RequestError},
    kind::BucketKind,
    list::{self, ListedObject},
    object::partial_metadata,
    object_request::ObjectRequest,
    selector::ObjectSelector,
    view::{BucketView, ViewRead},
};
use axum::body::Body;
use futures::stream;
use serde_json::{Value, json};
use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// The duration of a watch without `timeoutSeconds`.
const DEFAULT_DURATION: Duration = Duration::from_secs(30 * 60);
/// The time between two bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);

/// A running watch. It reads one change at a time, so that a slow reader costs no memory: it expires when its next change is forgotten.
struct WatchEvents {
    view: Arc<BucketView>,
    wake: watch::Receiver<u64>,
    selector: ObjectSelector,
    is_metadata_only: bool,
    kind: BucketKind,
    /// The objects that are there at the begin of the watch.
    initial: VecDeque<ListedObject>,
    /// The version for the bookmark after the initial objects, if there is one.
    initial_end: Option<u64>,
    /// Changes up to this position are not sent.
    after: u64,
    /// The number of the next change.
    next: u64,
    deadline: Instant,
    next_bookmark: Option<Instant>,
    is_done: bool,
}

/// Starts a watch, and returns its events as the body of the response. With a resourceVersion, the events are the changes after it. Without
/// a resourceVersion (or with 0), or with `sendInitialEvents=true`, the watch begins with an event for each current object. Without a
/// resourceVersion and with `sendInitialEvents=false`, it has only the changes from now on.
pub(super) async fn watch(request: ObjectRequest<'_>, view: &Arc<BucketView>) -> Result<Body, RequestError> {
    let options = &request.call.options;
    let selector = ObjectSelector::parse(request.namespace, options)?;
    let version = match options.resource_version.as_str() {
        "" => 0,
        text => text.parse().map_err(|_| ApiFailure::bad_request(format!("invalid resource version: {text:?}")))?,
    };
    view.wait_until_synced().await?;
    let shows_all = options.initial_events.unwrap_or(version == 0);
    let (after, initial) = if shows_all {
        let list = list::list(request, view, &selector).await?;
        (list.version, list.objects.into())
    } else if version == 0 {
        (view.position(), VecDeque::new())
    } else {
        (version, VecDeque::new())
    };
    let events = WatchEvents::new(request, view.clone(), selector, after, initial, shows_all);
    let events = stream::unfold(events, |mut events| async move {
        let event = events.next_event().await?;
        Some((Ok::<_, Infallible>(event), events))
    });
    Ok(Body::from_stream(events))
}

impl WatchEvents {
    /// Creates a watch of the changes after the version `after`, which begins with the `initial` objects. `shows_all` is true if these
    /// are all current objects: then a bookmark follows them, if the client accepts bookmarks.
    fn new(
        request: ObjectRequest<'_>,
        view: Arc<BucketView>,
        selector: ObjectSelector,
        after: u64,
        initial: VecDeque<ListedObject>,
        shows_all: bool,
    ) -> Self {
        let ApiCall { options, is_metadata_only, .. } = request.call;
        let (now, kind) = (Instant::now(), request.kind().clone());
        let duration = options.timeout_seconds.filter(|seconds| *seconds > 0);
        let duration = duration.map_or(DEFAULT_DURATION, Duration::from_secs);
        // If changes after the version have been dropped, the number is one that no change has: the first read finds the watch expired.
        let next = view.first_after(after).unwrap_or(u64::MAX);
        Self {
            wake: view.subscribe(),
            view,
            selector,
            is_metadata_only: *is_metadata_only,
            kind,
            initial,
            initial_end: Some(after).filter(|_| shows_all && options.bookmarks),
            after,
            next,
            deadline: now.checked_add(duration).unwrap_or(now + DEFAULT_DURATION),
            next_bookmark: Some(now + BOOKMARK_INTERVAL).filter(|_| options.bookmarks),
            is_done: false,
        }
    }

    /// Returns the next event as a line of JSON; `None` at the end of the watch.
    async fn next_event(&mut self) -> Option<Vec<u8>> {
        if self.is_done {
            return None;
        }
        if let Some(object) = self.initial.pop_front() {
            return Some(event("ADDED", &object.json));
        }
        if let Some(version) = self.initial_end.take() {
            return Some(self.bookmark(version, true));
        }
        loop {
            // A change after this line wakes the watch.
            self.wake.mark_unchanged();
            match self.view.read(self.next) {
                ViewRead::Change(change) => {
                    self.next += 1;
                    if change.position > self.after
                        && let Some(event) = self.change_event(&change)
                    {
                        return Some(event);
                    }
                }
                ViewRead::Expired => {
                    let position = self.view.position();
                    let message = format!("too old resource version: {} ({position})", self.after);
                    return Some(self.end_with(&ApiFailure::expired(message)));
                }
                ViewRead::Failing(error) => {
                    let failure = ApiFailure::of_bucket(error, &self.kind, "");
                    return Some(self.end_with(&failure));
                }
                ViewRead::End(position) => {
                    if let Some(event) = self.wait(position).await? {
                        return Some(event);
                    }
                }
            }
        }
    }

    /// Returns a bookmark if it is time for one, and otherwise waits for the next change, the next bookmark or the end of the watch.
    /// Returns `Some(None)` if the caller has to read the view again, and `None` at the end of the watch. `position` is that of the last
    /// change.
    async fn wait(&mut self, position: u64) -> Option<Option<Vec<u8>>> {
        let now = Instant::now();
        if now >= self.deadline {
            return None;
        }
        if self.next_bookmark.is_some_and(|time| time <= now) && position >= self.after {
            self.next_bookmark = Some(now + BOOKMARK_INTERVAL);
            return Some(Some(self.bookmark(position, false)));
        }
        let until = self.next_bookmark.filter(|time| *time > now).map_or(self.deadline, |time| time.min(self.deadline));
        tokio::select! {
            biased;
            // An error means that the task of the view has ended: the watch ends, too.
            changed = self.wake.changed() => changed.ok()?,
            () = sleep_until(until) => {}
        }
        Some(None)
    }

    /// Returns the event of a change; `None` if the selector matches the object neither before nor after it. An object that starts to match
    /// is reported as added, and an object that no longer matches as deleted.
    fn change_event(&self, change: &ObjectChange) -> Option<Vec<u8>> {
        let is_selected = |labels: &Option<Box<str>>| {
            let labels = labels.as_deref();
            labels.is_some_and(|labels| self.selector.matches(&change.namespace, &change.name, labels))
        };
        let event_type = match (is_selected(&change.before), is_selected(&change.after)) {
            (false, true) => "ADDED",
            (true, true) => "MODIFIED",
            (true, false) => "DELETED",
            (false, false) => return None,
        };
        if !self.is_metadata_only {
            return Some(event(event_type, &change.json));
        }
        let object: Value = serde_json::from_slice(&change.json).unwrap_or_default();
        Some(event(event_type, partial_metadata(&object).to_string().as_bytes()))
    }

    /// Returns a bookmark event, which says that all changes up to its version are sent. With `is_initial_end`, it also marks the end of
    /// the initial objects, as `sendInitialEvents` requires.
    fn bookmark(&self, version: u64, is_initial_end: bool) -> Vec<u8> {
        let kind = &self.kind.kind;
        let (kind, api_version) = if self.is_metadata_only {
            ("PartialObjectMetadata", "meta.k8s.io/v1".to_owned())
        } else {
            (&*kind.kind, kind.api_version())
        };
        let mut metadata = json!({"resourceVersion": version.to_string()});
        if is_initial_end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object = json!({"kind": kind, "apiVersion": api_version, "metadata": metadata});
        event("BOOKMARK", object.to_string().as_bytes())
    }

    /// Ends the watch, and returns its last event, which has the failure.
    fn end_with(&mut self, failure: &ApiFailure) -> Vec<u8> {
        self.is_done = true;
        event("ERROR", failure.status().to_string().as_bytes())
    }
}

/// Returns an event as a line of JSON.
fn event(event_type: &str, object: &[u8]) -> Vec<u8> {
    let parts: [&[u8]; 5] = [b"{\"type\":\"", event_type.as_bytes(), b"\",\"object\":", object, b"}\n"];
    parts.concat()
}
