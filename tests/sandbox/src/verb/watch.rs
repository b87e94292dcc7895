//! Implements the verb `watch`: streams the changes after a version, or the current objects and the changes after them.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::stream;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::{filter::Filter, list_options, read::metadata_of};
use crate::{
    call::Representation,
    discovery::print::Printer,
    environment::Clock,
    failure::Failure,
    kind::Kind,
    object,
    request::ResourceRequest,
    response::ApiResponse,
    schema::{self, Schema},
    store::{Change, ChangeKind, Store, Stored, Subscription},
};

/// The duration of a watch without `timeoutSeconds`.
const DEFAULT_DURATION: Duration = Duration::from_secs(30 * 60);

/// The interval between bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);

/// The time between the last bookmark and the end of the watch.
const LAST_BOOKMARK_MARGIN: Duration = Duration::from_secs(2);

/// The maximum number of changes encoded at a time; it limits the memory for a slow reader.
const MAX_BATCH: usize = 512;

/// A running watch.
struct WatchStream {
    store: Arc<Store>,
    kind: Arc<Kind>,
    filter: Filter,
    encoder: EventEncoder,
    /// The version after which changes are read.
    after: u64,
    /// Initial objects to send.
    initial: VecDeque<Arc<Stored>>,
    /// Whether a bookmark marks the end of the initial objects.
    marks_initial: bool,
    encoded: VecDeque<Bytes>,
    deadline: Instant,
    bookmark: Option<Instant>,
    done: bool,
}

/// Encodes events in the requested representation.
enum EventEncoder {
    /// Whole objects: the stored text after `{"type":"…","object":{…`.
    Whole {
        type_meta: String,
    },
    Metadata,
    Table {
        printer: Printer,
        clock: Clock,
        sent_columns: bool,
    },
}

/// Handles a watch: returns a stream of events from the requested version, or of the current objects and the changes
/// after them.
pub(super) fn watch(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let (options, server) = (&request.call.options, request.server);
    list_options::check(options, request.call.verb)?;
    let start = list_options::version(options, request.call.verb)?.filter(|version| *version > 0);
    let filter = Filter::parse(request)?;
    let encoder = match request.call.accept.representation() {
        Representation::Table => EventEncoder::Table {
            printer: Printer::of(request)?,
            clock: server.environment.clock(),
            sent_columns: false,
        },
        Representation::Metadata | Representation::MetadataList => EventEncoder::Metadata,
        Representation::Unsupported | Representation::UnknownShape | Representation::Yaml => {
            return Err(Failure::no_such_representation());
        }
        Representation::Json | Representation::Discovery => {
            let kind = request.kind;
            EventEncoder::Whole {
                type_meta: format!("\"kind\":{:?},\"apiVersion\":{:?},", kind.kind, kind.api_version()),
            }
        }
    };
    let duration = options.timeout_seconds.filter(|seconds| *seconds > 0).map_or(DEFAULT_DURATION, Duration::from_secs);
    let now = Instant::now();
    let mut watch = WatchStream {
        store: server.store.clone(),
        kind: request.kind.clone(),
        filter,
        encoder,
        after: start.unwrap_or_else(|| server.store.version()),
        initial: VecDeque::new(),
        marks_initial: false,
        encoded: VecDeque::new(),
        deadline: now.checked_add(duration).unwrap_or(now + DEFAULT_DURATION),
        bookmark: None,
        done: false,
    };
    let is_streaming_list = options.send_initial_events == Some(true);
    // A watch that starts with the current objects gets the bookmark at their end, even if it did not request the list.
    if is_streaming_list || (start.is_none() && options.send_initial_events.is_none()) {
        let (version, items) = server.store.list(&request.kind.group_resource, Some(request.namespace));
        watch.after = version.max(start.unwrap_or(0));
        watch.initial = items.into();
        watch.marks_initial = options.bookmarks;
    }
    if options.bookmarks {
        watch.bookmark = Some(watch.next_bookmark(now));
    }
    let subscription = server.store.subscribe(&request.kind.group_resource);
    let pieces = stream::unfold((watch, subscription), async |(mut watch, mut subscription)| {
        let piece = watch.next_piece(&mut subscription).await?;
        Some((piece, (watch, subscription)))
    });
    Ok(ApiResponse::stream(pieces))
}

