//! Tests provisioner trees, webhooks and drivers without a cluster: `TreeHarness` records the calls of nodes and simulates their results,
//! `AdmissionHarness` calls webhooks, and `ApplicationHarness` resolves applications for drivers.
//!
//! In a [`TreeHarness`] every resource node, every [`External`](crate::external::External) node and every [`Recorder`] records its call and
//! returns the answer that the test sets; no request leaves the process. Custom nodes run as they are; their API calls fail, since there
//! is no API server.

mod bucket_client;

#[doc(hidden)]
pub use bucket_client::bucket_client;

pub use crate::{
    cd::harness::ApplicationHarness,
    engine::tree_harness::{Answer, Call, NodeAction},
    provisioner::tree_harness::Recorder,
    webhook::{
        harness::{AdmissionHarness, AdmissionOutcome},
        responder::WebhookResponder,
    },
};

use crate::{
    cache::{ObjectKey, ResourceVersion, Uid},
    client::Client,
    context::{Context, Teardown},
    engine::{
        controller_state::{ControllerFacts, ControllerState},
        identity::{Identity, OwnerNaming},
        pass::{Pass, PassCore, status_value},
        tree_harness::FakeCluster,
    },
    environment::Environment,
    error::Result,
    event,
    managed::{Managed, Owner},
    provisioner::{Provision, schedule::catch_panic},
    shape::Provisioner,
};
use parking_lot::Mutex;
use serde_json::Value;
use std::{collections::BTreeSet, fmt, marker::PhantomData, sync::Arc};

/// A test of a tree: an object, the simulated answers of the nodes, and the record of their calls.
///
/// # Example
///
/// ```
/// # use opgen::prelude::*;
/// # use opgen::testing::{Answer, Recorder, TreeHarness};
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
/// let harness = TreeHarness::<WebApp, Tree>::new(app);
/// harness.answer("config", Answer::Yield);
/// assert!(matches!(harness.up().await, Err(Error::Yield { .. })));
/// assert_eq!(harness.called(), ["provision config: yield"]);
/// harness.answer("config", Answer::Ok);
/// assert!(harness.up().await.is_ok() && harness.down().await.is_ok());
/// assert_eq!(
///     harness.called(),
///     ["provision config", "provision workload", "deprovision workload", "deprovision config"]
/// );
/// # }
/// ```
pub struct TreeHarness<O: Owner, P> {
    object: Mutex<O::Object>,
    options: O::Options,
    shared: Arc<ControllerState>,
    cluster: Arc<FakeCluster>,
    tree: PhantomData<fn() -> P>,
}

impl<O, P> TreeHarness<O, P>
where
    O: Owner<Item = ()>,
    P: Provision<O> + Provisioner<Inputs = ()>,
{
    /// Returns a harness in which every node succeeds.
    pub fn new(object: O::Object) -> Self
    where
        O::Options: Default,
    {
        Self::with_options(object, O::Options::default())
    }

    /// Returns a harness of a tree with options.
    pub fn with_options(object: O::Object, options: O::Options) -> Self {
        let cluster = Arc::new(FakeCluster::default());
        let facts = ControllerFacts {
            operator: "tree_harness".to_owned(),
            namespace: "tree_harness-system".to_owned(),
            environment: Environment::system(),
            recorder: event::EventRecorder::disabled(),
            counters: Default::default(),
            metrics: Default::default(),
        };
        let shared = Arc::new(ControllerState {
            tree_harness: Some(cluster.clone()),
            ..ControllerState::new(Client::disconnected(), facts)
        });
        Self { object: Mutex::new(object), options, shared, cluster, tree: PhantomData }
    }

    /// Returns the object, which the test may change between two passes.
    pub fn object(&mut self) -> &mut O::Object {
        self.object.get_mut()
    }

    /// Returns the status that the passes so far have set, without the conditions of the control loop.
    pub fn status(&self) -> Option<<O::Object as Managed>::Status> {
        self.object.lock().status().cloned()
    }

    /// Sets the answer of a node for all further passes. The path of the node contains keys (`pools[blue]/service`).
    pub fn answer(&self, node: &str, answer: Answer) {
        self.cluster.answer(node, answer);
    }

    /// Runs one provisioning pass.
    ///
    /// # Errors
    /// Fails with the error of the tree.
    pub async fn up(&self) -> Result<()> {
        self.pass(async |pass| P::provision(&Context::root(pass)).await).await
    }

    /// Runs one deprovisioning pass.
    ///
    /// # Errors
    /// Fails with the error of the tree.
    pub async fn down(&self) -> Result<()> {
        self.pass(async |pass| P::deprovision(&Teardown::root(pass)).await).await
    }

    /// Returns the text of the calls since the last call of this method, in order; see [`Call`].
    pub fn called(&self) -> Vec<String> {
        self.calls().iter().map(ToString::to_string).collect()
    }

    /// Returns the calls since the last call of this method, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.cluster.take_calls()
    }

    /// Returns the objects that a resource node has built in its last call, as JSON.
    pub fn objects(&self, node: &str) -> Vec<Value> {
        let objects = self.cluster.output_objects(node);
        objects.iter().map(|object| serde_json::from_slice(&object.json).unwrap_or_default()).collect()
    }

    /// Returns the paths of the nodes that were provisioned and not deprovisioned.
    pub fn provisioned_nodes(&self) -> BTreeSet<String> {
        self.cluster.nodes_with_objects()
    }

    /// Runs one pass over the object: calls `run` with a new pass, turns a panic into an error, and stores the status that the pass has
    /// set. Returns the outcome of `run`.
    async fn pass(&self, run: impl AsyncFnOnce(&Pass<'_, O::Object, O::Options>) -> Result<()>) -> Result<()> {
        let object = self.object.lock().clone();
        let metadata = object.metadata();
        let name = metadata.name.clone().unwrap_or_default();
        let uid = metadata.uid.clone().unwrap_or_default();
        let version = ResourceVersion::from(metadata.resource_version.as_deref().unwrap_or_default());
        let key = ObjectKey::new(metadata.namespace.as_deref(), &name);
        let naming = if O::Object::BUCKET.is_some() { OwnerNaming::Mark } else { OwnerNaming::Reference };
        let owner = Identity { kind: O::Object::kind(), key, uid: Uid::from(uid.as_str()), naming };
        let core = PassCore::new(&self.shared, owner, &version);
        let pass = Pass::new(&object, &self.options, core);
        let outcome = catch_panic(run(&pass)).await;
        let old_status = status_value(&object.status().cloned().unwrap_or_default());
        if let Some(status) = pass.changed_status().filter(|status| *status != old_status) {
            self.store_status(&object, status)?;
        }
        outcome
    }

    /// Sets the status of the harness's object, so that the next pass reads it, as the control loop would write it to the API server.
    fn store_status(&self, object: &O::Object, status: Value) -> Result<()> {
        let mut object = serde_json::to_value(object)?;
        object["status"] = status;
        *self.object.lock() = serde_json::from_value(object)?;
        Ok(())
    }
}

impl<O: Owner, P> fmt::Debug for TreeHarness<O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeHarness").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}
