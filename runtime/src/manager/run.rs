//! From an operator to a running one.
//!
//! # Flow
//! Hooks run first. Then all watches begin; when each has its first list, or is known to have none (its kind is missing, or
//! the role doesn't allow it), the workers start. At a signal no new pass begins; those in flight end;
//! then the events that wait are written, as long as the time for the end allows; then the watches.

use super::{
    children::{self, OwnerRef},
    mapped::Follows,
    operator::Operator,
    probes,
    sweep::{Broom, Search, Sweep},
    targets,
};
use crate::{
    cache::{Change, Encoded},
    client::Client,
    controller::running::Running,
    error::Error,
    event::Recorder,
    kind::Kind,
    pass::Shared,
    provisioner::{child::Child, document::Malformed},
    reconcile::Loop,
    reference::Targets,
    source::{Source, kubernetes::Kubernetes},
    watch::{Health, Watched},
};
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{sync::mpsc, task::JoinSet, time::Instant};

/// What may be said when an operator is started.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Watches this namespace only. Default: all, or the operator's own if it is [namespaced](Operator::namespaced).
    pub namespace: Option<String>,
    /// Where `/healthz` and `/readyz` are served. Default: nowhere.
    pub probes: Option<SocketAddr>,
}

/// Why an operator ended, other than by being asked to.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no usable kubeconfig and no service account.
    #[error("failed to find out how to reach the cluster")]
    Config(#[source] kube::config::InferConfigError),
    /// The configuration can't be used.
    #[error("failed to make a client for the cluster")]
    Client(#[source] kube::Error),
    /// A hook of a factory failed; nothing was started.
    #[error("failed to prepare the controller of {kind}: {error}")]
    Hook {
        /// The kind.
        kind: Kind,
        /// What the hook said.
        error: Error,
    },
    /// A tree has a manifest that can't be read; nothing was started.
    #[error("failed to read a manifest of the tree of {kind}")]
    Manifest {
        /// The kind.
        kind: Kind,
        /// What is wrong, and where.
        #[source]
        source: Malformed,
    },
    /// The address for probes is taken, or not this machine's.
    #[error("failed to listen on {address}")]
    Probes {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Signals can't be listened to.
    #[error("failed to listen to signals")]
    Signals(#[source] std::io::Error),
    /// Work in flight did not end in time.
    #[error("work in flight did not end within {} s", .0.as_secs())]
    Timeout(Duration),
    /// A second signal came while work in flight was waited for.
    #[error("ended at once by a second signal")]
    Interrupted,
}

impl Operator {
    /// Runs until SIGINT or SIGTERM, in the cluster that the environment says.
    ///
    /// # Errors
    /// As [`RunError`] lists.
    pub async fn run(&self, options: RunOptions) -> Result<(), RunError> {
        let mut config = kube::Config::infer().await.map_err(RunError::Config)?;
        // A failed call is the pass's to schedule; kube would hold it for minutes.
        config.default_retry = false;
        let client = kube::Client::try_from(config).map_err(RunError::Client)?;
        let mut signals = super::signals::Signals::new().map_err(RunError::Signals)?;
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = self.run_with(client, options, async {
            // A dropped sender is a stop as well.
            let _ = stopped.await;
        });
        tokio::pin!(running);
        tokio::select! {
            ended = &mut running => return ended,
            () = signals.next() => tracing::info!("stopping; a second signal ends at once"),
        }
        drop(stop);
        tokio::select! {
            ended = running => ended,
            () = signals.next() => Err(RunError::Interrupted),
        }
    }

    /// Runs with a client of the caller's until `stop` ends.
    ///
    /// # Errors
    /// As [`RunError`] lists.
    pub async fn run_with(
        &self,
        client: kube::Client,
        options: RunOptions,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), RunError> {
        for factory in &self.factories {
            factory.shape().check().map_err(|source| RunError::Manifest { kind: factory.kind(), source })?;
        }
        for factory in &self.factories {
            let hook = |error| RunError::Hook { kind: factory.kind(), error };
            factory.upgrade(client.clone()).await.map_err(hook)?;
            factory.initialize(client.clone()).await.map_err(hook)?;
        }
        let home = std::env::var("POD_NAMESPACE").unwrap_or_else(|_| client.default_namespace().to_owned());
        let namespace = options.namespace.or_else(|| self.namespaced.then(|| home.clone()));
        let mut tasks = JoinSet::new();
        let (broom, searches) = Broom::new();
        let floor = self.floor(Client::new(client), home, namespace, broom, &mut tasks);
        let probes = probes::bind(options.probes).await?;
        let started = probes::Started::default();
        if let Some(listener) = probes {
            tasks.spawn(probes::serve(listener, floor.health(), started.clone()));
        }
        tracing::info!(operator = self.name, version = self.version, "starting");
        floor.follow(&mut tasks);
        floor.sweep(searches, &mut tasks);

        tokio::pin!(stop);
        tokio::select! {
            () = floor.decided() => {}
            () = &mut stop => return Ok(()),
        }
        started.set();
        let mut work = JoinSet::new();
        for controller in &floor.controllers {
            work.spawn(controller.clone().work());
        }
        floor.broom.on_recovery();
        stop.await;
        for controller in &floor.controllers {
            controller.stop();
        }
        let deadline = Instant::now() + self.shutdown;
        let ended = tokio::time::timeout_at(deadline, async { while work.join_next().await.is_some() {} }).await;
        ended.map_err(|_| RunError::Timeout(self.shutdown))?;
        if tokio::time::timeout_at(deadline, floor.recorder.flush()).await.is_err() {
            tracing::warn!("some events were not recorded: there was no time left for them");
        }
        tracing::info!("stopped");
        Ok(())
    }

    fn floor(
        &self,
        client: Client,
        home: String,
        namespace: Option<String>,
        broom: Broom,
        tasks: &mut JoinSet<()>,
    ) -> Floor {
        let trees: Vec<_> = self.factories.iter().map(|factory| factory.shape()).collect();
        let children = children::stores(&trees);
        let targets = targets::stores(&self.factories);
        let (recorder, writer) = Recorder::new(client.clone(), self.environment.clone(), &self.name);
        tasks.spawn(writer);
        let controllers = self.factories.iter().map(|factory| {
            let own = children::kinds(factory.shape());
            let named: Vec<_> = factory.references().into_iter().map(|(_, kind)| kind).collect();
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
                own_writes: Default::default(),
                memory: Default::default(),
                trial: None,
            };
            let source = Kubernetes::new(client.clone(), factory.kind(), &self.name, namespace.clone());
            let reconciler = factory.reconciler(source.objects().codec()).0;
            let (finalizer, labels) = (factory.finalizer(), settings.labels.clone());
            let inner = Loop::new(Arc::new(shared), Arc::new(source), reconciler, finalizer, labels);
            Arc::new(Running::new(inner, settings, &self.environment))
        });
        let controllers: Vec<_> = controllers.collect();
        let follows = controllers.iter().flat_map(Follows::of).collect();
        Floor {
            client,
            operator: self.name.clone(),
            namespace,
            children,
            targets,
            follows,
            controllers,
            broom,
            recorder,
        }
    }
}

/// Everything that runs.
struct Floor {
    client: Client,
    operator: String,
    namespace: Option<String>,
    children: BTreeMap<Kind, Arc<Watched<Child>>>,
    targets: BTreeMap<Kind, Arc<Targets>>,
    follows: Vec<Arc<Follows>>,
    controllers: Vec<Arc<Running>>,
    broom: Broom,
    recorder: Recorder,
}

impl Floor {
    fn follow(&self, tasks: &mut JoinSet<()>) {
        for controller in &self.controllers {
            let (controller, broom) = (controller.clone(), self.broom.clone());
            tasks.spawn(broom.clone().follow(controller.inner.source.health().clone()));
            tasks.spawn(async move {
                let source = controller.inner.source.clone();
                let on_change = |change: &Change<Encoded>, listing| {
                    broom.on_primary(change);
                    controller.on_primary(change, listing);
                };
                source.follow(&on_change).await;
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
        for follows in &self.follows {
            tasks.spawn(follows.clone().run(self.client.clone(), self.namespace.clone()));
        }
        for targets in self.targets.values() {
            let (client, namespace, targets) = (self.client.clone(), self.namespace.clone(), targets.clone());
            let controllers = self.controllers.clone();
            tasks.spawn(self.broom.clone().follow(targets.watched.health.clone()));
            tasks.spawn(async move { targets::follow(&client, &targets, namespace.as_deref(), &controllers).await });
        }
    }

    fn sweep(&self, searches: mpsc::UnboundedReceiver<Search>, tasks: &mut JoinSet<()>) {
        let (client, namespace) = (self.client.clone(), self.namespace.clone());
        let (children, controllers) = (self.children.clone(), self.controllers.clone());
        tasks.spawn(Sweep { client, namespace, children, controllers }.run(self.broom.clone(), searches));
    }

    /// All that is watched.
    fn health(&self) -> Vec<Arc<dyn AsHealth>> {
        let primaries = self.controllers.iter().map(|controller| controller.clone() as Arc<dyn AsHealth>);
        let children = self.children.values().map(|children| children.clone() as Arc<dyn AsHealth>);
        let targets = self.targets.values().map(|targets| targets.clone() as Arc<dyn AsHealth>);
        let follows = self.follows.iter().map(|follows| follows.clone() as Arc<dyn AsHealth>);
        primaries.chain(children).chain(targets).chain(follows).collect()
    }

    /// Waits until every watch has its first list, or is known to have none.
    async fn decided(&self) {
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

/// Something with a watch.
pub(crate) trait AsHealth: Send + Sync {
    fn health(&self) -> &Health;

    /// Whether the operator can do its work without the kind.
    fn is_optional(&self) -> bool {
        false
    }
}

impl AsHealth for Running {
    fn health(&self) -> &Health {
        self.inner.source.health()
    }
}

impl AsHealth for Watched<Child> {
    fn health(&self) -> &Health {
        &self.health
    }

    fn is_optional(&self) -> bool {
        self.optional
    }
}

impl AsHealth for Follows {
    fn health(&self) -> &Health {
        &self.watched.health
    }
}

impl AsHealth for Targets {
    fn health(&self) -> &Health {
        &self.watched.health
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
