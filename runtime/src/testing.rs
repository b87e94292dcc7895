//! Tests of trees without a cluster: who is called, in which order, and what comes of it.
//!
//! In a [`Rehearsal`] every resource node and every [`Recorder`] says that it was called and answers as the test wants; nothing
//! leaves the process. Hand-written nodes run as they are; their calls fail, since there is no API server.

pub use crate::{
    engine::rehearsal::{Answer, Call, NodeAction},
    provisioner::rehearsal::Recorder,
};

use crate::{
    cache::{ObjectKey, ResourceVersion, Uid},
    client::Client,
    context::{Context, Teardown},
    engine::{
        identity::Identity,
        pass::{Core, Pass, Shared, plain},
        rehearsal::World,
    },
    environment::Environment,
    error::Result,
    event,
    managed::{Managed, Owner},
    provisioner::{Provision, schedule::guarded},
    shape::Provisioner,
};
use parking_lot::Mutex;
use serde_json::Value;
use std::{collections::BTreeSet, fmt, marker::PhantomData, sync::Arc};

/// A tree, an object, the answers of the nodes, and what was called.
///
/// ```
/// # use opgen::prelude::*;
/// # use opgen::testing::{Answer, Recorder, Rehearsal};
/// # use kube::CustomResource;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
/// # #[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
/// # pub struct WebAppSpec { image: String }
/// #[derive(Provisioner)]
/// #[provisioner(serial, owner = WebApp)]
/// struct Tree {
///     config: Recorder,
///     workload: Recorder,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let app = WebApp::new("shop", WebAppSpec { image: "shop:1".into() });
/// let rehearsal = Rehearsal::<WebApp, Tree>::new(app);
/// rehearsal.answer("config", Answer::Yield);
/// assert!(matches!(rehearsal.up().await, Err(Error::Yield { .. })));
/// assert_eq!(rehearsal.called(), ["provision config: yield"]);
/// rehearsal.answer("config", Answer::Ok);
/// assert!(rehearsal.up().await.is_ok() && rehearsal.down().await.is_ok());
/// assert_eq!(
///     rehearsal.called(),
///     ["provision config", "provision workload", "deprovision workload", "deprovision config"]
/// );
/// # }
/// ```
pub struct Rehearsal<O: Owner, P> {
    object: Mutex<O::Object>,
    options: O::Options,
    shared: Arc<Shared>,
    world: Arc<World>,
    tree: PhantomData<fn() -> P>,
}

impl<O, P> Rehearsal<O, P>
where
    O: Owner<Item = ()>,
    P: Provision<O> + Provisioner<Takes = ()>,
{
    /// A rehearsal in which every node answers that it is done.
    pub fn new(object: O::Object) -> Self
    where
        O::Options: Default,
    {
        Self::with_options(object, O::Options::default())
    }

    /// A rehearsal of a tree with options.
    pub fn with_options(object: O::Object, options: O::Options) -> Self {
        let world = Arc::new(World::default());
        let shared = Arc::new(Shared {
            client: Client::none(),
            operator: "rehearsal".to_owned(),
            namespace: "rehearsal-system".to_owned(),
            environment: Environment::system(),
            recorder: event::EventRecorder::off(),
            children: Default::default(),
            targets: Default::default(),
            graph: Default::default(),
            referrers: Default::default(),
            own_writes: Default::default(),
            echoes: Default::default(),
            memory: Default::default(),
            counters: Default::default(),
            watches: Default::default(),
            rehearsal: Some(world.clone()),
        });
        Self { object: Mutex::new(object), options, shared, world, tree: PhantomData }
    }

    /// The object, to be changed between two passes.
    pub fn object(&mut self) -> &mut O::Object {
        self.object.get_mut()
    }

    /// The status as the passes so far have left it, without the conditions that the loop would add.
    pub fn status(&self) -> Option<<O::Object as Managed>::Status> {
        self.object.lock().status().cloned()
    }

    /// What a node answers from now on; its path has keys (`pools[blue]/service`).
    pub fn answer(&self, node: &str, answer: Answer) {
        self.world.answer(node, answer);
    }

    /// One pass up.
    ///
    /// # Errors
    /// What the tree ends with.
    pub async fn up(&self) -> Result<()> {
        self.pass(async |pass| P::provision(&Context::root(pass)).await).await
    }

    /// One pass down.
    ///
    /// # Errors
    /// What the tree ends with.
    pub async fn down(&self) -> Result<()> {
        self.pass(async |pass| P::deprovision(&Teardown::root(pass)).await).await
    }

    /// What was called since this was asked last, in order; see [`Call`]'s text.
    pub fn called(&self) -> Vec<String> {
        self.calls().iter().map(ToString::to_string).collect()
    }

    /// What was called since this was asked last, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.world.take_calls()
    }

    /// The objects that a resource node has built last, as JSON.
    pub fn objects(&self, node: &str) -> Vec<Value> {
        let objects = self.world.objects_of(node);
        objects.iter().map(|object| serde_json::from_slice(&object.json).unwrap_or_default()).collect()
    }

    /// The nodes that have made something and not removed it.
    pub fn left(&self) -> BTreeSet<String> {
        self.world.left()
    }

    async fn pass(&self, run: impl AsyncFnOnce(&Pass<'_, O::Object, O::Options>) -> Result<()>) -> Result<()> {
        let object = self.object.lock().clone();
        let metadata = object.metadata();
        let name = metadata.name.clone().unwrap_or_default();
        let uid = metadata.uid.clone().unwrap_or_default();
        let version = ResourceVersion::from(metadata.resource_version.as_deref().unwrap_or_default());
        let key = ObjectKey::new(metadata.namespace.as_deref(), &name);
        let owner = Identity { kind: O::Object::kind(), key, uid: Uid::from(uid.as_str()) };
        let core = Core::new(&self.shared, owner, &version);
        let pass = Pass::new(&object, &self.options, core);
        let outcome = guarded(run(&pass)).await;
        let before = plain(&object.status().cloned().unwrap_or_default());
        if let Some(status) = pass.left_status().filter(|left| *left != before) {
            self.keep(&object, status)?;
        }
        outcome
    }

    /// The next pass finds the status, as it would find what the loop has written.
    fn keep(&self, object: &O::Object, status: Value) -> Result<()> {
        let mut object = serde_json::to_value(object)?;
        object["status"] = status;
        *self.object.lock() = serde_json::from_value(object)?;
        Ok(())
    }
}

impl<O: Owner, P> fmt::Debug for Rehearsal<O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearsal").field("world", &self.world).finish_non_exhaustive()
    }
}
