//! Implements the verb `watch`: from a version, or from the current state.

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
const LASTS: Duration = Duration::from_secs(30 * 60);

/// The interval between bookmarks, and the time between the last one and the end.
const BOOKMARKS: Duration = Duration::from_secs(60);
const BEFORE_END: Duration = Duration::from_secs(2);

/// The maximum number of changes encoded at a time; it limits the memory for a slow reader.
const AT_A_TIME: usize = 512;

/// A running watch.
struct WatchStream {
    store: Arc<Store>,
    kind: Arc<Kind>,
    filter: Filter,
    encoder: EventEncoder,
    after: u64,
    /// Initial objects to send.
    initial: VecDeque<Arc<Stored>>,
    /// Whether a bookmark marks the end of the initial objects.
    marks_initial: bool,
    ready: VecDeque<Bytes>,
    ends: Instant,
    bookmark: Option<Instant>,
    done: bool,
}

/// Encodes events in the requested representation.
enum EventEncoder {
    /// Whole objects: the stored text after `{"type":"…","object":{…`.
    Whole {
        head: String,
    },
    Metadata,
    Table {
        printer: Printer,
        clock: Clock,
        began: bool,
    },
}

pub(super) fn watch(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let (options, server) = (&request.call.options, request.server);
    list_options::check(options, request.call.verb)?;
    let from = list_options::version(options, request.call.verb)?.filter(|version| *version > 0);
    let filter = Filter::of(request)?;
    let encoder = match request.call.accept.representation() {
        Representation::Table => {
            EventEncoder::Table { printer: Printer::of(request)?, clock: server.environment.clock(), began: false }
        }
        Representation::Metadata | Representation::MetadataList => EventEncoder::Metadata,
        Representation::Unsupported | Representation::UnknownShape | Representation::Yaml => {
            return Err(Failure::no_such_representation());
        }
        Representation::Json | Representation::Discovery => {
            let kind = request.kind;
            EventEncoder::Whole { head: format!("\"kind\":{:?},\"apiVersion\":{:?},", kind.kind, kind.api_version()) }
        }
    };
    let lasts = options.timeout_seconds.filter(|seconds| *seconds > 0).map_or(LASTS, Duration::from_secs);
    let now = Instant::now();
    let mut watch = WatchStream {
        store: server.store.clone(),
        kind: request.kind.clone(),
        filter,
        encoder,
        after: from.unwrap_or_else(|| server.store.version()),
        initial: VecDeque::new(),
        marks_initial: false,
        ready: VecDeque::new(),
        ends: now.checked_add(lasts).unwrap_or(now + LASTS),
        bookmark: None,
        done: false,
    };
    let as_list = options.send_initial_events == Some(true);
    // A watch that starts with the current objects gets the bookmark at their end, even if it did not request the list.
    if as_list || (from.is_none() && options.send_initial_events.is_none()) {
        let (version, items) = server.store.list(&request.kind.group_resource, Some(request.namespace));
        watch.after = version.max(from.unwrap_or(0));
        watch.initial = items.into();
        watch.marks_initial = options.bookmarks;
    }
    if options.bookmarks {
        watch.bookmark = Some(watch.next_bookmark(now));
    }
    let subscription = server.store.subscribe(&request.kind.group_resource);
    let pieces = stream::unfold((watch, subscription), async |(mut watch, mut subscription)| {
        let piece = watch.next(&mut subscription).await?;
        Some((piece, (watch, subscription)))
    });
    Ok(ApiResponse::stream(pieces))
}

impl WatchStream {
    async fn next(&mut self, subscription: &mut Subscription) -> Option<Bytes> {
        loop {
            // Waits until changes are in the file: a restart could lose earlier ones.
            if self.has_more() && !self.store.settled().await {
                return None;
            }
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if let Some(piece) = self.next_initial() {
                return Some(piece);
            }
            if self.done || Instant::now() >= self.ends {
                return None;
            }
            subscription.mark_unchanged();
            self.converted().await;
            if self.read() {
                continue;
            }
            let wake = self.bookmark.map_or(self.ends, |bookmark| bookmark.min(self.ends));
            tokio::select! {
                biased;
                changed = subscription.changed() => self.done = changed.is_err(),
                () = sleep_until(wake) => self.mark(),
            }
        }
    }

    fn has_more(&self) -> bool {
        self.marks_initial || !self.ready.is_empty() || !self.initial.is_empty()
    }

    /// Returns the next initial object as an ADDED event; a streaming list ends with a bookmark (KEP-3157).
    fn next_initial(&mut self) -> Option<Bytes> {
        while let Some(item) = self.initial.pop_front() {
            if self.filter.passes(&self.kind, &item) {
                return Some(self.event("ADDED", &item));
            }
        }
        std::mem::take(&mut self.marks_initial).then(|| self.bookmark_event(true))
    }