impl WatchStream {
    /// Returns the next event of the response, encoded as a line; `None` at the end of the watch. Waits for changes, and sends bookmarks
    /// meanwhile.
    async fn next_piece(&mut self, subscription: &mut Subscription) -> Option<Bytes> {
        loop {
            // Sends no event before its change is in the data file: after a restart, the server would not know the change.
            if self.has_more() && !self.store.wait_until_persisted().await {
                return None;
            }
            if let Some(piece) = self.encoded.pop_front() {
                return Some(piece);
            }
            if let Some(piece) = self.next_initial() {
                return Some(piece);
            }
            if self.done || Instant::now() >= self.deadline {
                return None;
            }
            // Comes before the read, so that a change after the read wakes the watch.
            subscription.mark_unchanged();
            self.wait_for_conversions().await;
            if self.read_changes() {
                continue;
            }
            let wake = self.bookmark.map_or(self.deadline, |bookmark| bookmark.min(self.deadline));
            tokio::select! {
                biased;
                changed = subscription.changed() => self.done = changed.is_err(),
                () = sleep_until(wake) => self.send_bookmark(),
            }
        }
    }

    /// Returns whether events are ready to be sent.
    fn has_more(&self) -> bool {
        self.marks_initial || !self.encoded.is_empty() || !self.initial.is_empty()
    }

    /// Returns the next initial object as an ADDED event, then the bookmark that ends a streaming list (KEP-3157);
    /// `None` after that.
    fn next_initial(&mut self) -> Option<Bytes> {
        while let Some(item) = self.initial.pop_front() {
            if self.filter.matches(&self.kind, &item) {
                return Some(self.encode_stored("ADDED", &item));
            }
        }
        std::mem::take(&mut self.marks_initial).then(|| self.bookmark_event(true))
    }

    /// Waits until conversion webhooks have converted the objects of the next changes to the version of the watch, at most until the
    /// deadline of the watch. The request that wrote an object starts its conversion.
    async fn wait_for_conversions(&self) {
        let Some(custom) = self.kind.custom().filter(|_| self.kind.is_converted_by_webhook()) else { return };
        while Instant::now() < self.deadline {
            // Subscribe before the check, so that no conversion is missed in between.
            let subscription = custom.converted.subscribe();
            // `read_changes` reports an expired version.
            let Ok(changes) = self.store.some_changes(&self.kind.group_resource, self.after, MAX_BATCH) else { return };
            if !changes.iter().any(|change| self.kind.waits_for(&change.object)) {
                return;
            }
            tokio::select! {
                biased;
                () = subscription => {}
                () = sleep_until(self.deadline) => {}
            }
        }
    }

    /// Reads new changes and queues their encoded events. Ends the watch with an error event if its version is expired or a conversion
    /// failed. Returns whether it has read a change or ended the watch, so that the caller must look for queued events.
    fn read_changes(&mut self) -> bool {
        match self.store.some_changes(&self.kind.group_resource, self.after, MAX_BATCH) {
            Ok(changes) => {
                for change in &changes {
                    if let Some(why) = self.kind.conversion_error(&change.object) {
                        self.encoded.push_back(encode_event("ERROR", &Failure::internal(why).status()));
                        self.done = true;
                        return true;
                    }
                    self.after = change.version;
                    if let Some(event) = self.change_event(change) {
                        self.encoded.push_back(event);
                    }
                }
                !changes.is_empty()
            }
            Err(_) => {
                let message = format!("too old resource version: {} ({})", self.after, self.store.version());
                self.encoded.push_back(encode_event("ERROR", &Failure::expired(message).status()));
                self.done = true;
                true
            }
        }
    }

    /// Returns the event of a change: DELETED if the object stops matching, ADDED if it starts to match. Returns `None`
    /// if it matches neither before nor after.
    fn change_event(&mut self, change: &Change) -> Option<Bytes> {
        let matched_before = change.before.as_ref().is_some_and(|before| self.filter.matches(&self.kind, before));
        let deleted = change.kind == ChangeKind::Deleted;
        let matches_now = !deleted && self.filter.matches(&self.kind, &change.object);
        match (matched_before, matches_now) {
            (false, true) => Some(self.encode_stored("ADDED", &change.object)),
            (true, true) => Some(self.encode_stored("MODIFIED", &change.object)),
            (true, false) if deleted => Some(self.encode_stored("DELETED", &change.object)),
            // The object still exists: the event contains its last matching state, with the version of the change.
            (true, false) => {
                let mut last = change.before.as_ref()?.object(&self.kind);
                object::metadata_mut(&mut last).insert("resourceVersion".into(), change.version.to_string().into());
                Some(self.encode("DELETED", last))
            }
            (false, false) => None,
        }
    }

