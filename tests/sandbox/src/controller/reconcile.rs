//! Defines the trait `Controller` and runs its reconcile loop: change events add keys to a work queue, and the controller reconciles one
//! key after the other.

use std::{future::Future, sync::Arc};

use futures::future::select_all;
use tokio::time::{Instant, sleep_until};

use super::{
    client::{ApiError, ControllerClient},
    queue::Queue,
};
use crate::store::{ChangeKind, Expired, LifecycleChange, Store, Stored, Subscription};

/// The namespace and name of an object.
pub(crate) type ObjectKey = (String, String);

/// A controller: the events that it receives, and how it reconciles a key.
pub(crate) trait Controller: Send + 'static {
    /// The key of an item in the work queue.
    type Key: Ord + Clone + Send + std::fmt::Debug;

    /// Returns the events that the controller receives.
    fn sources(&self) -> EventSources;

    /// Returns the keys to reconcile before the first event.
    fn initial_keys(&self) -> Vec<Self::Key> {
        Vec::new()
    }

    /// Discards the state that the controller derived from events, because the history of changes is lost. Events of all existing objects
    /// follow; objects without an event no longer exist.
    fn reset(&mut self) {}

    /// Returns the keys to reconcile for an event.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<Self::Key>;

    /// Reconciles one key.
    fn reconcile(&mut self, client: &ControllerClient, key: &Self::Key)
    -> impl Future<Output = ReconcileResult> + Send;
}

/// The events that a controller receives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventSources {
    /// Events of some group resources.
    Resources(&'static [&'static str]),
    /// Events of some group resources, and of one more group resource only those of objects with one name.
    ResourcesAndName(&'static [&'static str], (&'static str, &'static str)),
    /// [Lifecycle](crate::store::Change::is_lifecycle) events of all kinds.
    Lifecycle,
}

/// The result of reconciling a key.
pub(crate) type ReconcileResult = Result<Action, ApiError>;

/// The action after a successful reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Waits for the next event.
    AwaitChange,
    /// Reconciles again at this time.
    RequeueAt(Instant),
}

/// A change of an object.
#[derive(Debug)]
pub(crate) struct ChangeEvent {
    /// The new state; for a deleted object, the last state.
    pub(crate) object: Arc<Stored>,
    /// The previous state; `None` for a created object, and for each object of an initial list.
    pub(crate) before: Option<Arc<Stored>>,
    /// Whether the object was deleted.
    pub(crate) deleted: bool,
}

/// Runs a controller forever: enqueues the keys of each event, and reconciles one key after the other. A failed key is
/// retried with a growing delay.
pub(crate) async fn run<C: Controller>(mut controller: C, client: ControllerClient) {
    let mut informer = Informer::new(&client.server.store, controller.sources());
    let mut queue = Queue::new();
    controller.initial_keys().into_iter().for_each(|key| queue.add(key));
    loop {
        for (group_resource, event) in informer.poll(&client.server.store, || controller.reset()) {
            controller.keys_for(&client, &group_resource, &event).into_iter().for_each(|key| queue.add(key));
        }
        let Some(key) = queue.next(Instant::now()) else {
            informer.wait(queue.next_due()).await;
            continue;
        };
        // Yields to other tasks, however long the queue is.
        tokio::task::consume_budget().await;
        match controller.reconcile(&client, &key).await {
            Ok(action) => {
                queue.forget(&key);
                if let Action::RequeueAt(at) = action {
                    queue.add_at(at, key);
                }
            }
            Err(refused) => {
                tracing::debug!(%refused, ?key, "tried again later");
                queue.add_rate_limited(Instant::now(), key);
            }
        }
    }
}

/// Returns the changes of the `wanted` group resources after a version, in order, and the version up to which they reach. A group resource
/// with a name includes only changes of the object with this name.
///
/// # Errors
/// If the history does not reach back to the version.
fn changes_of(
    store: &Store,
    version_seen: u64,
    wanted: impl Iterator<Item = (&'static str, Option<&'static str>)>,
) -> Result<(u64, Vec<LifecycleChange>), Expired> {
    let (version, mut changes) = (store.version(), Vec::new());
    for (group_resource, name) in wanted {
        let group_resource = Arc::<str>::from(group_resource);
        let new_changes =
            store.changes(&group_resource, version_seen)?.into_iter().filter(|change| change.version <= version);
        let matching = new_changes.filter(|change| name.is_none_or(|name| *change.object.name == *name));
        changes.extend(matching.map(|change| (group_resource.clone(), change)));
    }
    changes.sort_by_key(|(_, change)| change.version);
    Ok((version, changes))
}

