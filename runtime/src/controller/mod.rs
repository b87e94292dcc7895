//! A controller: one kind, the tree it is given, and how its passes are scheduled.

pub(crate) mod channel;
pub(crate) mod factory;
pub(crate) mod lister;
pub(crate) mod mapped;
mod watches;
pub(crate) mod worker;

use crate::{
    informer::source::Selection,
    managed::{Managed, Owner},
    queue::Delay,
    reconcile::{change::News, next::REQUEUE, tree::Period},
};
use channel::Lane;
use lister::{Kept, ReadView};
use mapped::Mapped;
use serde_json::Value;
use std::{fmt, sync::Arc, time::Duration};

/// What `operator!` may say of one kind.
pub struct Controller<O: Owner> {
    pub(crate) settings: Settings,
    pub(crate) options: Arc<O::Options>,
    pub(crate) period: Option<Period<O::Object>>,
}

/// The options of a controller that have no types.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// A finalizer instead of the kind's or the operator's own; an empty one is none.
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
    /// What the types of the conditions begin with.
    pub condition_prefix: String,
    /// The objects that are meant.
    pub selection: Selection,
    /// The other kinds that are followed.
    pub mapped: Vec<Mapped>,
    /// The kinds of which something is kept.
    pub kept: Vec<Kept>,
    /// The views that are read and that other controllers keep.
    pub read: Vec<ReadView>,
    /// What is listened to, beside watches.
    pub lanes: Vec<Arc<Lane>>,
    /// Which changes of an object are worth a pass, in place of those of what is wanted.
    pub news: Option<News>,
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
            condition_prefix: String::new(),
            selection: Selection::default(),
            mapped: Vec::new(),
            kept: Vec::new(),
            read: Vec::new(),
            lanes: Vec::new(),
            news: None,
        }
    }
}

impl<O: Owner<Options: Default>> Default for Controller<O> {
    fn default() -> Self {
        Self { settings: Settings::default(), options: Arc::default(), period: None }
    }
}

impl<O: Owner> Controller<O> {
    /// Looks at every object again after this time, although all is well. Default: only on changes. Less than 5 ms is
    /// 5 ms, here and wherever a controller is told a time.
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

    /// How long after an unexpected error. Until then changes of children and of other objects lead to no pass; a change of the
    /// object by a user, its deletion and the annotation [`RECONCILE`](crate::RECONCILE) do, and begin the delays anew. A child
    /// that is repaired again and again, since another client changes it back, is such an error, too, with the reason `Fighting`.
    /// Default: [`REQUEUE`], the same each time.
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

    /// Controls only the objects that have all of these labels: the server selects them, for the list and the watch. One that
    /// loses a label is let go as if it were deleted, also if it did so while no operator ran: what was made for it is removed,
    /// then the finalizer. Several installs beside one another, each for a class of objects, are operators of different names.
    /// A kind of which only some objects are meant has no finalizer policy. Default: all objects.
    #[must_use]
    pub fn labels<N: Into<String>, V: Into<String>>(mut self, labels: impl IntoIterator<Item = (N, V)>) -> Self {
        self.settings.selection.labels.extend(labels.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// As [`Controller::labels`], by fields: `[("spec.class", "blue")]`. The kind's definition has to have them among its
    /// `selectableFields` (`#[kube(selectable = ".spec.class")]`); the name and the namespace (`metadata.name`) are in all.
    #[must_use]
    pub fn fields<N: Into<String>, V: Into<String>>(mut self, fields: impl IntoIterator<Item = (N, V)>) -> Self {
        self.settings.selection.fields.extend(fields.into_iter().map(|(path, value)| (path.into(), value.into())));
        self
    }

    /// Puts no finalizer on the objects: for a controller that leaves nothing behind when one of them goes. Its tree is never
    /// torn down, so it has no resource nodes. Default: a finalizer, stored before anything else happens.
    #[must_use]
    pub fn unclaimed(mut self) -> Self {
        self.settings.finalizer = Some(String::new());
        self
    }

    /// The finalizer. Default: the kind's own, else `<group>/<operator>`; for a foreign kind `opgen.dev/<operator>`.
    #[must_use]
    pub fn finalizer(mut self, name: impl Into<String>) -> Self {
        self.settings.finalizer = Some(name.into());
        self
    }

    /// What the types of the controller's conditions begin with: `Dns` makes them `DnsAvailable`, `DnsReady`, `DnsReconciling`
    /// and `DnsStalled`, and a domain such as `dns.example.com/` is possible, too. For a controller that looks after a part of
    /// an object whose other controller says what the whole is: that alone writes `observedGeneration`, and is what kstatus
    /// reads. Two controllers of a kind that write the same types would overwrite each other for ever, so an operator with two
    /// such doesn't start. Default: empty.
    #[must_use]
    pub fn condition_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.condition_prefix = prefix.into();
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
