//! `Operator` builds an operator from controllers and settings.

use crate::{
    bucket::{KindInBucket, OpenBuckets},
    client::{rate_limit::RateLimit, selectors::PAGE_SIZE, timeouts::Timeouts},
    controller::{
        Controller, Settings,
        factory::{Factory, TreeFactory, round_trip},
        overrides::SettingOverrides,
    },
    counters::Counters,
    environment::Environment,
    kind::Kind,
    lease::options::LeaderElection,
    managed::{Managed, Owner},
    manager::{defined_kind::DefinedKind, extensions::Extensions},
    manifest::{DEFAULT_OBJECTS, RoundTrip},
    metrics::{Metrics, Registry},
    provisioner::Provision,
    reconcile::next::AFTER_CONFLICT,
    scope::ExecPlugin,
    shape::Provisioner,
};
use std::{collections::BTreeMap, marker::PhantomData, sync::Arc, time::Duration};

/// An operator: the kinds it controls, each with its tree, and its settings. A binary runs it, and the manifests are generated
/// from it.
///
/// A library exports an operator from a function, and `operator!` makes a binary of it. The role contains the permissions of the
/// trees of this operator, not of all trees that are linked.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{Namespace, ResourceQuota};
/// # use opgen::prelude::*;
/// # #[derive(Provisioner)]
/// # #[provisioner(serial, owner = Foreign<Namespace>)]
/// # struct NamespaceTree {
/// #     #[provisioner(resource)]
/// #     quota: ResourceQuota,
/// # }
/// # impl NamespaceTree {
/// #     fn quota(_: &Namespace) -> ResourceQuota { ResourceQuota::default() }
/// # }
/// fn operator() -> Operator {
///     Operator::new("teams").version("0.1.0").controls::<Foreign<Namespace>, NamespaceTree>()
/// }
/// # operator();
/// ```
#[derive(Clone, Debug)]
pub struct Operator {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) image: Option<String>,
    pub(crate) namespaced: bool,
    pub(crate) priority_class: Option<String>,
    pub(crate) shutdown: Duration,
    pub(crate) timeouts: Timeouts,
    pub(crate) page_size: u32,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) objects: u32,
    pub(crate) environment: Environment,
    /// The programs that kubeconfigs of other clusters may run.
    pub(crate) exec_plugins: Vec<ExecPlugin>,
    pub(crate) counters: Counters,
    pub(crate) metrics: Metrics,
    pub(crate) leader_election: Option<LeaderElection>,
    pub(crate) shards: Option<u16>,
    /// The names and times of the Leases of shards. Default: those of leader election.
    pub(crate) shard_leases: Option<LeaderElection>,
    pub(crate) extensions: Extensions,
    pub(crate) factories: Vec<Arc<dyn Factory>>,
    /// Settings of controllers by kind, from outside the code.
    pub(crate) overrides: BTreeMap<Kind, SettingOverrides>,
    /// The kinds whose definition is installed and that have no controller.
    pub(crate) defined: Vec<DefinedKind>,
    /// The kinds in buckets of other operators that watches and listers use.
    pub(crate) used: Vec<KindInBucket>,
    /// Opens the buckets of kinds that are not in Kubernetes.
    pub(crate) buckets: Option<Arc<dyn OpenBuckets>>,
    pub(crate) without_kubernetes: bool,
}

/// The default time for running passes to end after a signal, as in controller-runtime.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

impl Operator {
    /// Creates an operator without controllers. The name is a DNS label. It is the field manager, the value of the label of
    /// children, and the second part of finalizers, so an operator with another name is another operator.
    pub fn new(name: impl Into<String>) -> Self {
        let (name, counters) = (name.into(), Counters::default());
        Self {
            metrics: Metrics::new(&name, counters.clone()),
            name,
            version: "0.0.0".to_owned(),
            namespace: None,
            image: None,
            namespaced: false,
            priority_class: None,
            shutdown: SHUTDOWN_TIMEOUT,
            timeouts: Timeouts::default(),
            page_size: PAGE_SIZE,
            rate_limit: None,
            objects: DEFAULT_OBJECTS,
            environment: Environment::system(),
            exec_plugins: Vec::new(),
            counters,
            leader_election: None,
            shards: None,
            shard_leases: None,
            extensions: Extensions::default(),
            factories: Vec::new(),
            overrides: BTreeMap::new(),
            defined: Vec::new(),
            used: Vec::new(),
            buckets: None,
            without_kubernetes: false,
        }
    }

