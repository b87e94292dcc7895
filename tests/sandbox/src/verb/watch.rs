//! `watch`: from a version on, or from what is there.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::stream;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::read::{head, metadata_of};
use crate::{
    answer::Answer,
    call::{
        Form,
        selector::{FieldSelector, LabelSelector},
    },
    failure::Failure,
    kind::Kind,
    object,
    store::{Change, ChangeKind, Stored},
    verb::Asked,
};

/// How long a watch lasts that says nothing of it.
const LASTS: Duration = Duration::from_secs(30 * 60);

/// How often a bookmark comes.
const BOOKMARKS: Duration = Duration::from_secs(60);

/// Which objects are asked for.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    name: String,
    namespace: String,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Filter {
    pub(super) fn of(asked: Asked<'_>) -> Result<Self, Failure> {
        let options = &asked.call.options;
        let fields = FieldSelector::of(&options.field_selector)?;
        let selectable = |field: &str| crate::discovery::selectable(asked.kind, field);
        if let Some(stranger) = fields.0.iter().find(|requirement| !selectable(&requirement.field)) {
            let why = format!("field label not supported: {}", stranger.field);
            return Err(Failure::bad_request(why));
        }
        Ok(Self {
            name: asked.name.to_owned(),
            namespace: asked.namespace.to_owned(),
            labels: LabelSelector::of(&options.label_selector)?,
            fields,
        })
    }

    /// Whether nothing is filtered but the namespace.
    pub(super) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(super) fn passes(&self, kind: &Kind, item: &Stored) -> bool {
        let placed = self.namespace.is_empty() || *item.namespace == *self.namespace;
        let named = self.name.is_empty() || *item.name == *self.name;
        placed && named && self.labels.matches(|key| item.label(key)) && self.fields_match(kind, item)
    }

    fn fields_match(&self, kind: &Kind, item: &Stored) -> bool {
        if self.fields.is_empty() {
            return true;
        }
        let mut read = None;
        let object = &mut read;
        let parse = || item.object(kind);
        self.fields.0.iter().all(|wanted| {
            let value = match wanted.field.as_str() {
                "metadata.name" => item.name.to_string(),
                "metadata.namespace" => item.namespace.to_string(),
                field => plain(object.get_or_insert_with(parse), field),
            };
            (value == wanted.value) == wanted.equal
        })
    }
}

