//! `Wiring`: the controllers of an operator with their caches, watches and event handlers. Creates these parts, and spawns their tasks.

use crate::{
    client::Client,
    controller::{Settings, lister_source::ReadLister, worker::RunningController},
    counters::Counters,
    engine::{
        causal_chain::CausalChains,
        child::Child,
        controller_state::{ControllerFacts, ControllerState, RemoteClusters},
    },
    event::EventRecorder,
    garbage::orphans::{OrphanCollector, OrphanRequests, OrphanSearch},
    informer::{
        child::{self, ChildEvent, OwnerRef},
        child_store::ChildStores,
        event_handler::EventHandler,
        mapped::MappedHandler,
        namespaces::Namespaces,
        primary::KubernetesSource,
        projection::ListerHandler,
        reference,
        shared_watch::{HealthRegistry, SharedWatches},
        source::{Selection, Source},
        watch::{Health, WatchedKind, WatchedRevisions},
    },
    kind::Kind,
    manager::{health::HasHealth, informers::Informers, observed::ObservedOperator, operator::Operator},
    reconcile::control_loop::{Loop, LoopOptions},
    reference::Targets,
    scope::{ClusterConnector, ClusterEvents, ConnectedClusters},
    shard::gate::Shards,
    tasks::{OnEnd, Tasks},
};
use futures::{FutureExt, future::BoxFuture};
use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};
use tokio::sync::{Mutex, mpsc};

impl Operator {
    /// Creates the controllers of the operator with their caches, their sources (the watches of primaries) and their event handlers.
    /// Nothing runs yet, except the task that writes Kubernetes events. `connector` creates clients for other clusters.
    pub(crate) fn wire(
        &self,
        client: Client,
        (operator_namespace, namespaces): (String, Namespaces),
        informers: &mut Informers,
        tasks: &mut Tasks,
        (shards, connector): (Option<&Shards>, &ClusterConnector),
    ) -> Wiring {
        let (orphan_requests, searches) = OrphanRequests::new();
        let trees: Vec<_> = self.factories.iter().map(|factory| factory.shape()).collect();
        let children = ChildStores::new(&trees);
        let healths = informers.healths.clone();
        let targets = reference::stores(&self.factories, &healths);
        let (recorder, writer) =
            EventRecorder::new(client.clone(), self.environment.clone(), (&self.name, &operator_namespace));
        tasks.spawn("event writer", None, OnEnd::Finish, once(writer));
        let connector = connector.allow(&self.exec_plugins, &self.environment);
        let chains = Arc::<CausalChains>::default();
        self.factories.iter().for_each(|factory| chains.traces.add_kind(&factory.kind()));
        let controllers = self.factories.iter().map(|factory| {
            let name = informers.next_controller_name();
            let settings = self.settings_of(factory.as_ref());
            let facts = ControllerFacts {
                operator: self.name.clone(),
                namespace: operator_namespace.clone(),
                environment: self.environment.clone(),
                recorder: if settings.events { recorder.clone() } else { EventRecorder::disabled() },
                counters: self.counters.clone(),
                metrics: self.metrics.controller(&name, settings.workers),
            };
            // `None` for a tree without nodes in other clusters.
            let clusters = ConnectedClusters::of_tree(factory.shape(), &facts, &connector, &namespaces);
            let state = ControllerState {
                namespaces: namespaces.clone(),
                children: children.of_tree(factory.shape()),
                targets: stores_of_kinds(&targets, &factory.references()),
                graph: targets.clone(),
                chains: chains.clone(),
                shards: shards.cloned(),
                remote_clusters: clusters.clone().map(|clusters| clusters as Arc<dyn RemoteClusters>),
                ..ControllerState::new(client.clone(), facts)
            };
            let selection = settings.selection.clone();
            let kind = factory.kind();
            let source = informers.source(&self.name, &kind, &selection, || {
                let (namespaces, health) = (namespaces.clone(), healths.of_version(&kind));
                let (kind, selection) = (kind.clone(), selection.clone());
                let is_all = selection.is_all();
                let source = KubernetesSource::new(client.clone(), kind, &self.name, namespaces, selection);
                let source = source.with_shards(shards.cloned());
                // A source with a selector has a watch of its own, and so a health of its own.
                if is_all { source.with_health(health) } else { source }
            });
            let reconciler = factory.reconciler(source.objects().codec()).0;
            let options = loop_options(factory.finalizer(), selection, &settings);
            let control_loop = Loop::new(Arc::new(state), source, reconciler, options);
            let controller = Arc::new(RunningController::new(control_loop, settings, &self.environment));
            if let Some(clusters) = clusters {
                clusters.set_events(Arc::downgrade(&controller) as Weak<dyn ClusterEvents>);
            }
            controller
        });
        let controllers: Vec<_> = controllers.collect();
        let (mapped_handlers, lister_handlers) = create_handlers(&controllers, &healths);
        Wiring {
            client,
            operator: self.name.clone(),
            counters: self.counters.clone(),
            namespaces,
            children,
            targets,
            mapped_handlers,
            lister_handlers,
            controllers,
            orphan_requests,
            searches: Arc::new(Mutex::new(searches)),
            recorder,
            shards: shards.cloned(),
        }
    }
}

