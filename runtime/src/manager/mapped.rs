//! The watches of kinds that a controller follows by a function.

use crate::{
    cache::{Change, Header, ObjectKey},
    client::Client,
    controller::{mapped::Mapped, running::Running},
    source::kubernetes::feed::{self, Scope, Sink},
    watch::Watched,
};
use std::sync::Arc;

/// One of a controller's; what is kept of each object is whom it concerns.
pub(crate) struct Follows {
    mapped: Mapped,
    pub(crate) watched: Watched<Vec<ObjectKey>>,
    controller: Arc<Running>,
}

impl Follows {
    /// All of a controller's.
    pub(crate) fn of(controller: &Arc<Running>) -> impl Iterator<Item = Arc<Self>> {
        let of_one = |mapped: &Mapped| {
            let watched = Watched::new(mapped.kind().clone(), false);
            Arc::new(Self { mapped: mapped.clone(), watched, controller: controller.clone() })
        };
        controller.settings().mapped.iter().map(of_one)
    }

    /// Follows the kind, for ever.
    pub(crate) async fn run(self: Arc<Self>, client: Client, namespace: Option<String>) {
        let scope = Scope { namespace: namespace.as_deref(), labels: None };
        feed::follow(client.kube(), &self.watched.kind, scope, &*self, &self.watched.health).await;
    }

    /// Whom it concerned before is told, too: it may be the end of that which concerned them.
    fn tell(&self, change: &Change<Vec<ObjectKey>>) {
        let namespaced = self.controller.inner.source.kind().namespaced;
        let entries = [change.old(), change.new_entry()].into_iter().flatten();
        for key in entries.flat_map(|entry| &entry.value) {
            let key = if namespaced { key.clone() } else { ObjectKey::cluster(key.name()) };
            self.controller.wake(key);
        }
    }
}

impl Sink for Follows {
    fn begin(&self) {
        self.watched.store.begin_replace();
    }

    fn apply(&self, json: &[u8], _listing: bool) {
        let kind = &self.watched.kind;
        let Ok(header) = Header::parse(json) else {
            return tracing::error!(%kind, "an object has no readable metadata");
        };
        let keys = self.mapped.keys(json).unwrap_or_else(|error| {
            tracing::error!(%kind, object = %header.key, %error, "an object could not be read, and wakes nobody");
            Vec::new()
        });
        self.tell(&self.watched.store.apply(header, || keys));
    }

    fn delete(&self, json: &[u8]) {
        if let Ok(header) = Header::parse(json) {
            self.tell(&self.watched.store.delete(&header));
        }
    }

    fn finish(&self) {
        for old in self.watched.store.finish_replace() {
            self.tell(&Change::Deleted { old });
        }
    }
}