    /// Sets the version for labels, the image tag and `--version`. Default: `0.0.0`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the namespace of the operator in the manifests. Default: `<name>-system`.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets the image in the manifests; the version is its tag unless it has one. Default: the operator's name.
    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = Some(image.into());
        self
    }

    /// Watches its own namespace only; the manifests then have a `Role` instead of a `ClusterRole`. Default: all namespaces.
    #[must_use]
    pub fn namespaced(mut self) -> Self {
        self.namespaced = true;
        self
    }

    /// Sets the priority class of the Pods in the manifests, for example `system-cluster-critical`. Default: none.
    ///
    /// Pods of that class evict other Pods from a full node, so an operator should have it only if the cluster doesn't work without
    /// it. Some clusters allow the class in selected namespaces only.
    #[must_use]
    pub fn priority_class(mut self, name: impl Into<String>) -> Self {
        self.priority_class = Some(name.into());
        self
    }

    /// Sets the time for running passes and runnables to end after a signal. A pass that does not end is interrupted, and the status of
    /// its object says so. Zero waits for nothing, and [`Duration::MAX`] for ever. Default: 30 s.
    #[must_use]
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown = timeout;
        self
    }

    /// Sets the timeouts of API calls. Default: those of [`Timeouts::default`]. The flags `--connect-timeout`,
    /// `--response-timeout`, `--body-timeout` and `--watch-timeout` of the binary take precedence.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the maximum number of objects in one page of a list, at least one. A page is in memory as a whole, and twice while it
    /// is decoded, so small pages are better for large objects. More pages are more requests. Default: 500.
    #[must_use]
    pub fn page_size(mut self, objects: u32) -> Self {
        self.page_size = objects.max(1);
        self
    }

    /// Limits the requests to the API server: `qps` on average a second, and up to `burst` at once, at least one. A watch is one
    /// request, and the requests of leader election are not limited. A rate that is not positive is no limit. Default: no limit;
    /// the API server shares its capacity fairly by itself (API Priority and Fairness).
    #[must_use]
    pub fn rate_limit(mut self, qps: f64, burst: u32) -> Self {
        self.rate_limit = RateLimit::new(qps, burst);
        self
    }

    /// Sets the expected number of cached objects: primaries, children, and all other watched objects. The memory request and
    /// limit of the generated Deployment follow from it: the request is 32 MiB and 3.2 KiB per object, and the limit is four
    /// times the request. The measured usage at rest is 14 MiB, and 2.8 KiB for a Pod of 3.4 KB, or 1.4 KiB for a custom object
    /// of 1 KB or its child. For larger objects use a larger number. Default: 10,000, for a limit of 256 MiB.
    ///
    /// | objects | request | limit |
    /// |---|---|---|
    /// | 10,000 | 64 MiB | 256 MiB |
    /// | 100,000 | 345 MiB | 1,380 MiB |
    #[must_use]
    pub fn objects(mut self, objects: u32) -> Self {
        self.objects = objects;
        self
    }

    /// Sets another clock and another source of random numbers, for tests.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Allows the kubeconfigs of other clusters (see [`scope`](crate::scope)) to run this program for their credentials. Each call allows
    /// one more. Default: none. The program must be in the image of the operator; read the section on security of [`ExecPlugin`].
    #[must_use]
    pub fn exec_plugin(mut self, plugin: ExecPlugin) -> Self {
        self.exec_plugins.push(plugin);
        self
    }

    /// Returns the counters of the running operator, which are also among its metrics. Clones of the operator share them.
    pub fn counters(&self) -> Counters {
        self.counters.clone()
    }

    /// Returns the metrics of the running operator, for a server of your own; [`RunOptions::metrics`](crate::RunOptions::metrics)
    /// serves them without one. Clones of the operator share them.
    pub fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }

    /// Adds metrics of your own, which follow those of the operator at `/metrics`. Their names must not occur in
    /// [`TABLE`](crate::metrics::TABLE). Clones of the operator share them.
    #[must_use]
    pub fn registry(self, registry: impl Into<Arc<Registry>>) -> Self {
        self.metrics.add_registry(registry.into());
        self
    }

    /// Returns the longest delay before the next pass over an object that is not in its wanted state, without the jitter of at
    /// most a tenth. It is the maximum of the controllers' requeue delays, error delays and resync periods, and of the delays
    /// after a conflict. [`Duration::MAX`], after which no pass begins, does not count.
    pub fn longest_pause(&self) -> Duration {
        let delays = self.factories.iter().map(|factory| {
            let settings = self.settings_of(factory.as_ref());
            [Some(settings.requeue_after), Some(settings.backoff.after(u32::MAX)), settings.resync_period]
        });
        let delays = delays.flatten().flatten().filter(|delay| *delay != Duration::MAX);
        delays.max().unwrap_or_default().max(AFTER_CONFLICT.after(u32::MAX))
    }

    /// Adds a controller of a kind that runs a tree.
    #[must_use]
    pub fn controls<O, P>(self) -> Self
    where
        O: Owner<Item = (), Options: Default>,
        P: Provision<O> + Provisioner<Inputs = ()>,
    {
        self.controls_with::<O, P>(|controller| controller)
    }

    /// Adds a controller of a kind that runs a tree, with options.
    #[must_use]
    pub fn controls_with<O, P>(self, options: impl FnOnce(Controller<O>) -> Controller<O>) -> Self
    where
        O: Owner<Item = (), Options: Default>,
        P: Provision<O> + Provisioner<Inputs = ()>,
    {
        let (operator, controller) = (self.name.clone(), options(Controller::default()));
        self.controls_by(TreeFactory::<O, P> { operator, controller, tree: PhantomData })
    }

    /// Installs the definition of a kind without a controller for it; other controllers of the operator create and read its
    /// objects. A foreign kind has no definition to install, and the objects of a kind in a bucket are in that bucket.
    #[must_use]
    pub fn defines<K: Managed>(mut self) -> Self {
        self.defined.extend(K::DEFINITION.map(|definition| DefinedKind {
            kind: K::kind(),
            definition,
            schema: K::SCHEMA,
            validation: K::VALIDATION,
            versions: K::VERSIONS,
            bucket: K::BUCKET,
            round_trip: RoundTrip::new(round_trip::<K>),
        }));
        self
    }

    /// Uses the objects of a kind in a bucket that another operator controls or [defines](Self::defines), by watches or listers. Without
    /// this call they are looked for in Kubernetes. It is not needed for a kind in Kubernetes, nor for one that the attributes of a kind
    /// or of a tree name: as a child, by a reference, or in `access(...)`.
    #[must_use]
    pub fn uses<K: Managed>(mut self) -> Self {
        self.used.extend(KindInBucket::of::<K>());
        self
    }

    /// Returns the kinds in buckets that the operator uses: those of [`uses`](Self::uses), and those that its kinds and trees name. It may
    /// control or define some of them.
    pub(super) fn used_kinds(&self) -> impl Iterator<Item = KindInBucket> {
        let named = self.factories.iter().flat_map(|factory| factory.kinds_in_buckets());
        self.used.iter().cloned().chain(named)
    }

    /// Adds a controller with a factory of your own.
    #[must_use]
    pub fn controls_by(mut self, factory: impl Factory) -> Self {
        self.factories.push(Arc::new(factory));
        self
    }

    /// Returns the settings of a controller. Those that the command line, the environment or the configuration file set for its kind
    /// override those of the code.
    pub(crate) fn settings_of(&self, factory: &dyn Factory) -> Settings {
        let mut settings = factory.settings().clone();
        if let Some(overrides) = self.overrides.get(&factory.kind()) {
            overrides.apply_to(&mut settings);
        }
        settings
    }
}
