//! `Controller` collects the options of the controller of one kind; the submodules run the controller.

pub(crate) mod channel;
pub(crate) mod factory;
pub(crate) mod lister_source;
pub(crate) mod mapped;
pub(crate) mod overrides;
mod remote_events;
mod watches;
pub(crate) mod worker;

pub use crate::manager::upgrade_hook::{Upgrade, UpgradeHook};
pub use crate::reconcile::{change::RECONCILE_ANNOTATION, next::DEFAULT_REQUEUE};
use crate::{
    error::Result,
    informer::source::Selection,
    managed::{Managed, Owner},
    manager::upgrade_hook::BoxUpgradeHook,
    queue::Backoff,
    reconcile::{change::PrimaryPredicate, tree::ResyncPeriodFn},
};
use channel::ChannelReceiver;
use futures::future::{BoxFuture, FutureExt};
use lister_source::{ListerSource, ReadLister};
use mapped::MappedWatch;
use serde_json::Value;
use std::{fmt, sync::Arc, time::Duration};

/// The default of [`Controller::pass_limit`]: an hour.
pub const DEFAULT_PASS_LIMIT: Duration = Duration::from_secs(3600);

/// The options of the controller of one kind, as `operator!` and `Operator::controls_with` set them.
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
/// use std::time::Duration;
///
/// # let operator =
/// Operator::new("teams").controls_with::<Foreign<Namespace>, NamespaceTree>(|controller| {
///     // Only Namespaces with this label, four at a time, each at least every ten minutes.
///     controller.labels([("team", "web")]).workers(4).resync_period(Duration::from_secs(600))
/// });
/// ```
pub struct Controller<O: Owner> {
    pub(crate) settings: Settings,
    pub(crate) options: Arc<O::Options>,
    pub(crate) resync_period: Option<ResyncPeriodFn<O::Object>>,
}

/// The options of a controller that don't depend on the type of its kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The finalizer, in place of the default; an empty one is none.
    pub finalizer: Option<String>,
    /// The period after which an object is enqueued although it is in its wanted state (resync); `None` waits for changes.
    pub resync_period: Option<Duration>,
    /// The delay after a yield.
    pub requeue_after: Duration,
    /// The delay after an unexpected error.
    pub backoff: Backoff,
    /// The number of objects that are reconciled at a time.
    pub workers: usize,
    /// The duration of a pass from which on the liveness probe fails.
    pub pass_limit: Duration,
    /// Whether the controller records events.
    pub events: bool,
    /// The sample in the manifests, in place of one made from the schema.
    pub sample: Option<Value>,
    /// The prefix of the condition types.
    pub condition_prefix: String,
    /// The label and field selectors of the primaries.
    pub(crate) selection: Selection,
    /// The other kinds whose objects map to primaries.
    pub(crate) watches: Vec<MappedWatch>,
    /// The listers that this controller fills.
    pub(crate) listers: Vec<ListerSource>,
    /// The listers that this controller reads and other controllers fill.
    pub(crate) read_listers: Vec<ReadLister>,
    /// The channels that the controller listens to.
    pub(crate) channels: Vec<Arc<ChannelReceiver>>,
    /// The predicate of changes that enqueue a primary, in place of the default.
    pub(crate) predicate: Option<PrimaryPredicate>,
    /// The work before anything is watched.
    pub(crate) initialize: Option<InitializeHook>,
    /// The work that a new version does once.
    pub(crate) upgrade: Option<BoxUpgradeHook>,
}

/// A function that runs before anything is watched.
#[derive(Clone)]
pub(crate) struct InitializeHook(Arc<dyn Fn(kube::Client) -> BoxFuture<'static, Result<()>> + Send + Sync>);

impl InitializeHook {
    pub(crate) fn run(&self, client: kube::Client) -> BoxFuture<'static, Result<()>> {
        (self.0)(client)
    }
}

impl fmt::Debug for InitializeHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InitializeHook")
    }
}

