//! A controller: one kind, the tree it is given, and how its passes are scheduled.

pub(crate) mod factory;
pub(crate) mod mapped;
pub(crate) mod running;

use crate::{
    kind::Typed,
    managed::{Managed, Owner},
    queue::Delay,
    reference::NamespacedName,
};
use mapped::Mapped;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

/// How long after an unfinished pass the object is looked at again, if nothing happens before (unikorn §1.3).
pub const REQUEUE: Duration = Duration::from_secs(10);

/// What `operator!` may say of one kind.
pub struct Controller<O: Owner> {
    pub(crate) settings: Settings,
    pub(crate) options: Arc<O::Options>,
}

/// The options of a controller that have no types.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A finalizer instead of the kind's or the operator's own.
    pub finalizer: Option<String>,
    /// How often an object is looked at again although all is well; `None` waits for changes.
    pub poll: Option<Duration>,
    /// How long after a yield.
    pub requeue: Duration,
    /// How long after an unexpected error.
    pub errors: Delay,
    /// How many objects are worked on at a time.
    pub workers: usize,
    /// Whether events are recorded.
    pub events: bool,
    /// The sample that is generated, instead of one made from the schema.
    pub sample: Option<Value>,
    /// The labels of the objects that are meant; without any, all are.
    pub labels: BTreeMap<String, String>,
    /// The other kinds that are followed.
    pub mapped: Vec<Mapped>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            finalizer: None,
            poll: None,
            requeue: REQUEUE,
            errors: Delay::Fixed(REQUEUE),
            // A pass waits for the API most of its time, so more of them than cores are useful.
            workers: 16,
            events: true,
            sample: None,
            labels: BTreeMap::new(),
            mapped: Vec::new(),
        }
    }
}

impl<O: Owner<Options: Default>> Default for Controller<O> {
    fn default() -> Self {
        Self { settings: Settings::default(), options: Arc::default() }
    }
}

impl<O: Owner> Controller<O> {
    /// Looks at every object again after this time, although all is well. Default: only on changes.
    #[must_use]
    pub fn poll(mut self, period: Duration) -> Self {
        self.settings.poll = Some(period);
        self
    }

    /// How long after a yield an object is looked at again; up to a tenth is added. Default: [`REQUEUE`].
    #[must_use]
    pub fn requeue(mut self, after: Duration) -> Self {
        self.settings.requeue = after;
        self
    }

    /// How long after an unexpected error. Default: [`REQUEUE`], the same each time.
    #[must_use]
    pub fn errors(mut self, delay: Delay) -> Self {
        self.settings.errors = delay;
        self
    }

    /// How many objects are worked on at a time; never fewer than one. Default: 16.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.settings.workers = workers.max(1);
        self
    }

    /// Whether events are recorded; the role has a rule for them only then. Default: on.
    #[must_use]
    pub fn events(mut self, on: bool) -> Self {
        self.settings.events = on;
        self
    }

    /// Controls only the objects that have all of these labels. One that loses a label is let go as if it were deleted: what
    /// was made for it is removed, then the finalizer. Default: all objects.
    #[must_use]
    pub fn labels<N: Into<String>, V: Into<String>>(mut self, labels: impl IntoIterator<Item = (N, V)>) -> Self {
        self.settings.labels.extend(labels.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Follows objects of another kind: when one comes, changes or goes, the primaries that `map` names are looked at. A name
    /// without a namespace is one in the namespace of the object. The role gets the right to list and watch the kind; to read
    /// one, a node declares `get`. Default: what the tree makes and what the spec names are followed.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
    /// # use opgen::{NamespacedName, Operator, prelude::*};
    /// # #[derive(Provisioner)]
    /// # #[provisioner(serial, owner = Foreign<Namespace>)]
    /// # struct Tree {
    /// #     #[provisioner(resource)]
    /// #     settings: ConfigMap,
    /// # }
    /// # impl Tree {
    /// #     fn settings(_: &Namespace) -> ConfigMap { ConfigMap::default() }
    /// # }
    /// # let operator =
    /// Operator::new("teams").controls_with::<Foreign<Namespace>, Tree>(|c| {
    ///     // Every change of a ConfigMap concerns the Namespace that it is in.
    ///     c.watches(|config: &ConfigMap| {
    ///         config.metadata.namespace.clone().map(|name| NamespacedName { name, namespace: None })
    ///     })
    /// });
    /// ```
    #[must_use]
    pub fn watches<K, N>(mut self, map: impl Fn(&K) -> N + Send + Sync + 'static) -> Self
    where
        K: Typed + DeserializeOwned,
        N: IntoIterator<Item = NamespacedName>,
    {
        self.settings.mapped.push(Mapped::new(map));
        self
    }

    /// The finalizer. Default: the kind's own, else `<group>/<operator>`; for a foreign kind `opgen.dev/<operator>`.
    #[must_use]
    pub fn finalizer(mut self, name: impl Into<String>) -> Self {
        self.settings.finalizer = Some(name.into());
        self
    }

    /// What the tree can read as `cx.options()`.
    #[must_use]
    pub fn options(mut self, options: O::Options) -> Self {
        self.options = Arc::new(options);
        self
    }

    /// The sample that is generated. Default: made from the schema.
    #[must_use]
    pub fn sample(mut self, object: &O::Object) -> Self {
        self.settings.sample = serde_json::to_value(object).ok();
        self
    }

    pub(crate) fn finalizer_of(&self, operator: &str) -> String {
        let own = self.settings.finalizer.clone().or_else(|| O::Object::FINALIZER.map(str::to_owned));
        // The domain of a foreign kind is not ours to take names from, and the core group has none.
        let domain = || if O::Object::DEFINITION.is_some() { O::Object::kind().group } else { "opgen.dev".into() };
        own.unwrap_or_else(|| format!("{}/{operator}", domain()))
    }
}

impl<O: Owner> fmt::Debug for Controller<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("settings", &self.settings).finish_non_exhaustive()
    }
}