fn loop_options(finalizer: String, selection: Selection, settings: &Settings) -> LoopOptions {
    let (predicate, condition_prefix) = (settings.predicate.clone(), settings.condition_prefix.clone());
    LoopOptions { finalizer, selection, predicate, condition_prefix }
}

/// Returns the stores of these kinds.
fn stores_of_kinds<V>(stores: &BTreeMap<Kind, Arc<V>>, kinds: &[Kind]) -> BTreeMap<Kind, Arc<V>> {
    let selected = stores.iter().filter(|(kind, _)| kinds.contains(kind));
    selected.map(|(kind, store)| (kind.clone(), store.clone())).collect()
}

/// Creates the handlers of mapped kinds and of listers. Sets the watches of each controller, and registers in `CausalChains` the kinds
/// whose changes enqueue primaries that are not their owners. `CausalChains` detects passes that trigger each other without end.
fn create_handlers(
    controllers: &[Arc<RunningController>],
    healths: &HealthRegistry,
) -> (Vec<Arc<MappedHandler>>, Vec<Arc<ListerHandler>>) {
    let mapped: Vec<_> = controllers.iter().flat_map(|controller| MappedHandler::all_of(controller, healths)).collect();
    let listers: Vec<_> =
        controllers.iter().flat_map(|controller| ListerHandler::all_of(controller, healths)).collect();
    for controller in controllers {
        let shared = &controller.control_loop.shared;
        mapped.iter().for_each(|handler| shared.chains.add_related_kind(handler.kind()));
        listers.iter().for_each(|handler| shared.chains.add_related_kind(handler.kind()));
        shared.targets.keys().for_each(|kind| shared.chains.add_related_kind(kind));
        shared.watches.get_or_init(|| watches_of(controller, &mapped, &listers));
    }
    (mapped, listers)
}

/// Returns all watches whose events enqueue primaries of a controller.
fn watches_of(
    controller: &Arc<RunningController>,
    mapped_handlers: &[Arc<MappedHandler>],
    lister_handlers: &[Arc<ListerHandler>],
) -> Vec<Arc<dyn WatchedRevisions>> {
    let Loop { shared, source, .. } = &controller.control_loop;
    let mut watches: Vec<Arc<dyn WatchedRevisions>> = vec![Arc::new(source.clone())];
    for children in shared.children.values() {
        watches.push(children.clone());
    }
    for targets in shared.targets.values() {
        watches.push(targets.watched.clone());
    }
    for handler in mapped_handlers.iter().filter(|handler| Arc::ptr_eq(&handler.controller, controller)) {
        watches.push(handler.watched.clone());
    }
    for handler in lister_handlers.iter().filter(|handler| Arc::ptr_eq(&handler.controller, controller)) {
        watches.push(handler.watched.clone());
    }
    watches
}

/// All controllers, sources and event handlers of an operator, wired together.
pub(crate) struct Wiring {
    client: Client,
    operator: String,
    counters: Counters,
    namespaces: Namespaces,
    children: ChildStores,
    targets: BTreeMap<Kind, Arc<Targets>>,
    mapped_handlers: Vec<Arc<MappedHandler>>,
    lister_handlers: Vec<Arc<ListerHandler>>,
    pub(crate) controllers: Vec<Arc<RunningController>>,
    pub(crate) orphan_requests: OrphanRequests,
    /// The requested searches, for the collector.
    searches: Arc<Mutex<mpsc::UnboundedReceiver<OrphanSearch>>>,
    pub(crate) recorder: EventRecorder,
    /// The shards of this replica; `None` if it reconciles all objects.
    shards: Option<Shards>,
}

