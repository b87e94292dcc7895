//! One watch a kind: whatever looks at all objects of a kind, be it as primaries, as what is named, or as what is followed,
//! is fed by the same list and the same watch.
//!
//! Primaries come last: when one wakes a pass, everybody else knows of the change already. What a tree makes is selected by a
//! label, and so has a watch of its own; so have primaries of which only some are meant.

use crate::{
    client::Client,
    informer::{
        fan_out::Sinks,
        reflector::{self, Sink, WatchScope},
        watch::Health,
    },
    kind::Kind,
};
use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc};

/// The health of the watch of each kind, known before it begins.
#[derive(Default)]
pub(crate) struct Healths(Mutex<BTreeMap<Kind, Health>>);

impl Healths {
    pub(crate) fn of(&self, kind: &Kind) -> Health {
        self.0.lock().entry(kind.clone()).or_insert_with(|| Health::new(kind.clone())).clone()
    }
}

/// What is fed by the watch of each kind.
#[derive(Default)]
pub(crate) struct Feeds(BTreeMap<Kind, Feed>);

/// What is fed by one watch.
#[derive(Default)]
pub(crate) struct Feed {
    sinks: Sinks<'static>,
    /// Whether one of them looks at more than metadata.
    whole: bool,
}

impl Feeds {
    pub(crate) fn add(&mut self, kind: &Kind, sink: Arc<dyn Sink>, metadata_only: bool) {
        let feed = self.0.entry(kind.clone()).or_default();
        feed.sinks.push(sink);
        feed.whole |= !metadata_only;
    }

    /// Takes out what another watch of the kind feeds.
    pub(crate) fn take(&mut self, kind: &Kind) -> Sinks<'static> {
        self.0.remove(kind).unwrap_or_default().sinks
    }

    /// Those that need a watch.
    pub(crate) fn rest(self) -> impl Iterator<Item = (Kind, Feed)> {
        self.0.into_iter()
    }
}

impl Feed {
    /// Follows the kind, for ever.
    pub(crate) async fn run(&self, client: Client, kind: Kind, namespace: Option<String>, health: Health) {
        let scope = WatchScope::all(&client, namespace.as_deref());
        reflector::follow(client.to_watch(!self.whole), &kind, scope, &self.sinks, &health).await;
    }
}