/// Events with their group resources.
type Events = Vec<(Arc<str>, ChangeEvent)>;

/// Collects the events of a controller.
struct Informer {
    /// The events to collect.
    sources: EventSources,
    /// The version up to which events are collected; `None` at first.
    version_seen: Option<u64>,
    /// The subscriptions that wake the controller: one for each group resource, or one for all lifecycle events.
    subscriptions: Vec<Subscription>,
}

impl Informer {
    /// Returns an informer that is subscribed to the sources; its first poll returns events of all existing objects.
    fn new(store: &Store, sources: EventSources) -> Self {
        let subscriptions = match sources {
            EventSources::Resources(group_resources) => {
                group_resources.iter().map(|group_resource| store.subscribe(&Arc::from(*group_resource))).collect()
            }
            EventSources::ResourcesAndName(group_resources, (group_resource, name)) => {
                let whole_resources =
                    group_resources.iter().map(|group_resource| store.subscribe(&Arc::from(*group_resource)));
                whole_resources.chain([store.subscribe_name(&Arc::from(group_resource), name)]).collect()
            }
            EventSources::Lifecycle => vec![store.subscribe_lifecycle()],
        };
        Self { sources, version_seen: None, subscriptions }
    }

    /// Returns the events since the last call. The first call, and a call after the history of changes is lost, returns events of all
    /// existing objects instead, and calls `on_lost_history` before.
    fn poll(&mut self, store: &Store, on_lost_history: impl FnOnce()) -> Events {
        let mut has_changed = false;
        for subscription in &mut self.subscriptions {
            has_changed |= subscription.has_changed();
            subscription.mark_unchanged();
        }
        if self.version_seen.is_some() && !has_changed {
            return Vec::new();
        }
        let changes = self.version_seen.ok_or(Expired).and_then(|version_seen| self.changes(store, version_seen));
        let (version, events) = changes.unwrap_or_else(|Expired| {
            on_lost_history();
            self.list_all(store)
        });
        self.version_seen = Some(version);
        events
    }

    /// Returns the changes of the sources after a version as events, and the version up to which they reach.
    ///
    /// # Errors
    /// If the history does not reach back to the version.
    fn changes(&self, store: &Store, version_seen: u64) -> Result<(u64, Events), Expired> {
        let (version, changes) = match self.sources {
            EventSources::Lifecycle => store.lifecycle_changes(version_seen)?,
            EventSources::Resources(group_resources) => {
                changes_of(store, version_seen, group_resources.iter().map(|group_resource| (*group_resource, None)))?
            }
            EventSources::ResourcesAndName(group_resources, (group_resource, name)) => {
                let whole_resources = group_resources.iter().map(|group_resource| (*group_resource, None));
                changes_of(store, version_seen, whole_resources.chain([(group_resource, Some(name))]))?
            }
        };
        let events = changes.into_iter().map(|(group_resource, change)| {
            let (object, before) = (change.object.clone(), change.before.clone());
            (group_resource, ChangeEvent { object, before, deleted: change.kind == ChangeKind::Deleted })
        });
        Ok((version, events.collect()))
    }

    /// Returns an event for each existing object of the sources, and the version that the store had before they were listed.
    fn list_all(&self, store: &Store) -> (u64, Events) {
        // The next poll returns writes during the lists as changes, since the version is read first.
        let version = store.version();
        let group_resources = match self.sources {
            EventSources::Lifecycle => store.group_resources(),
            EventSources::Resources(group_resources) => {
                group_resources.iter().map(|group_resource| Arc::from(*group_resource)).collect()
            }
            EventSources::ResourcesAndName(group_resources, (group_resource, _)) => group_resources
                .iter()
                .chain([&group_resource])
                .map(|group_resource| Arc::from(*group_resource))
                .collect(),
        };
        let events = group_resources.into_iter().flat_map(|group_resource| {
            let (_, items) = store.list(&group_resource, None);
            items
                .into_iter()
                .map(move |object| (group_resource.clone(), ChangeEvent { object, before: None, deleted: false }))
        });
        (version, events.collect())
    }

    /// Waits until an object of the sources changes, or until `due` if it is set.
    async fn wait(&mut self, due: Option<Instant>) {
        let any_change = select_all(self.subscriptions.iter_mut().map(|subscription| Box::pin(subscription.changed())));
        match due {
            Some(due) => tokio::select! {
                biased;
                _ = any_change => {}
                () = sleep_until(due) => {}
            },
            None => drop(any_change.await),
        }
        // `Subscription::changed` has marked the change as seen, and `poll` returns nothing without a new change.
        self.subscriptions.iter_mut().for_each(Subscription::mark_changed);
    }
}
