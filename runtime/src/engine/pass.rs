//! One pass over one object: what all nodes of its tree share.

use crate::{
    cache::{Echoes, Header, ObjectKey, OwnWrites, ResourceVersion, Revision, Uid},
    client::{Client, strip_nulls},
    context::Unversioned,
    counters::Counters,
    engine::{
        child::{ByNode, Child},
        claimed::{Claims, Plan},
        identity::Identity,
        memory::Memory,
        output::Blackboard,
        rehearsal::World,
    },
    environment::Environment,
    error::{Error, Result},
    event::EventRecorder,
    informer::watch::{Shows, Watched},
    kind::Kind,
    managed::Managed,
    predicate::Worth,
    queue::Trigger,
    reference::{Graph, Referrers, Targets},
    shape::Shape,
};
use futures::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, OnceLock},
    time::Duration,
};

/// What all passes of one controller share.
pub(crate) struct Shared {
    pub(crate) client: Client,
    /// Name of the operator: its field manager, and the value of its label.
    pub(crate) operator: String,
    /// The namespace the operator runs in.
    pub(crate) namespace: String,
    pub(crate) environment: Environment,
    pub(crate) recorder: EventRecorder,
    /// The kinds of the tree's resource nodes, by their full names.
    pub(crate) children: BTreeMap<Kind, Arc<Watched<Child>>>,
    /// The kinds that specs and nodes name objects of.
    pub(crate) targets: BTreeMap<Kind, Arc<Targets>>,
    /// The kinds that controllers of the operator name objects of, whichever controller does.
    pub(crate) graph: Graph,
    /// Who names what.
    pub(crate) referrers: Mutex<Referrers>,
    /// By the kind of the children's store; `None` for that of the primaries, which may be of a child's kind.
    pub(crate) own_writes: OwnWrites<Option<Kind>>,
    /// Which changes of primaries are own writes.
    pub(crate) echoes: Echoes<Worth>,
    pub(crate) memory: Mutex<Memory>,
    pub(crate) counters: Counters,
    /// All that the watches of the controller show; nothing before they begin.
    pub(crate) watches: OnceLock<Vec<Arc<dyn Shows>>>,
    /// Stands in for the cluster in a test without one.
    pub(crate) rehearsal: Option<Arc<World>>,
}

impl Shared {
    pub(crate) fn children(&self, kind: &Kind) -> Result<&Watched<Child>> {
        let children = self.children.get(kind).map(Arc::as_ref);
        children.ok_or_else(|| Error::terminal("NotWatched", format!("{kind} is in no tree of this controller")))
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock()
    }

    /// What the watches of the controller show of an object; `None` if it watches no such objects.
    pub(crate) fn shown(&self, kind: &Kind, key: &ObjectKey) -> Option<Option<Revision>> {
        let mut watches = self.watches.get()?.iter().filter(|watch| watch.kind() == kind).peekable();
        watches.peek()?;
        Some(watches.find_map(|watch| watch.revision(key)))
    }

    /// Notes an own write of a primary.
    pub(crate) fn wrote(&self, key: &ObjectKey, uid: &Uid, version: &ResourceVersion) {
        self.own_writes.record(key, uid, None, version);
        self.echoes.wrote(key, uid, version);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("operator", &self.operator).finish_non_exhaustive()
    }
}

/// When an object is to be looked at again, as its nodes ask for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Again {
    /// After the requeue interval, although all is well.
    pub(crate) soon: bool,
    /// After this time.
    pub(crate) after: Option<Duration>,
}

/// A tree whose build functions can be asked without a call to the API server.
pub(crate) trait Planner: Send + Sync {
    fn shape(&self) -> &'static Shape;
    /// Runs the build functions in a pass that claims and does nothing else.
    fn plan<'p>(&'p self, core: Core<'p>) -> BoxFuture<'p, Plan>;
}

/// The part of a pass that knows no types.
pub(crate) struct Core<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) owner: Identity,
    /// The state of the owner that the pass is about, as a number.
    pub(crate) inputs: u64,
    /// What the spec of the owner names.
    pub(crate) named: Vec<(Kind, ObjectKey)>,
    /// Why there is a pass.
    pub(crate) trigger: Trigger,
    /// Which node wants which object in this pass.
    pub(crate) claims: Mutex<Claims>,
    /// Says what the nodes want before they run; none on the way down, where no node wants anything.
    pub(crate) planner: Option<&'a dyn Planner>,
    /// What the nodes want, as far as that was known when it was first asked.
    pub(crate) plan: Mutex<Option<Arc<Plan>>>,
    /// The nodes with objects that they don't want any more and that another node may want, in the order in which they are to
    /// be deleted.
    pub(crate) deferred: Mutex<Vec<(Kind, Arc<str>)>>,
    /// Whether the pass only claims: it makes no call to the API server, and runs no hand-written node.
    pub(crate) is_plan: bool,
    by_node: Mutex<HashMap<Kind, ByNode>>,
    /// What functions have read that run in every pass.
    pub(crate) unversioned: Unversioned,
    /// What the pass leaves beside its outcome.
    pub(crate) left: Arc<Left>,
    /// What the nodes have made, for those that read it.
    pub(crate) made: Arc<Blackboard>,
}