impl Wiring {
    /// Spawns a task for each channel of the controllers, which enqueues the primaries that user code pushes into the channel.
    pub(super) fn spawn_channels(&self, tasks: &mut Tasks) {
        for controller in &self.controllers {
            for receiver in &controller.settings().channels {
                let (controller, receiver) = (controller.clone(), receiver.clone());
                let name = format!("channel of {}", controller.control_loop.source.kind());
                tasks.spawn(name, None, OnEnd::Restart, move || {
                    controller.clone().run_channel(receiver.clone()).boxed()
                });
            }
        }
    }

    /// Spawns the tasks of the watches of children. Other operators don't share these watches, which select by the label of this operator.
    /// Also spawns the tasks that request a collection of orphans when a watch of referenced objects recovers.
    pub(super) fn spawn_child_informers(&self, tasks: &mut Tasks) {
        for children in self.children.iter() {
            self.spawn_child_informer(children, tasks);
        }
        for targets in self.targets.values() {
            self.collect_orphans_on_recovery(&targets.watched.health, tasks);
        }
    }

    /// Spawns the tasks of a kind of children: the informer, which selects them by the operator's label, the retry of primaries
    /// when the kind becomes available or unavailable, and the collection of orphans after a recovery.
    fn spawn_child_informer(&self, children: &Arc<WatchedKind<Child>>, tasks: &mut Tasks) {
        self.collect_orphans_on_recovery(&children.health, tasks);
        let (kind, watched, controllers) = (&children.kind, children.clone(), self.controllers.clone());
        tasks.spawn(format!("retries for {kind}"), None, OnEnd::Finish, move || {
            retry_when_available(watched.clone(), controllers.clone()).boxed()
        });
        let (client, operator, namespaces) = (self.client.clone(), self.operator.clone(), self.namespaces.clone());
        // A controller that reads the kind in another version gets its events from the cache of that version.
        let uses_cache = |controller: &&Arc<RunningController>| {
            let own = controller.control_loop.shared.children.get(kind);
            own.is_none_or(|own| Arc::ptr_eq(own, children))
        };
        let watched = children.clone();
        let controllers: Arc<[_]> = self.controllers.iter().filter(uses_cache).cloned().collect();
        // `false`: the API server can select by the uid of a child only, and not by that of its owner, which decides about the shard.
        let shards = self.shards.clone().map(|shards| (shards.clone(), shards.add_watch(&children.health, false)));
        let name = format!("informer of {kind} with the operator's label");
        tasks.spawn(name, Some(children.health.clone()), OnEnd::Restart, move || {
            let (client, operator, namespaces) = (client.clone(), operator.clone(), namespaces.clone());
            let (watched, controllers, shards) = (watched.clone(), controllers.clone(), shards.clone());
            let run = async move {
                let on_owner = |owner: &OwnerRef, event: &ChildEvent<'_>| {
                    controllers.iter().for_each(|controller| controller.on_child_change(&watched.kind, owner, event));
                };
                child::run(&client, &watched, &operator, &namespaces, &on_owner, shards.as_ref()).await;
            };
            run.boxed()
        });
    }

    /// Spawns a task that requests a collection of orphans whenever this watch works again.
    pub(super) fn collect_orphans_on_recovery(&self, health: &Health, tasks: &mut Tasks) {
        let (orphan_requests, health) = (self.orphan_requests.clone(), health.clone());
        tasks.spawn(format!("recovery of {}", health.kind()), None, OnEnd::Finish, move || {
            orphan_requests.clone().follow_health(health.clone()).boxed()
        });
    }

    /// Adds the handlers of referenced kinds, mapped kinds and listers to the shared watches of these kinds.
    pub(super) fn add_to(&self, watches: &mut SharedWatches) {
        for targets in self.targets.values() {
            let handler =
                reference::ReferenceHandler { targets: targets.clone(), controllers: self.controllers.clone() };
            let metadata_only = handler.metadata_only();
            watches.add(&targets.watched.health, Arc::new(handler), metadata_only);
        }
        for handler in &self.mapped_handlers {
            watches.add(&handler.watched.health, handler.clone(), handler.metadata_only());
        }
        for handler in &self.lister_handlers {
            watches.add(&handler.watched.health, handler.clone(), handler.metadata_only());
        }
    }

    /// Spawns the orphan collector, which processes the requested searches. A restart of its task reuses the receiver.
    pub(crate) fn spawn_orphan_collector(&self, tasks: &mut Tasks) {
        let (client, namespaces) = (self.client.clone(), self.namespaces.clone());
        let (children, controllers) = (self.children.by_kind(), self.controllers.clone());
        let (counters, shards) = (self.counters.clone(), self.shards.clone());
        let collector = Arc::new(OrphanCollector { client, namespaces, children, controllers, counters, shards });
        let searches = self.searches.clone();
        tasks.spawn("collection of orphans", None, OnEnd::Finish, move || {
            let (collector, searches) = (collector.clone(), searches.clone());
            async move { collector.run(&mut *searches.lock().await).await }.boxed()
        });
    }

    /// Starts the work on a shard whose objects are cached now: enqueues its primaries, and searches for orphans whose owner was
    /// deleted while nobody held the shard.
    pub(super) fn on_shard_open(&self, shard: u16) {
        let Some(shards) = &self.shards else { return };
        self.controllers.iter().for_each(|controller| controller.enqueue_shard(shards.count(), shard));
        self.orphan_requests.request_all();
    }

    /// Drops the requested searches. Never returns.
    pub(crate) async fn drop_searches(&self) {
        while self.searches.lock().await.recv().await.is_some() {}
        std::future::pending().await
    }

    /// Returns all watches of the operator.
    pub(crate) fn watches(&self) -> Vec<Arc<dyn HasHealth>> {
        let primaries = self.controllers.iter().map(|controller| controller.clone() as Arc<dyn HasHealth>);
        let children = self.children.iter().map(|children| children.clone() as Arc<dyn HasHealth>);
        let targets = self.targets.values().map(|targets| targets.clone() as Arc<dyn HasHealth>);
        let mapped = self.mapped_handlers.iter().map(|handler| handler.clone() as Arc<dyn HasHealth>);
        let listers = self.lister_handlers.iter().map(|handler| handler.clone() as Arc<dyn HasHealth>);
        primaries.chain(children).chain(targets).chain(mapped).chain(listers).collect()
    }

    /// Adds the parts of the operator that its metrics read, except the caches of primaries.
    pub(super) fn add_to_observed(&self, observed: &mut ObservedOperator) {
        observed.controllers.extend(self.controllers.iter().cloned());
        observed.children.extend(self.children.iter().cloned());
        observed.targets.extend(self.targets.values().cloned());
        observed.mapped_handlers.extend(self.mapped_handlers.iter().cloned());
        observed.lister_handlers.extend(self.lister_handlers.iter().cloned());
        observed.watches.extend(self.watches());
    }

    /// Returns the watches that a controller needs: its workers start when the first list of each is complete, or its kind is missing or
    /// forbidden.
    pub(crate) fn required_watches(&self, controller: &Arc<RunningController>) -> Vec<Arc<dyn HasHealth>> {
        let shared = &controller.control_loop.shared;
        let primaries = std::iter::once(controller.clone() as Arc<dyn HasHealth>);
        let children = shared.children.values().map(|children| children.clone() as Arc<dyn HasHealth>);
        let targets = shared.targets.values().map(|targets| targets.clone() as Arc<dyn HasHealth>);
        let mapped = self.mapped_handlers.iter().filter(|handler| Arc::ptr_eq(&handler.controller, controller));
        let mapped = mapped.map(|handler| handler.clone() as Arc<dyn HasHealth>);
        let listers = self.lister_handlers.iter().filter(|handler| Arc::ptr_eq(&handler.controller, controller));
        let listers = listers.map(|handler| handler.clone() as Arc<dyn HasHealth>);
        let read_listers = controller.settings().read_listers.iter().filter_map(ReadLister::watch);
        let read_listers = read_listers.map(|watch| Arc::new(watch) as Arc<dyn HasHealth>);
        primaries.chain(children).chain(targets).chain(mapped).chain(listers).chain(read_listers).collect()
    }
}

/// Makes the start function of a task that runs once; a second start does nothing.
fn once(task: impl Future<Output = ()> + Send + 'static) -> impl FnMut() -> BoxFuture<'static, ()> + Send {
    let mut task = Some(task.boxed());
    move || task.take().unwrap_or_else(|| async {}.boxed())
}

/// Retries all primaries of the controllers that have children of this kind, whenever the kind or its permission appears or
/// disappears.
async fn retry_when_available(children: Arc<WatchedKind<Child>>, controllers: Vec<Arc<RunningController>>) {
    let mut state = children.health.subscribe();
    let mut was_blocked = false;
    while state.changed().await.is_ok() {
        state.mark_unchanged();
        let is_blocked = children.health.is_blocked();
        if is_blocked != was_blocked {
            was_blocked = is_blocked;
            let has_children = |controller: &&Arc<RunningController>| {
                controller.control_loop.shared.children.contains_key(&children.kind)
            };
            controllers.iter().filter(has_children).for_each(|controller| controller.retry_all());
        }
    }
}