    /// Waits until webhooks have converted the next objects.
    async fn converted(&self) {
        let Some(custom) = self.kind.custom().filter(|_| self.kind.is_converted_by_webhook()) else { return };
        while Instant::now() < self.ends {
            // Subscribe before the check, so that no conversion is missed in between.
            let subscription = custom.converted.subscribe();
            // `read` reports an expired version.
            let Ok(changes) = self.store.some_changes(&self.kind.group_resource, self.after, AT_A_TIME) else { return };
            if !changes.iter().any(|change| self.kind.waits_for(&change.object)) {
                return;
            }
            tokio::select! {
                biased;
                () = subscription => {}
                () = sleep_until(self.ends) => {}
            }
        }
    }

    /// Reads new changes; returns whether there is more to do.
    fn read(&mut self) -> bool {
        match self.store.some_changes(&self.kind.group_resource, self.after, AT_A_TIME) {
            Ok(changes) => {
                for change in &changes {
                    if let Some(why) = self.kind.unconverted(&change.object) {
                        self.ready.push_back(line("ERROR", &Failure::internal(why).status()));
                        self.done = true;
                        return true;
                    }
                    self.after = change.version;
                    if let Some(event) = self.event_of(change) {
                        self.ready.push_back(event);
                    }
                }
                !changes.is_empty()
            }
            Err(_) => {
                let message = format!("too old resource version: {} ({})", self.after, self.store.version());
                self.ready.push_back(line("ERROR", &Failure::expired(message).status()));
                self.done = true;
                true
            }
        }
    }

    /// Returns the event of a change: DELETED if the object stops matching, ADDED if it starts to match.
    fn event_of(&mut self, change: &Change) -> Option<Bytes> {
        let was = change.before.as_ref().is_some_and(|before| self.filter.passes(&self.kind, before));
        let deleted = change.kind == ChangeKind::Deleted;
        let is = !deleted && self.filter.passes(&self.kind, &change.object);
        match (was, is) {
            (false, true) => Some(self.event("ADDED", &change.object)),
            (true, true) => Some(self.event("MODIFIED", &change.object)),
            (true, false) if deleted => Some(self.event("DELETED", &change.object)),
            // The last matching state, with the version of the change.
            (true, false) => {
                let mut last = change.before.as_ref()?.object(&self.kind);
                object::metadata_mut(&mut last).insert("resourceVersion".into(), change.version.to_string().into());
                Some(self.encode("DELETED", last))
            }
            (false, false) => None,
        }
    }

    fn event(&mut self, type_: &str, item: &Stored) -> Bytes {
        let EventEncoder::Whole { head } = &self.encoder else { return self.encode(type_, item.object(&self.kind)) };
        let text = item.text(&self.kind);
        let rest = text.get(1..).unwrap_or_default();
        let parts: [&[u8]; 6] = [b"{\"type\":\"", type_.as_bytes(), b"\",\"object\":{", head.as_bytes(), rest, b"}\n"];
        Bytes::from(parts.concat())
    }

    fn encode(&mut self, type_: &str, object: Value) -> Bytes {
        match &mut self.encoder {
            EventEncoder::Whole { .. } => line(type_, &object),
            EventEncoder::Metadata => line(type_, &metadata_of(&object)),
            EventEncoder::Table { printer, clock, began } => {
                let metadata = json!({"resourceVersion": object::version(&object).unwrap_or_default()});
                let with_columns = !std::mem::replace(began, true);
                let table = printer.table(&[object], &metadata, with_columns && type_ != "BOOKMARK", clock.now());
                line(type_, &table)
            }
        }
    }

    fn next_bookmark(&self, now: Instant) -> Instant {
        let last = self.ends.checked_sub(BEFORE_END).filter(|last| *last > now);
        let next = now + BOOKMARKS;
        last.map_or(next, |last| last.min(next))
    }

    fn mark(&mut self) {
        let now = Instant::now();
        if self.bookmark.is_none_or(|bookmark| bookmark > now) {
            return;
        }
        self.bookmark = Some(self.next_bookmark(now));
        // All changes up to the version of a bookmark are sent before it.
        let version = self.store.version();
        // A watch from a future version gets no bookmark.
        if !self.read() && self.after <= version {
            self.after = version;
            let bookmark = self.bookmark_event(false);
            self.ready.push_back(bookmark);
        }
    }

    fn bookmark_event(&mut self, ends_list: bool) -> Bytes {
        let kind = &self.kind;
        let mut object = json!({"metadata": {"resourceVersion": self.after.to_string()}});
        if ends_list {
            object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        // Decoding into the Go type adds fields that are never absent.
        if kind.custom().is_none() {
            schema::default(kind.schema(), &mut object);
            fill_required(kind.schema(), &mut object);
        }
        object["kind"] = kind.kind.clone().into();
        object["apiVersion"] = kind.api_version().into();
        self.encode("BOOKMARK", object)
    }
}

/// Writes null for required fields that Go can't omit.
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

fn line(type_: &str, object: &Value) -> Bytes {
    Bytes::from(format!("{{\"type\":{type_:?},\"object\":{object}}}\n"))
}
