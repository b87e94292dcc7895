//! What runs: controllers and watches, and who wakes whom.

use crate::{
    cache::{Change, Encoded},
    client::Client,
    controller::{lister::ReadView, worker::Running},
    counters::Counters,
    engine::{child::Child, pass::Shared},
    event::EventRecorder,
    garbage::orphans::{Broom, Search, Sweep},
    informer::{
        child::{self, OwnerRef},
        fan_out::Sinks,
        mapped::Follows,
        primary::Kubernetes,
        projection::Views,
        reference,
        shared_watch::{Feeds, Healths},
        source::Source,
        watch::{Health, Shows, Watched},
    },
    kind::Kind,
    manager::{
        health::AsHealth,
        operator::Operator,
        tasks::{OnEnd, Tasks},
    },
    reconcile::control_loop::Loop,
    reference::Targets,
};
use futures::{FutureExt, future::BoxFuture};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};
use tokio::sync::{Mutex, mpsc};

impl Operator {
    pub(crate) fn floor(
        &self,
        client: Client,
        home: String,
        namespace: Option<String>,
        broom: Broom,
        tasks: &mut Tasks,
    ) -> Floor {
        let trees: Vec<_> = self.factories.iter().map(|factory| factory.shape()).collect();
        let children = child::stores(&trees);
        let healths = Healths::default();
        let targets = reference::stores(&self.factories, &healths);
        let (recorder, writer) = EventRecorder::new(client.clone(), self.environment.clone(), &self.name);
        tasks.spawn("event writer", None, OnEnd::Finish, once(writer));
        let mut sources: Vec<Arc<Kubernetes>> = Vec::new();
        let controllers = self.factories.iter().map(|factory| {
            let own = child::kinds(factory.shape());
            let named = factory.references();
            let settings = factory.settings().clone();
            let shared = Shared {
                client: client.clone(),
                operator: self.name.clone(),
                namespace: home.clone(),
                environment: self.environment.clone(),
                recorder: if settings.events { recorder.clone() } else { EventRecorder::off() },
                children: children
                    .iter()
                    .filter(|(kind, _)| own.contains(kind))
                    .map(|(k, c)| (k.clone(), c.clone()))
                    .collect(),
                targets: targets
                    .iter()
                    .filter(|(kind, _)| named.contains(kind))
                    .map(|(k, t)| (k.clone(), t.clone()))
                    .collect(),
                graph: targets.clone(),
                referrers: Default::default(),
                own_writes: Default::default(),
                echoes: Default::default(),
                memory: Default::default(),
                counters: self.counters.clone(),
                watches: OnceLock::new(),
                rehearsal: None,
            };
            let selection = settings.selection.clone();
            let kind = factory.kind();
            // Controllers of one kind share its watch and its cache.
            let source = sources.iter().find(|source| source.is_of(&kind, &selection)).cloned().unwrap_or_else(|| {
                let namespace = namespace.clone();
                let health = healths.of(&kind);
                let source = Kubernetes::new(client.clone(), kind, &self.name, namespace, selection.clone());
                let source = Arc::new(if selection.is_all() { source.with_health(health) } else { source });
                sources.push(source.clone());
                source
            });
            let reconciler = factory.reconciler(source.objects().codec()).0;
            let (finalizer, news) = (factory.finalizer(), settings.news.clone());
            let mut inner = Loop::new(Arc::new(shared), source, reconciler, finalizer, selection, news);
            inner.condition_prefix.clone_from(&settings.condition_prefix);
            Arc::new(Running::new(inner, settings, &self.environment))
        });
        let controllers: Vec<_> = controllers.collect();
        let (follows, views) = followed(&controllers, &healths);
        Floor {
            client,
            operator: self.name.clone(),
            counters: self.counters.clone(),
            namespace,
            children,
            targets,
            follows,
            views,
            healths,
            sources,
            controllers,
            broom,
            recorder,
        }
    }
}

/// What controllers follow by a function, and keep; from now on the controllers know what their watches show.
fn followed(controllers: &[Arc<Running>], healths: &Healths) -> (Vec<Arc<Follows>>, Vec<Arc<Views>>) {
    let follows: Vec<_> = controllers.iter().flat_map(|controller| Follows::of(controller, healths)).collect();
    let views: Vec<_> = controllers.iter().flat_map(|controller| Views::of(controller, healths)).collect();
    for controller in controllers {
        controller.inner.shared.watches.get_or_init(|| watches_of(controller, &follows, &views));
    }
    (follows, views)
}