impl<'a> Core<'a> {
    pub(crate) fn new(shared: &'a Shared, owner: Identity, version: &ResourceVersion) -> Self {
        let mut hasher = DefaultHasher::new();
        version.hash(&mut hasher);
        Self {
            shared,
            owner,
            inputs: hasher.finish(),
            named: Vec::new(),
            trigger: Trigger::Request,
            claims: Mutex::default(),
            planner: None,
            plan: Mutex::default(),
            deferred: Mutex::default(),
            is_plan: false,
            by_node: Mutex::default(),
            unversioned: Unversioned::default(),
            left: Arc::default(),
            made: Arc::default(),
        }
    }

    /// A pass over the same state that only claims, and knows the outputs that nodes have so far.
    pub(crate) fn for_plan(&self) -> Core<'_> {
        Core {
            shared: self.shared,
            owner: self.owner.clone(),
            inputs: self.inputs,
            named: Vec::new(),
            trigger: self.trigger,
            claims: Mutex::default(),
            planner: None,
            plan: Mutex::default(),
            deferred: Mutex::default(),
            is_plan: true,
            by_node: Mutex::default(),
            unversioned: Unversioned::default(),
            left: Arc::default(),
            made: self.made.clone(),
        }
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.shared.memory()
    }

    /// Whether nothing but children of the owner, and what its nodes wrote, changed since the last pass.
    pub(crate) fn is_for_children(&self) -> bool {
        self.trigger <= Trigger::Children
    }

    pub(crate) fn by_node(&self) -> MutexGuard<'_, HashMap<Kind, ByNode>> {
        self.by_node.lock()
    }

    /// Has the object looked at again after the requeue interval, although all is well.
    pub(crate) fn look_again(&self) {
        self.left.again.lock().soon = true;
    }

    /// Has the object looked at again after a time; the shortest that is asked for holds.
    pub(crate) fn look_again_after(&self, after: Duration) {
        let mut again = self.left.again.lock();
        again.after = Some(again.after.map_or(after, |earlier| earlier.min(after)));
    }

    /// Notes that a node has written the object of the pass itself.
    pub(crate) fn wrote_owner(&self, version: ResourceVersion, status: Value) {
        self.shared.wrote(&self.owner.key, &self.owner.uid, &version);
        *self.left.written.lock() = Some((version, status));
    }

    /// Notes an own write, so that the next pass waits until the cache has it [Y1].
    pub(crate) fn wrote<V>(&self, children: &Watched<V>, header: &Header) {
        let (owner, kind) = (&self.owner, children.kind.clone());
        self.shared.own_writes.record(&owner.key, &owner.uid, Some(kind), &header.resource_version);
    }
}

/// What a pass leaves beside its outcome and the status.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Whether the object is to be looked at again although all is well, and when.
    pub(crate) again: Mutex<Again>,
    /// What is to be said of a pass that ends well.
    pub(crate) said: Mutex<Option<(String, String)>>,
    /// What nodes have referenced.
    pub(crate) referenced: Mutex<Vec<(Kind, ObjectKey)>>,
    /// Whether a node has had the object of the pass itself deleted.
    pub(crate) deleted: Mutex<bool>,
    /// The version that an own write has given the object, and the status that it had then.
    pub(crate) written: Mutex<Option<(ResourceVersion, Value)>>,
}

impl fmt::Debug for Core<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// One pass over one object.
pub(crate) struct Pass<'a, K: Managed, X> {
    pub(crate) object: &'a K,
    pub(crate) options: &'a X,
    /// What provisioners have set; written once, at the end of the pass [R6]. Empty until one asks for it: most passes don't
    /// touch it, and a copy may cost more than all else they do.
    status: Mutex<Option<K::Status>>,
    pub(crate) core: Core<'a>,
}

impl<'a, K: Managed, X> Pass<'a, K, X> {
    pub(crate) fn new(object: &'a K, options: &'a X, core: Core<'a>) -> Self {
        Self { object, options, status: Mutex::new(None), core }
    }

    pub(crate) fn edit_status<T>(&self, edit: impl FnOnce(&mut K::Status) -> T) -> T {
        let mut status = self.status.lock();
        edit(status.get_or_insert_with(|| self.object.status().cloned().unwrap_or_default()))
    }

    /// The status as provisioners have left it, as it is applied; `None` if it is the stored one.
    pub(crate) fn left_status(&self) -> Option<Value> {
        let status = self.status.lock();
        let Some(stored) = self.object.status() else {
            // What a status has from the start belongs to the first one that is written.
            return Some(plain(status.as_ref().unwrap_or(&K::Status::default())));
        };
        let left = status.as_ref()?;
        // As text, since that is far cheaper than as values.
        let text = |status: &K::Status| serde_json::to_vec(status).ok();
        let (left_text, stored_text) = (text(left), text(stored));
        (left_text.is_none() || left_text != stored_text).then(|| plain(left))
    }
}

impl<K: Managed, X> fmt::Debug for Pass<'_, K, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").field("owner", &self.core.owner).finish_non_exhaustive()
    }
}

/// A status as it is applied and compared.
pub(crate) fn plain(status: &impl serde::Serialize) -> Value {
    strip_nulls(serde_json::to_value(status).unwrap_or_default())
}