impl Default for Settings {
    /// Returns the settings of a controller for which the operator sets no option.
    fn default() -> Self {
        Self {
            finalizer: None,
            resync_period: None,
            requeue_after: DEFAULT_REQUEUE,
            backoff: Backoff::Fixed(DEFAULT_REQUEUE),
            // A pass spends most of its time waiting for the API server, so more workers than cores are useful.
            workers: 16,
            pass_limit: DEFAULT_PASS_LIMIT,
            events: true,
            sample: None,
            condition_prefix: String::new(),
            selection: Selection::default(),
            watches: Vec::new(),
            listers: Vec::new(),
            read_listers: Vec::new(),
            channels: Vec::new(),
            predicate: None,
            initialize: None,
            upgrade: None,
        }
    }
}

impl<O: Owner<Options: Default>> Default for Controller<O> {
    fn default() -> Self {
        Self { settings: Settings::default(), options: Arc::default(), resync_period: None }
    }
}

impl<O: Owner> Controller<O> {
    /// Enqueues every object again after this period (resync), although it is in its wanted state. Default: only on changes. The
    /// minimum is 5 ms, as of every delay of a controller.
    #[must_use]
    pub fn resync_period(mut self, period: Duration) -> Self {
        self.settings.resync_period = Some(period);
        self
    }

    /// Sets the delay after a yield until the next pass; a jitter of up to a tenth is added. Default: [`DEFAULT_REQUEUE`].
    #[must_use]
    pub fn requeue_after(mut self, after: Duration) -> Self {
        self.settings.requeue_after = after;
        self
    }

    /// Sets the delay after an unexpected error until the next pass. Meanwhile changes of children and of other objects start no
    /// pass. A change of the object by a user, its deletion and the annotation
    /// [`RECONCILE_ANNOTATION`](crate::controller::RECONCILE_ANNOTATION) do, and reset the delay. A child that the operator
    /// repairs repeatedly, because another client changes it back, is such an error as well, with the reason `Fighting`. Default:
    /// [`DEFAULT_REQUEUE`], the same each time.
    #[must_use]
    pub fn backoff(mut self, delay: Backoff) -> Self {
        self.settings.backoff = delay;
        self
    }

