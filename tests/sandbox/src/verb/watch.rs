//! `watch`: from a version on, or from what is there.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::stream;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::{filter::Filter, list_options, read::metadata_of};
use crate::{
    answer::Answer,
    call::Form,
    discovery::print::Printer,
    environment::Clock,
    failure::Failure,
    kind::Kind,
    object,
    schema::{self, Schema},
    store::{Change, ChangeKind, News, Store, Stored},
    verb::Asked,
};

/// How long a watch lasts that says nothing of it.
const LASTS: Duration = Duration::from_secs(30 * 60);

/// How often a bookmark comes, and how long before the end the last one.
const BOOKMARKS: Duration = Duration::from_secs(60);
const BEFORE_END: Duration = Duration::from_secs(2);

/// How many changes are made ready at a time: a slow reader holds no more.
const AT_A_TIME: usize = 512;

/// A watch on its way.
struct Watch {
    store: Arc<Store>,
    kind: Arc<Kind>,
    filter: Filter,
    shown: Shown,
    after: u64,
    /// What was there when it began, and is still to be told.
    initial: VecDeque<Arc<Stored>>,
    /// Whether a bookmark says that all is told that was there.
    marks_initial: bool,
    ready: VecDeque<Bytes>,
    ends: Instant,
    bookmark: Option<Instant>,
    done: bool,
}

/// In which form objects are told.
enum Shown {
    /// Their text as it is kept, behind `{"type":"…","object":{…`.
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

pub(super) fn watch(asked: Asked<'_>) -> Result<Answer, Failure> {
    let (options, server) = (&asked.call.options, asked.server);
    list_options::check(options, asked.call.verb)?;
    let from = list_options::version(options, asked.call.verb)?.filter(|version| *version > 0);
    let filter = Filter::of(asked)?;
    let shown = match asked.call.accept.form() {
        Form::Table => Shown::Table { printer: Printer::of(asked)?, clock: server.environment.clock(), began: false },
        Form::Metadata | Form::MetadataList => Shown::Metadata,
        Form::Foreign | Form::Shapeless | Form::Yaml => return Err(Failure::no_such_form()),
        Form::Json | Form::Discovery => {
            let kind = asked.kind;
            Shown::Whole { head: format!("\"kind\":{:?},\"apiVersion\":{:?},", kind.kind, kind.api_version()) }
        }
    };
    let lasts = options.timeout_seconds.filter(|seconds| *seconds > 0).map_or(LASTS, Duration::from_secs);
    let now = Instant::now();
    let mut watch = Watch {
        store: server.store.clone(),
        kind: asked.kind.clone(),
        filter,
        shown,
        after: from.unwrap_or_else(|| server.store.version()),
        initial: VecDeque::new(),
        marks_initial: false,
        ready: VecDeque::new(),
        ends: now.checked_add(lasts).unwrap_or(now + LASTS),
        bookmark: None,
        done: false,
    };
    let as_list = options.send_initial_events == Some(true);
    // Whoever begins with what is there is told where that ends, even if it was not asked for as a list.
    if as_list || (from.is_none() && options.send_initial_events.is_none()) {
        let (version, items) = server.store.list(&asked.kind.shelf, Some(asked.namespace));
        watch.after = version.max(from.unwrap_or(0));
        watch.initial = items.into();
        watch.marks_initial = options.bookmarks;
    }
    if options.bookmarks {
        watch.bookmark = Some(watch.next_bookmark(now));
    }
    let news = server.store.news(&asked.kind.shelf);
    let pieces = stream::unfold((watch, news), async |(mut watch, mut news)| {
        let piece = watch.next(&mut news).await?;
        Some((piece, (watch, news)))
    });
    Ok(Answer::stream(pieces))
}

impl Watch {
    async fn next(&mut self, news: &mut News) -> Option<Bytes> {
        loop {
            // Nobody is told of what may be gone after a restart.
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
            news.mark_unchanged();
            self.converted().await;
            if self.read() {
                continue;
            }
            let wake = self.bookmark.map_or(self.ends, |bookmark| bookmark.min(self.ends));
            tokio::select! {
                biased;
                changed = news.changed() => self.done = changed.is_err(),
                () = sleep_until(wake) => self.mark(),
            }
        }
    }

