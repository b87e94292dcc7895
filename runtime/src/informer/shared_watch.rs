//! Shares one list and one watch per kind between primaries, referenced objects, mapped objects and listers.
//!
//! A consumer that decodes objects as a Rust type needs them in the version of the type. All others read metadata and conditions,
//! which are the same in each version, and share the watch of any version. So a kind has several watches only if consumers decode
//! it in several versions.
//!
//! The handler of primaries is the last sink of a watch: when it enqueues a pass, the stores of the other sinks already have the
//! change. Children have a watch of their own, because it selects them by label; so have the primaries of a controller with
//! selectors.

use crate::{
    client::Client,
    informer::{
        fan_out::FanOut,
        namespaces::Namespaces,
        reflector::{self, Sink, WatchScope},
        watch::Health,
    },
    kind::Kind,
};
use parking_lot::Mutex;
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// A kind in one version: the identity of a shared watch.
type KindVersion = (Kind, Cow<'static, str>);

fn version_of(kind: &Kind) -> KindVersion {
    (kind.clone(), kind.version.clone())
}

/// The health of each shared watch. Handlers get it before the watch starts.
#[derive(Default)]
pub(crate) struct HealthRegistry {
    /// The kinds that consumers decode, in the versions of their types.
    decoded: Vec<Kind>,
    healths: Mutex<BTreeMap<KindVersion, Health>>,
}

impl HealthRegistry {
    /// Creates a registry for consumers that decode objects of these kinds, in the versions of their types.
    pub(crate) fn new(decoded: impl IntoIterator<Item = Kind>) -> Self {
        Self { decoded: decoded.into_iter().collect(), healths: Mutex::default() }
    }

    /// Returns the health of the watch that delivers objects of a kind in exactly its version. It is created if there is none.
    pub(crate) fn of_version(&self, kind: &Kind) -> Health {
        self.healths.lock().entry(version_of(kind)).or_insert_with(|| Health::new(kind.clone())).clone()
    }

    /// Returns the health of a watch of a kind, for a consumer that reads only metadata and conditions, which are the same in each API
    /// version. A watch that consumers with decoded objects need is preferred, first in the version of `kind`, then in another version.
    /// The health is created if there is none.
    pub(crate) fn of_any_version(&self, kind: &Kind) -> Health {
        // Kinds are equal whatever their versions are.
        let is_same_kind = |decoded: &&Kind| *decoded == kind;
        let same_version = self.decoded.iter().find(|decoded| decoded.is_same_version(kind));
        if let Some(decoded) = same_version.or_else(|| self.decoded.iter().find(is_same_kind)) {
            return self.of_version(decoded);
        }
        let known = self.healths.lock().values().find(|health| health.kind() == kind).cloned();
        known.unwrap_or_else(|| self.of_version(kind))
    }
}

/// The shared watches by kind and version.
#[derive(Default)]
pub(crate) struct SharedWatches(BTreeMap<KindVersion, SharedWatch>);

/// One watch and the sinks that share it.
#[derive(Default)]
pub(crate) struct SharedWatch {
    sinks: FanOut<'static>,
    /// Whether a sink needs whole objects and not only their metadata.
    needs_objects: bool,
}

impl SharedWatches {
    /// Adds a sink to the watch with this health.
    pub(crate) fn add(&mut self, health: &Health, sink: Arc<dyn Sink>, metadata_only: bool) {
        let watch = self.0.entry(version_of(health.kind())).or_default();
        watch.sinks.push(sink);
        watch.needs_objects |= !metadata_only;
    }

    /// Removes the watch of a kind in its version and returns its sinks, for the watch of the kind's primaries.
    pub(crate) fn take_sinks(&mut self, kind: &Kind) -> FanOut<'static> {
        self.0.remove(&version_of(kind)).unwrap_or_default().sinks
    }

    /// Returns each kind with its watch.
    pub(crate) fn into_watches(self) -> impl Iterator<Item = (Kind, SharedWatch)> {
        self.0.into_iter().map(|((kind, _), watch)| (kind, watch))
    }
}

impl SharedWatch {
    /// Runs the watch. It never returns.
    pub(crate) async fn run(&self, client: Client, kind: Kind, namespaces: Namespaces, health: Health) {
        let scope = WatchScope::all(&client, &namespaces);
        reflector::run(client.watch_client(!self.needs_objects), &kind, scope, &self.sinks, &health).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::autoscaling::{v1, v2};

    #[test]
    fn only_consumers_that_decode_a_kind_in_two_versions_have_two_watches() {
        let (old, new) = (kind_of::<v1::HorizontalPodAutoscaler>(), kind_of::<v2::HorizontalPodAutoscaler>());
        let same = |one: Health, other: Health| one.is_same(&other);

        let none = HealthRegistry::default();
        assert!(same(none.of_any_version(&old), none.of_any_version(&new)));

        let one = HealthRegistry::new([new.clone()]);
        assert!(same(one.of_any_version(&old), one.of_version(&new)));
        assert_eq!(one.of_any_version(&old).kind().version, "v2");

        let both = HealthRegistry::new([new.clone(), old.clone()]);
        assert!(!same(both.of_version(&old), both.of_version(&new)));
        assert!(same(both.of_any_version(&old), both.of_version(&old)));
        assert!(same(both.of_any_version(&new), both.of_version(&new)));
    }

    #[test]
    fn a_sink_is_added_to_the_watch_of_its_health() {
        struct Nothing;
        impl Sink for Nothing {
            fn begin_list(&self) {}
            fn apply(&self, _: &[u8], _: bool) {}
            fn delete(&self, _: &[u8]) {}
            fn finish_list(&self) {}
        }
        let (old, new) = (kind_of::<v1::HorizontalPodAutoscaler>(), kind_of::<v2::HorizontalPodAutoscaler>());
        let healths = HealthRegistry::new([new.clone()]);
        let mut watches = SharedWatches::default();
        watches.add(&healths.of_any_version(&old), Arc::new(Nothing), true);
        watches.add(&healths.of_version(&new), Arc::new(Nothing), false);
        assert!(watches.take_sinks(&old).is_empty());
        let all: Vec<_> =
            watches.into_watches().map(|(kind, watch)| (kind.api_version(), watch.needs_objects)).collect();
        assert_eq!(all, [("autoscaling/v2".to_owned(), true)]);
    }
}