    /// Sets the number of objects that are reconciled at a time, at least one. Default: 16.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.settings.workers = workers.max(1);
        self
    }

    /// Sets the duration of a pass from which on the probe `/livez` fails, so that Kubernetes restarts the operator: such a pass
    /// waits for something that has no timeout. Calls to the API server have [`Timeouts`](crate::Timeouts). Default:
    /// [`DEFAULT_PASS_LIMIT`].
    #[must_use]
    pub fn pass_limit(mut self, limit: Duration) -> Self {
        self.settings.pass_limit = limit;
        self
    }

    /// Sets whether the controller records events. Only then does the role have a rule for them. Default: on.
    ///
    /// An event about an object in a bucket regards a child of the object in Kubernetes, or the Pod of the operator if there is none. Its
    /// `related` is the object. Without Kubernetes, the events are in a bucket.
    #[must_use]
    pub fn events(mut self, on: bool) -> Self {
        self.settings.events = on;
        self
    }

    /// Controls only the objects that have all of these labels. The API server applies the selector to the list and the watch. An
    /// object that loses a label is torn down as if it were deleted, even if it lost the label while no operator ran: its
    /// children are removed, then the finalizer. To run several installations side by side, each for a class of objects, give
    /// their operators different names. A kind with a selector has no finalizer policy. Default: all objects.
    #[must_use]
    pub fn labels<N: Into<String>, V: Into<String>>(mut self, labels: impl IntoIterator<Item = (N, V)>) -> Self {
        self.settings.selection.labels.extend(labels.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Selects primaries like [`Controller::labels`], by fields: `[("spec.class", "blue")]`. The kind's definition must list them
    /// as `selectableFields` (`#[kube(selectable = ".spec.class")]`); `metadata.name` and `metadata.namespace` work for every
    /// kind.
    #[must_use]
    pub fn fields<N: Into<String>, V: Into<String>>(mut self, fields: impl IntoIterator<Item = (N, V)>) -> Self {
        self.settings.selection.fields.extend(fields.into_iter().map(|(path, value)| (path.into(), value.into())));
        self
    }

    /// Adds no finalizer to the objects, for a controller that has nothing to clean up when one of them is deleted. Its tree is
    /// never torn down, so it has no resource nodes. Default: a finalizer, stored before anything else happens.
    #[must_use]
    pub fn without_finalizer(mut self) -> Self {
        self.settings.finalizer = Some(String::new());
        self
    }

    /// Sets the finalizer. Default: the kind's own, else `<group>/<operator>`; for a foreign kind `opgen.dev/<operator>`.
    #[must_use]
    pub fn finalizer(mut self, name: impl Into<String>) -> Self {
        self.settings.finalizer = Some(name.into());
        self
    }

    /// Sets the prefix of the controller's condition types: with `Dns` they are `DnsAvailable`, `DnsReady`, `DnsReconciling` and
    /// `DnsStalled`. A domain such as `dns.example.com/` is possible as well. Use it for a controller of a part of an object that
    /// another controller controls as a whole: only the controller without prefix writes `observedGeneration`, and kstatus reads
    /// its conditions. Default: empty.
    ///
    /// Two controllers of a kind that write the same types would overwrite each other forever, so such an operator doesn't start.
    /// It is no compile error, because prefixes and selections are values. If the other controller belongs to another operator and
    /// there was no object yet when both started, it logs an error about 10 s after an object has the finalizers of both.
    #[must_use]
    pub fn condition_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.condition_prefix = prefix.into();
        self
    }

    /// Runs a function once per process, before anything is watched: to check options, or to read what the options depend on. An
    /// error ends the operator. With leader election it runs in every replica, and its client can only read. Default: none.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{Namespace, ResourceQuota};
    /// # use opgen::prelude::*;
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Namespace>)]
    /// # struct Tree {
    /// #     #[provisioner(resource)]
    /// #     quota: ResourceQuota,
    /// # }
    /// # impl Tree {
    /// #     fn quota(_: &Namespace) -> ResourceQuota { ResourceQuota::default() }
    /// # }
    /// # let operator =
    /// Operator::new("demo").controls_with::<Foreign<Namespace>, Tree>(|c| {
    ///     c.initialize(async |client| {
    ///         let version = client.apiserver_version().await?;
    ///         tracing::info!(%version.git_version, "connected");
    ///         Ok(())
    ///     })
    /// })
    /// # ;
    /// ```
    #[must_use]
    pub fn initialize<F>(mut self, hook: impl Fn(kube::Client) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.settings.initialize = Some(InitializeHook(Arc::new(move |client| hook(client).boxed())));
        self
    }

    /// Runs an [`UpgradeHook`] once for each [version](crate::Operator::version) of the operator, before the first pass of this
    /// controller. The role gets the permissions that the attribute of the hook declares. A failed hook runs again and does not end
    /// the operator. Default: none.
    #[must_use]
    pub fn upgrade<H: UpgradeHook>(mut self) -> Self {
        self.settings.upgrade = Some(BoxUpgradeHook::new::<H>());
        self
    }

    /// Sets the options that the tree reads as `cx.options()`.
    #[must_use]
    pub fn options(mut self, options: O::Options) -> Self {
        self.options = Arc::new(options);
        self
    }

    /// Sets the sample object in the manifests. Default: made from the schema.
    #[must_use]
    pub fn sample(mut self, object: &O::Object) -> Self {
        self.settings.sample = serde_json::to_value(object).ok();
        self
    }

    /// Returns the finalizer of the primaries: the one in the settings of the controller, else the one that the kind defines, else a
    /// default made from the name of the operator.
    pub(crate) fn finalizer_of(&self, operator: &str) -> String {
        let configured = self.settings.finalizer.clone().or_else(|| O::Object::FINALIZER.map(str::to_owned));
        // The operator may not use names in the domain of a foreign kind, and the core group has no domain.
        let default_domain =
            || if O::Object::DEFINITION.is_some() { O::Object::kind().group } else { "opgen.dev".into() };
        configured.unwrap_or_else(|| format!("{}/{operator}", default_domain()))
    }
}

impl<O: Owner> fmt::Debug for Controller<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("settings", &self.settings).finish_non_exhaustive()
    }
}