/// A field as a selector compares it.
fn plain(object: &Value, field: &str) -> String {
    let path: Vec<&str> = field.split('.').collect();
    match object::at(object, &path) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// A watch on its way.
struct Watch {
    server: Arc<WatchSource>,
    filter: Filter,
    form: Form,
    after: u64,
    ready: VecDeque<Bytes>,
    ends: Instant,
    bookmark: Option<Instant>,
    done: bool,
}

/// What a watch reads from, for as long as it lasts.
struct WatchSource {
    store: Arc<crate::store::Store>,
    kind: Arc<Kind>,
}

pub(super) fn watch(asked: Asked<'_>) -> Result<Answer, Failure> {
    let (options, server) = (&asked.call.options, asked.server);
    let filter = Filter::of(asked)?;
    let from: Option<u64> = match options.resource_version.as_str() {
        "" | "0" => None,
        written => Some(written.parse().map_err(|_| bad_version(written))?),
    };
    let initial =
        options.send_initial_events == Some(true) || (from.is_none() && options.send_initial_events.is_none());
    let lasts = options.timeout_seconds.filter(|seconds| *seconds > 0).map_or(LASTS, Duration::from_secs);
    let now = Instant::now();
    let mut watch = Watch {
        server: Arc::new(WatchSource { store: server.store.clone(), kind: asked.kind.clone() }),
        filter,
        form: asked.call.accept.form(),
        after: from.unwrap_or_else(|| server.store.version()),
        ready: VecDeque::new(),
        ends: now + lasts,
        bookmark: options.bookmarks.then(|| now + BOOKMARKS),
        done: false,
    };
    if initial {
        watch.start_with_all(options.send_initial_events == Some(true) && options.bookmarks);
    }
    let news = server.store.news(&asked.kind.shelf);
    let pieces = stream::unfold((watch, news), async |(mut watch, mut news)| {
        let piece = watch.next(&mut news).await?;
        Some((piece, (watch, news)))
    });
    Ok(Answer::stream(pieces))
}

fn bad_version(written: &str) -> Failure {
    Failure::bad_request(format!("invalid resource version: {written:?}: it is no number"))
}

impl Watch {
    /// What is there, each as an ADDED; a streaming list ends with a bookmark that says so (KEP-3157).
    fn start_with_all(&mut self, as_list: bool) {
        let (version, items) = self.server.store.list(&self.server.kind.shelf, Some(&self.filter.namespace));
        let kind = self.server.kind.clone();
        let wanted: Vec<_> = items.into_iter().filter(|item| self.filter.passes(&kind, item)).collect();
        for item in wanted {
            let event = self.event("ADDED", &item);
            self.ready.push_back(event);
        }
        self.after = version;
        if as_list {
            let bookmark = self.bookmark_event(true);
            self.ready.push_back(bookmark);
        }
    }

    async fn next(&mut self, news: &mut tokio::sync::watch::Receiver<u64>) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if self.done || Instant::now() >= self.ends {
                return None;
            }
            news.borrow_and_update();
            self.read();
            if !self.ready.is_empty() {
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

    /// Reads what has happened since.
    fn read(&mut self) {
        match self.server.store.changes(&self.server.kind.shelf, self.after) {
            Ok(changes) => {
                for change in changes {
                    self.after = change.version;
                    if let Some(event) = self.told(&change) {
                        self.ready.push_back(event);
                    }
                }
            }
            Err(_) => {
                let failure = Failure::expired(format!("too old resource version: {}", self.after));
                self.ready.push_back(line(&json!({"type": "ERROR", "object": failure.status()})));
                self.done = true;
            }
        }
    }

    /// A change as this watch sees it: what leaves the selection is deleted, what enters it is added.
    fn told(&self, change: &Change) -> Option<Bytes> {
        let kind = &self.server.kind;
        let passes = |item: &Arc<Stored>| self.filter.passes(kind, item);
        let was = change.before.as_ref().is_some_and(passes);
        let is = change.kind != ChangeKind::Deleted && passes(&change.object);
        match (was, is) {
            (false, true) => Some(self.event("ADDED", &change.object)),
            (true, true) => Some(self.event("MODIFIED", &change.object)),
            (true, false) if change.kind == ChangeKind::Deleted => Some(self.event("DELETED", &change.object)),
            // The last state that was selected, under the version in which it left.
            (true, false) => {
                let mut last = change.before.as_ref()?.object(kind);
                object::metadata_mut(&mut last).insert("resourceVersion".into(), change.version.to_string().into());
                Some(line(&json!({"type": "DELETED", "object": self.shown(last)})))
            }
            (false, false) => None,
        }
    }

    fn event(&self, type_: &str, item: &Stored) -> Bytes {
        if self.form != Form::Json {
            return line(&json!({"type": type_, "object": self.shown(item.object(&self.server.kind))}));
        }
        let head = head(&self.server.kind);
        let text = item.text(&self.server.kind);
        let parts: [&[u8]; 6] =
            [b"{\"type\":\"", type_.as_bytes(), b"\",\"object\":", &head, text.get(1..).unwrap_or_default(), b"}\n"];
        Bytes::from(parts.concat())
    }

    fn shown(&self, object: Value) -> Value {
        match self.form {
            Form::Metadata | Form::MetadataList => metadata_of(&object),
            _ => object,
        }
    }

    fn mark(&mut self) {
        let now = Instant::now();
        if self.bookmark.is_some_and(|bookmark| bookmark <= now) {
            self.bookmark = Some(now + BOOKMARKS);
            // Everything up to the version that the bookmark names is told before it.
            let version = self.server.store.version();
            self.read();
            self.after = self.after.max(version);
            let bookmark = self.bookmark_event(false);
            self.ready.push_back(bookmark);
        }
    }

    fn bookmark_event(&self, ends_list: bool) -> Bytes {
        let kind = &self.server.kind;
        let mut object = json!({"kind": kind.kind, "apiVersion": kind.api_version(), "metadata": {"resourceVersion": self.after.to_string(), "creationTimestamp": null}});
        if ends_list {
            object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        line(&json!({"type": "BOOKMARK", "object": object}))
    }
}

fn line(event: &Value) -> Bytes {
    Bytes::from(format!("{event}\n"))
}