/// All watches that wake objects of a controller.
fn watches_of(controller: &Arc<Running>, follows: &[Arc<Follows>], views: &[Arc<Views>]) -> Vec<Arc<dyn Shows>> {
    let Loop { shared, source, .. } = &controller.inner;
    let mut watches: Vec<Arc<dyn Shows>> = vec![Arc::new(source.clone())];
    for children in shared.children.values() {
        watches.push(children.clone());
    }
    for targets in shared.targets.values() {
        watches.push(targets.watched.clone());
    }
    for follows in follows.iter().filter(|follows| Arc::ptr_eq(&follows.controller, controller)) {
        watches.push(follows.watched.clone());
    }
    for views in views.iter().filter(|views| Arc::ptr_eq(&views.controller, controller)) {
        watches.push(views.watched.clone());
    }
    watches
}

/// Everything that runs.
pub(crate) struct Floor {
    client: Client,
    operator: String,
    counters: Counters,
    namespace: Option<String>,
    children: BTreeMap<Kind, Arc<Watched<Child>>>,
    targets: BTreeMap<Kind, Arc<Targets>>,
    follows: Vec<Arc<Follows>>,
    views: Vec<Arc<Views>>,
    healths: Healths,
    sources: Vec<Arc<Kubernetes>>,
    pub(crate) controllers: Vec<Arc<Running>>,
    pub(crate) broom: Broom,
    pub(crate) recorder: EventRecorder,
}

impl Floor {
    pub(crate) fn follow(&self, tasks: &mut Tasks) {
        for controller in &self.controllers {
            for lane in &controller.settings().lanes {
                let (controller, lane) = (controller.clone(), lane.clone());
                let name = format!("channel of {}", controller.inner.source.kind());
                tasks.spawn(name, None, OnEnd::Restart, move || controller.clone().listen(lane.clone()).boxed());
            }
        }
        let mut feeds = self.feeds();
        for source in &self.sources {
            let beside = if source.selects() { Sinks::default() } else { feeds.take(source.kind()) };
            self.follow_primaries(source, Arc::new(beside), tasks);
        }
        for children in self.children.values() {
            self.follow_children(children, tasks);
        }
        for targets in self.targets.values() {
            self.sweep_on_recovery(&targets.watched.health, tasks);
        }
        for (kind, feed) in feeds.rest() {
            let (health, feed) = (self.healths.of(&kind), Arc::new(feed));
            let (client, namespace, watch) = (self.client.clone(), self.namespace.clone(), health.clone());
            tasks.spawn(format!("informer of {kind}"), Some(health), OnEnd::Restart, move || {
                let (feed, client, kind) = (feed.clone(), client.clone(), kind.clone());
                let (namespace, watch) = (namespace.clone(), watch.clone());
                async move { feed.run(client, kind, namespace, watch).await }.boxed()
            });
        }
    }

    fn follow_primaries(&self, source: &Arc<Kubernetes>, beside: Arc<Sinks<'static>>, tasks: &mut Tasks) {
        self.sweep_on_recovery(source.health(), tasks);
        let is_its = |controller: &&Arc<Running>| std::ptr::eq(controller.inner.source.objects(), source.objects());
        let controllers: Arc<[_]> = self.controllers.iter().filter(is_its).cloned().collect();
        let (name, health) = (format!("informer of {}", source.kind()), source.health().clone());
        let (source, broom) = (source.clone(), self.broom.clone());
        tasks.spawn(name, Some(health), OnEnd::Restart, move || {
            let (source, broom) = (source.clone(), broom.clone());
            let (controllers, beside) = (controllers.clone(), beside.clone());
            let feed = async move {
                let on_change = |change: &Change<Encoded>, listing| {
                    broom.on_primary(change);
                    controllers.iter().for_each(|controller| controller.on_primary(change, listing));
                };
                source.feed(&on_change, &beside).await;
            };
            feed.boxed()
        });
    }

    fn follow_children(&self, children: &Arc<Watched<Child>>, tasks: &mut Tasks) {
        self.sweep_on_recovery(&children.health, tasks);
        let (kind, watched, controllers) = (&children.kind, children.clone(), self.controllers.clone());
        tasks.spawn(format!("health of {kind}"), None, OnEnd::Finish, move || {
            wake_on_news(watched.clone(), controllers.clone()).boxed()
        });
        let (client, operator, namespace) = (self.client.clone(), self.operator.clone(), self.namespace.clone());
        let (watched, controllers) = (children.clone(), self.controllers.clone());
        let name = format!("informer of {kind} with the operator's label");
        tasks.spawn(name, Some(children.health.clone()), OnEnd::Restart, move || {
            let (client, operator, namespace) = (client.clone(), operator.clone(), namespace.clone());
            let (watched, controllers) = (watched.clone(), controllers.clone());
            let feed = async move {
                let on_owner = |owner: &OwnerRef, listing| wake(&controllers, owner, listing);
                child::follow(&client, &watched, &operator, namespace.as_deref(), &on_owner).await;
            };
            feed.boxed()
        });
    }

