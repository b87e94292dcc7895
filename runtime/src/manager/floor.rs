//! What runs: controllers and watches, and who wakes whom.

use super::{
    children::{self, OwnerRef},
    feeds::{Feeds, Healths},
    health::AsHealth,
    mapped::Follows,
    operator::Operator,
    sweep::{Broom, Search, Sweep},
    targets,
    views::Views,
};
use crate::{
    cache::{Change, Encoded},
    client::Client,
    controller::running::Running,
    event::Recorder,
    kind::Kind,
    pass::Shared,
    provisioner::child::Child,
    reconcile::Loop,
    reference::Targets,
    source::{
        Source,
        kubernetes::{Kubernetes, sinks::Sinks},
    },
    watch::Watched,
};
use std::{collections::BTreeMap, sync::Arc};
use tokio::{sync::mpsc, task::JoinSet};

impl Operator {
    pub(super) fn floor(
        &self,
        client: Client,
        home: String,
        namespace: Option<String>,
        broom: Broom,
        tasks: &mut JoinSet<()>,
    ) -> Floor {
        let trees: Vec<_> = self.factories.iter().map(|factory| factory.shape()).collect();
        let children = children::stores(&trees);
        let healths = Healths::default();
        let targets = targets::stores(&self.factories, &healths);
        let (recorder, writer) = Recorder::new(client.clone(), self.environment.clone(), &self.name);
        tasks.spawn(writer);
        let mut sources: Vec<Arc<Kubernetes>> = Vec::new();
        let controllers = self.factories.iter().map(|factory| {
            let own = children::kinds(factory.shape());
            let named = factory.references();
            let settings = factory.settings().clone();
            let shared = Shared {
                client: client.clone(),
                operator: self.name.clone(),
                namespace: home.clone(),
                environment: self.environment.clone(),
                recorder: if settings.events { recorder.clone() } else { Recorder::off() },
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
                referrers: Default::default(),
                own_writes: Default::default(),
                memory: Default::default(),
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
            let inner = Loop::new(Arc::new(shared), source, reconciler, finalizer, selection, news);
            Arc::new(Running::new(inner, settings, &self.environment))
        });
        let controllers: Vec<_> = controllers.collect();
        let follows = controllers.iter().flat_map(|controller| Follows::of(controller, &healths)).collect();
        let views = controllers.iter().flat_map(|controller| Views::of(controller, &healths)).collect();
        Floor {
            client,
            operator: self.name.clone(),
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

/// Everything that runs.
pub(super) struct Floor {
    client: Client,
    operator: String,
    namespace: Option<String>,
    children: BTreeMap<Kind, Arc<Watched<Child>>>,
    targets: BTreeMap<Kind, Arc<Targets>>,
    follows: Vec<Arc<Follows>>,
    views: Vec<Arc<Views>>,
    healths: Healths,
    sources: Vec<Arc<Kubernetes>>,
    pub(super) controllers: Vec<Arc<Running>>,
    pub(super) broom: Broom,
    pub(super) recorder: Recorder,
}

impl Floor {
    pub(super) fn follow(&self, tasks: &mut JoinSet<()>) {
        for controller in &self.controllers {
            for lane in &controller.settings().lanes {
                tasks.spawn(controller.clone().listen(lane.clone()));
            }
        }
        let mut feeds = self.feeds();
        for source in &self.sources {
            let (source, broom) = (source.clone(), self.broom.clone());
            let beside = if source.selects() { Sinks::default() } else { feeds.take(source.kind()) };
            let is_its = |controller: &&Arc<Running>| std::ptr::eq(controller.inner.source.objects(), source.objects());
            let controllers: Vec<_> = self.controllers.iter().filter(is_its).cloned().collect();
            tasks.spawn(broom.clone().follow(source.health().clone()));
            tasks.spawn(async move {
                let on_change = |change: &Change<Encoded>, listing| {
                    broom.on_primary(change);
                    controllers.iter().for_each(|controller| controller.on_primary(change, listing));
                };
                source.feed(&on_change, beside).await;
            });
        }
        for children in self.children.values() {
            let (client, operator, namespace) = (self.client.clone(), self.operator.clone(), self.namespace.clone());
            let (children, controllers) = (children.clone(), self.controllers.clone());
            tasks.spawn(wake_on_news(children.clone(), controllers.clone()));
            tasks.spawn(self.broom.clone().follow(children.health.clone()));
            tasks.spawn(async move {
                let on_owner = |owner: &OwnerRef| wake(&controllers, owner);
                children::follow(&client, &children, &operator, namespace.as_deref(), &on_owner).await;
            });
        }
        for targets in self.targets.values() {
            tasks.spawn(self.broom.clone().follow(targets.watched.health.clone()));
        }
        for (kind, feed) in feeds.rest() {
            let health = self.healths.of(&kind);
            tasks.spawn(feed.run(self.client.clone(), kind, self.namespace.clone(), health));
        }
    }

    /// What looks at all objects of a kind, beside controllers at their primaries.
    fn feeds(&self) -> Feeds {
        let mut feeds = Feeds::default();
        for targets in self.targets.values() {
            let wakes = targets::Wakes { targets: targets.clone(), controllers: self.controllers.clone() };
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

    pub(super) fn sweep(&self, searches: mpsc::UnboundedReceiver<Search>, tasks: &mut JoinSet<()>) {
        let (client, namespace) = (self.client.clone(), self.namespace.clone());
        let (children, controllers) = (self.children.clone(), self.controllers.clone());
        tasks.spawn(Sweep { client, namespace, children, controllers }.run(self.broom.clone(), searches));
    }

    /// All that is watched.
    pub(super) fn health(&self) -> Vec<Arc<dyn AsHealth>> {
        let primaries = self.controllers.iter().map(|controller| controller.clone() as Arc<dyn AsHealth>);
        let children = self.children.values().map(|children| children.clone() as Arc<dyn AsHealth>);
        let targets = self.targets.values().map(|targets| targets.clone() as Arc<dyn AsHealth>);
        let follows = self.follows.iter().map(|follows| follows.clone() as Arc<dyn AsHealth>);
        let views = self.views.iter().map(|views| views.clone() as Arc<dyn AsHealth>);
        primaries.chain(children).chain(targets).chain(follows).chain(views).collect()
    }

    /// Waits until every watch has its first list, or is known to have none.
    pub(super) async fn decided(&self) {
        for watched in self.health() {
            let mut state = watched.health().subscribe();
            while watched.health().is_undecided() {
                if state.changed().await.is_err() {
                    return;
                }
            }
        }
    }
}
fn wake(controllers: &[Arc<Running>], owner: &OwnerRef) {
    for controller in controllers {
        if let Some(key) = owner.key_of(controller.inner.source.kind()) {
            controller.wake(key);
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
            concerned.for_each(|controller| controller.wake_all());
        }
    }
}
