//! One pass over one object: what all nodes of its tree share.

use crate::{
    cache::{Header, ObjectKey, OwnWrites, ResourceVersion, Uid},
    client::Client,
    environment::Environment,
    error::{Error, Result},
    event::{Recorder, Regarding},
    kind::Kind,
    managed::Managed,
    provisioner::{child::Child, made::Blackboard, mark::Mark, memory::Memory, trial::World, unchanged::ByNode},
    reference::Targets,
    watch::Watched,
};
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// What all passes of one controller share.
pub(crate) struct Shared {
    pub(crate) client: Client,
    /// Name of the operator: its field manager, and the value of its label.
    pub(crate) operator: String,
    /// The namespace the operator runs in.
    pub(crate) namespace: String,
    pub(crate) environment: Environment,
    pub(crate) recorder: Recorder,
    /// The kinds of the tree's resource nodes, by their full names.
    pub(crate) children: BTreeMap<Kind, Arc<Watched<Child>>>,
    /// The kinds that specs name objects of.
    pub(crate) targets: BTreeMap<Kind, Arc<Targets>>,
    /// By the kind of the children's store; `None` for that of the primaries, which may be of a child's kind.
    pub(crate) own_writes: OwnWrites<Option<Kind>>,
    pub(crate) memory: Mutex<Memory>,
    /// Stands in for the cluster in a test without one.
    pub(crate) trial: Option<Arc<World>>,
}

impl Shared {
    pub(crate) fn children(&self, kind: &Kind) -> Result<&Watched<Child>> {
        let children = self.children.get(kind).map(Arc::as_ref);
        children.ok_or_else(|| Error::terminal("NotWatched", format!("{kind} is in no tree of this controller")))
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("operator", &self.operator).finish_non_exhaustive()
    }
}

/// Which object a pass is about.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
}

impl Identity {
    pub(crate) fn name(&self) -> &str {
        self.key.name()
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        self.key.namespace()
    }

    /// Where what is made for it lives, unless that says otherwise: with it, or for a Namespace in it.
    pub(crate) fn home(&self) -> Option<&str> {
        let is_namespace = self.kind.group.is_empty() && self.kind.kind == "Namespace";
        if is_namespace { Some(self.name()) } else { self.namespace() }
    }

    /// Who the owner is, where no owner reference can say it.
    pub(crate) fn mark(&self) -> String {
        let (kind, uid) = (self.kind.full_name(), self.uid.to_string());
        let namespace = self.namespace().unwrap_or_default();
        Mark { kind: &kind, namespace, name: self.name(), uid: &uid }.to_string()
    }

    pub(crate) fn regarding(&self) -> Regarding {
        Regarding { kind: self.kind.clone(), key: self.key.clone(), uid: self.uid.clone() }
    }
}

/// The part of a pass that knows no types.
pub(crate) struct Core<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) owner: Identity,
    /// The state of the owner that the pass is about, as a number.
    pub(crate) inputs: u64,
    /// Which node has built which object in this pass.
    claims: Mutex<HashMap<(Kind, ObjectKey), Arc<str>>>,
    by_node: Mutex<HashMap<Kind, ByNode>>,
    /// Whether the object is to be looked at again although all is well.
    pub(crate) again: Arc<AtomicBool>,
    /// What the nodes have made, for those that read it.
    pub(crate) made: Blackboard,
}

impl<'a> Core<'a> {
    pub(crate) fn new(shared: &'a Shared, owner: Identity, version: &ResourceVersion) -> Self {
        let mut hasher = DefaultHasher::new();
        version.hash(&mut hasher);
        Self {
            shared,
            owner,
            inputs: hasher.finish(),
            claims: Mutex::default(),
            by_node: Mutex::default(),
            again: Arc::default(),
            made: Blackboard::default(),
        }
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.shared.memory()
    }

    pub(crate) fn by_node(&self) -> MutexGuard<'_, HashMap<Kind, ByNode>> {
        self.by_node.lock()
    }

    /// Has the object looked at again after the requeue interval, although all is well.
    pub(crate) fn look_again(&self) {
        self.again.store(true, Ordering::Relaxed);
    }

    /// Two nodes that build one object would take it from each other in every pass.
    pub(crate) fn claim(&self, kind: &Kind, key: &ObjectKey, node: &Arc<str>) -> Result<()> {
        match self.claims.lock().insert((kind.clone(), key.clone()), node.clone()) {
            Some(other) => {
                let message = format!("{kind} {key} is built twice: by node {other} and by node {node}");
                Err(Error::terminal("InvalidChild", message))
            }
            None => Ok(()),
        }
    }

    /// Notes an own write, so that the next pass waits until the cache has it [Y1].
    pub(crate) fn wrote<V>(&self, children: &Watched<V>, header: &Header) {
        let (owner, kind) = (&self.owner, children.kind.clone());
        self.shared.own_writes.record(&owner.key, &owner.uid, Some(kind), &header.resource_version);
    }
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
    /// What provisioners have set; written once, at the end of the pass [R6].
    pub(crate) status: Mutex<K::Status>,
    pub(crate) core: Core<'a>,
}

impl<K: Managed, X> fmt::Debug for Pass<'_, K, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").field("owner", &self.core.owner).finish_non_exhaustive()
    }
}