    fn sweep_on_recovery(&self, health: &Health, tasks: &mut Tasks) {
        let (broom, health) = (self.broom.clone(), health.clone());
        tasks.spawn(format!("recovery of {}", health.kind()), None, OnEnd::Finish, move || {
            broom.clone().follow(health.clone()).boxed()
        });
    }

    /// What looks at all objects of a kind, beside controllers at their primaries.
    fn feeds(&self) -> Feeds {
        let mut feeds = Feeds::default();
        for targets in self.targets.values() {
            let wakes = reference::Wakes { targets: targets.clone(), controllers: self.controllers.clone() };
            let metadata_only = wakes.metadata_only();
            feeds.add(&targets.watched.kind, Arc::new(wakes), metadata_only);
        }
        for follows in &self.follows {
            feeds.add(&follows.watched.kind, follows.clone(), follows.metadata_only());
        }
        for views in &self.views {
            feeds.add(&views.watched.kind, views.clone(), views.metadata_only());
        }
        feeds
    }

    pub(crate) fn sweep(&self, searches: mpsc::UnboundedReceiver<Search>, tasks: &mut Tasks) {
        let (client, namespace) = (self.client.clone(), self.namespace.clone());
        let (children, controllers) = (self.children.clone(), self.controllers.clone());
        let counters = self.counters.clone();
        let sweep = Arc::new(Sweep { client, namespace, children, controllers, counters });
        let searches = Arc::new(Mutex::new(searches));
        tasks.spawn("collection of orphans", None, OnEnd::Finish, move || {
            let (sweep, searches) = (sweep.clone(), searches.clone());
            async move { sweep.run(&mut *searches.lock().await).await }.boxed()
        });
    }

    /// All that is watched.
    pub(crate) fn health(&self) -> Vec<Arc<dyn AsHealth>> {
        let primaries = self.controllers.iter().map(|controller| controller.clone() as Arc<dyn AsHealth>);
        let children = self.children.values().map(|children| children.clone() as Arc<dyn AsHealth>);
        let targets = self.targets.values().map(|targets| targets.clone() as Arc<dyn AsHealth>);
        let follows = self.follows.iter().map(|follows| follows.clone() as Arc<dyn AsHealth>);
        let views = self.views.iter().map(|views| views.clone() as Arc<dyn AsHealth>);
        primaries.chain(children).chain(targets).chain(follows).chain(views).collect()
    }

    /// The watches that a controller needs before it can work.
    pub(crate) fn needs(&self, controller: &Arc<Running>) -> Vec<Arc<dyn AsHealth>> {
        let shared = &controller.inner.shared;
        let own = std::iter::once(controller.clone() as Arc<dyn AsHealth>);
        let children = shared.children.values().map(|children| children.clone() as Arc<dyn AsHealth>);
        let targets = shared.targets.values().map(|targets| targets.clone() as Arc<dyn AsHealth>);
        let follows = self.follows.iter().filter(|follows| Arc::ptr_eq(&follows.controller, controller));
        let follows = follows.map(|follows| follows.clone() as Arc<dyn AsHealth>);
        let views = self.views.iter().filter(|views| Arc::ptr_eq(&views.controller, controller));
        let views = views.map(|views| views.clone() as Arc<dyn AsHealth>);
        let read = controller.settings().read.iter().filter_map(ReadView::watch);
        let read = read.map(|watch| Arc::new(watch) as Arc<dyn AsHealth>);
        own.chain(children).chain(targets).chain(follows).chain(views).chain(read).collect()
    }
}

/// A task that is not started again.
fn once(task: impl Future<Output = ()> + Send + 'static) -> impl FnMut() -> BoxFuture<'static, ()> + Send {
    let mut task = Some(task.boxed());
    move || task.take().unwrap_or_else(|| async {}.boxed())
}

fn wake(controllers: &[Arc<Running>], owner: &OwnerRef, listing: bool) {
    for controller in controllers {
        if let Some(key) = owner.key_of(controller.inner.source.kind()) {
            controller.wake_owner(key, listing);
        }
    }
}

/// A permission or a kind that comes or goes concerns every object made of it.
async fn wake_on_news(children: Arc<Watched<Child>>, controllers: Vec<Arc<Running>>) {
    let mut state = children.health.subscribe();
    let mut blocked = false;
    while state.changed().await.is_ok() {
        state.mark_unchanged();
        let blocks = children.health.is_blocked();
        if blocks != blocked {
            blocked = blocks;
            let concerned = controllers.iter().filter(|c| c.inner.shared.children.contains_key(&children.kind));
            concerned.for_each(|controller| controller.try_all());
        }
    }
}