    /// Encodes the event of a stored object. In a watch of whole objects, inserts the stored JSON text, which has no `kind` and
    /// `apiVersion`, without decoding it.
    fn encode_stored(&mut self, type_: &str, item: &Stored) -> Bytes {
        let EventEncoder::Whole { type_meta } = &self.encoder else {
            return self.encode(type_, item.object(&self.kind));
        };
        let text = item.text(&self.kind);
        // The opening brace is written before `type_meta`.
        let fields = text.get(1..).unwrap_or_default();
        let parts: [&[u8]; 6] =
            [b"{\"type\":\"", type_.as_bytes(), b"\",\"object\":{", type_meta.as_bytes(), fields, b"}\n"];
        Bytes::from(parts.concat())
    }

    /// Encodes the event of a decoded object in the representation of the watch.
    fn encode(&mut self, type_: &str, object: Value) -> Bytes {
        match &mut self.encoder {
            EventEncoder::Whole { .. } => encode_event(type_, &object),
            EventEncoder::Metadata => encode_event(type_, &metadata_of(&object)),
            EventEncoder::Table { printer, clock, sent_columns } => {
                // Only the first event contains the definitions of the columns.
                let metadata = json!({"resourceVersion": object::version(&object).unwrap_or_default()});
                let with_columns = !std::mem::replace(sent_columns, true);
                let table = printer.table(&[object], &metadata, with_columns && type_ != "BOOKMARK", clock.now());
                encode_event(type_, &table)
            }
        }
    }

    /// Returns the time of the next bookmark: after the interval, or shortly before the end of the watch if that is
    /// earlier.
    fn next_bookmark(&self, now: Instant) -> Instant {
        let last = self.deadline.checked_sub(LAST_BOOKMARK_MARGIN).filter(|last| *last > now);
        let next = now + BOOKMARK_INTERVAL;
        last.map_or(next, |last| last.min(next))
    }

    /// Queues a bookmark if one is due. New changes take precedence: if there are any, queues their events and no bookmark.
    fn send_bookmark(&mut self) {
        let now = Instant::now();
        if self.bookmark.is_none_or(|bookmark| bookmark > now) {
            return;
        }
        self.bookmark = Some(self.next_bookmark(now));
        // The version is read before the changes, because all changes up to the version of a bookmark must be sent before it.
        let version = self.store.version();
        // A watch from a version that the store has not reached gets no bookmark.
        if !self.read_changes() && self.after <= version {
            self.after = version;
            let bookmark = self.bookmark_event(false);
            self.encoded.push_back(bookmark);
        }
    }

    /// Encodes a bookmark with the version up to which all changes are sent. `is_list_end` marks the end of the initial
    /// objects.
    fn bookmark_event(&mut self, is_list_end: bool) -> Bytes {
        let kind = &self.kind;
        let mut object = json!({"metadata": {"resourceVersion": self.after.to_string()}});
        if is_list_end {
            object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        // For a built-in kind, the real server encodes an empty Go struct, which contains all fields without `omitempty`.
        if kind.custom().is_none() {
            schema::default(kind.schema(), &mut object);
            fill_required(kind.schema(), &mut object);
        }
        object["kind"] = kind.kind.clone().into();
        object["apiVersion"] = kind.api_version().into();
        self.encode("BOOKMARK", object)
    }
}

/// Sets missing required fields of an object and of the objects in it to null, as Go encodes them in an empty struct.
fn fill_required(schema: &Schema, value: &mut Value) {
    let (Some(fields), Value::Object(map)) = (schema.fields(), value) else { return };
    for name in &fields.required {
        map.entry(&**name).or_insert(Value::Null);
    }
    for (name, value) in map {
        if let Some(schema) = fields.known.get(name.as_str()) {
            fill_required(schema, value);
        }
    }
}

/// Encodes an event as a line of the stream.
fn encode_event(type_: &str, object: &Value) -> Bytes {
    Bytes::from(format!("{{\"type\":{type_:?},\"object\":{object}}}\n"))
}