    fn has_more(&self) -> bool {
        self.marks_initial || !self.ready.is_empty() || !self.initial.is_empty()
    }

    /// What is there, each as an ADDED; a streaming list ends with a bookmark that says so (KEP-3157).
    fn next_initial(&mut self) -> Option<Bytes> {
        while let Some(item) = self.initial.pop_front() {
            if self.filter.passes(&self.kind, &item) {
                return Some(self.event("ADDED", &item));
            }
        }
        std::mem::take(&mut self.marks_initial).then(|| self.bookmark_event(true))
    }

    /// Waits until webhooks have converted what comes next.
    async fn converted(&self) {
        let Some(custom) = self.kind.custom().filter(|_| self.kind.is_converted_by_webhook()) else { return };
        while Instant::now() < self.ends {
            // From before the look on, so that nothing is missed in between.
            let news = custom.converted.news();
            // What is too old to be told is told when it is read.
            let Ok(changes) = self.store.some_changes(&self.kind.shelf, self.after, AT_A_TIME) else { return };
            if !changes.iter().any(|change| self.kind.waits_for(&change.object)) {
                return;
            }
            tokio::select! {
                biased;
                () = news => {}
                () = sleep_until(self.ends) => {}
            }
        }
    }

    /// Reads what has happened since; whether there is more to do.
    fn read(&mut self) -> bool {
        match self.store.some_changes(&self.kind.shelf, self.after, AT_A_TIME) {
            Ok(changes) => {
                for change in &changes {
                    if let Some(why) = self.kind.unconverted(&change.object) {
                        self.ready.push_back(line("ERROR", &Failure::internal(why).status()));
                        self.done = true;
                        return true;
                    }
                    self.after = change.version;
                    if let Some(event) = self.told(change) {
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

    /// A change as this watch sees it: what leaves the selection is deleted, what enters it is added.
    fn told(&mut self, change: &Change) -> Option<Bytes> {
        let was = change.before.as_ref().is_some_and(|before| self.filter.passes(&self.kind, before));
        let deleted = change.kind == ChangeKind::Deleted;
        let is = !deleted && self.filter.passes(&self.kind, &change.object);
        match (was, is) {
            (false, true) => Some(self.event("ADDED", &change.object)),
            (true, true) => Some(self.event("MODIFIED", &change.object)),
            (true, false) if deleted => Some(self.event("DELETED", &change.object)),
            // The last state that was selected, under the version in which it left.
            (true, false) => {
                let mut last = change.before.as_ref()?.object(&self.kind);
                object::metadata_mut(&mut last).insert("resourceVersion".into(), change.version.to_string().into());
                Some(self.shown("DELETED", last))
            }
            (false, false) => None,
        }
    }

    fn event(&mut self, type_: &str, item: &Stored) -> Bytes {
        let Shown::Whole { head } = &self.shown else { return self.shown(type_, item.object(&self.kind)) };
        let text = item.text(&self.kind);
        let rest = text.get(1..).unwrap_or_default();
        let parts: [&[u8]; 6] = [b"{\"type\":\"", type_.as_bytes(), b"\",\"object\":{", head.as_bytes(), rest, b"}\n"];
        Bytes::from(parts.concat())
    }

    fn shown(&mut self, type_: &str, object: Value) -> Bytes {
        match &mut self.shown {
            Shown::Whole { .. } => line(type_, &object),
            Shown::Metadata => line(type_, &metadata_of(&object)),
            Shown::Table { printer, clock, began } => {
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
        // Everything up to the version that the bookmark names is told before it.
        let version = self.store.version();
        // Of a watch from a version that is still to come there is nothing to say.
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
        // A kind of the table comes with the parts that are never absent.
        if kind.custom().is_none() {
            schema::default(kind.schema(), &mut object);
            fill_required(kind.schema(), &mut object);
        }
        object["kind"] = kind.kind.clone().into();
        object["apiVersion"] = kind.api_version().into();
        self.shown("BOOKMARK", object)
    }
}

/// Writes null for what Go can't leave out of a value that has nothing.
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
