//! An operator without Kubernetes: a barrel is an entry, and so are its children, a tap and a `ConfigMap`.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::{
    RunError, RunOptions,
    bucket::OpenBuckets,
    manager::{Runnable, RunnableContext},
    prelude::*,
};
use opgen_tests::wait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::timeout,
};

pub(crate) const BARRELS: &str = "barrels";
pub(crate) const TAPS: &str = "taps";
pub(crate) const CONFIG_MAPS: &str = "cellar-configmaps";
pub(crate) const LEASES: &str = "cellar-leases";

/// The end of the key of the Lease of the operator.
pub(crate) const LEASE: &str = ".cellar.opgen.dev";

/// All buckets of the operator.
pub(crate) const BUCKETS: [&str; 7] =
    [BARRELS, TAPS, CONFIG_MAPS, LEASES, "cellar-events", "cellar-core-events", "cellar-secrets"];

/// A barrel, whose objects are in a bucket.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "cellar.example.com", version = "v1", kind = "Barrel", namespaced, status = "Status")]
#[managed(nats(bucket = "barrels"))]
pub(crate) struct BarrelSpec {
    text: String,
}

/// A tap, which is in another bucket and has no controller.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "cellar.example.com", version = "v1", kind = "Tap", namespaced, status = "Status")]
#[managed(nats(bucket = "taps"))]
pub(crate) struct TapSpec {
    text: String,
}

/// Counts the passes over each barrel.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassCounts(Arc<Mutex<BTreeMap<String, usize>>>);

impl PassCounts {
    /// Returns the number of passes over the barrel of this name.
    pub(crate) fn of(&self, name: &str) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or_default()
    }

    /// Returns the number of teardowns of the barrel of this name.
    pub(crate) fn teardowns_of(&self, name: &str) -> usize {
        self.of(&teardown(name))
    }

    fn add(&self, name: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
    }
}

/// Returns under what the teardowns of a barrel are counted; no barrel has such a name.
fn teardown(name: &str) -> String {
    format!("{name}/teardown")
}

type CountedBarrel = For<Barrel, PassCounts>;

/// A node that counts the passes, and two children.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = CountedBarrel)]
struct BarrelTree {
    count: CountPass,
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource)]
    tap: Tap,
}

impl BarrelTree {
    fn config(barrel: &Barrel) -> ConfigMap {
        ConfigMap { data: Some([("text".to_owned(), barrel.spec.text.clone())].into()), ..ConfigMap::default() }
    }

    fn tap(barrel: &Barrel) -> Tap {
        Tap::new(&barrel.name_any(), TapSpec { text: barrel.spec.text.clone() })
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct CountPass;

impl Provision<CountedBarrel> for CountPass {
    async fn provision(cx: &Context<'_, CountedBarrel, Self>) -> Result<()> {
        cx.options().add(cx.object().name_any());
        Ok(())
    }

    async fn deprovision(cx: &Teardown<'_, CountedBarrel, Self>) -> Result<()> {
        cx.options().add(teardown(&cx.object().name_any()));
        Ok(())
    }
}

/// Returns the operator, without leader election.
pub(crate) fn operator(buckets: impl OpenBuckets, passes: &PassCounts) -> Operator {
    let passes = passes.clone();
    Operator::new("cellar")
        .buckets(buckets)
        .without_kubernetes()
        .controls_with::<CountedBarrel, BarrelTree>(|controller| controller.options(passes))
        .defines::<Tap>()
}

/// Returns an entry as a client that knows nothing but its spec writes it.
pub(crate) fn bare(text: &str) -> Vec<u8> {
    json!({"spec": {"text": text}}).to_string().into_bytes()
}

/// Returns a client whose every request fails.
pub(crate) fn no_cluster() -> kube::Client {
    let refusal = tower::service_fn(|request: http::Request<kube::client::Body>| {
        let message = format!("there is no API server for {}", request.uri());
        std::future::ready(Err::<http::Response<kube::client::Body>, _>(io::Error::other(message)))
    });
    kube::Client::new(refusal, "default")
}

/// An operator that runs in this process. Dropping it stops it at once.
pub(crate) struct OperatorRun {
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<(), RunError>>,
    is_ready: Arc<Notify>,
}

impl OperatorRun {
    pub(crate) fn start(operator: Operator) -> Self {
        let (stop, mut stopped) = watch::channel(false);
        let is_ready = Arc::new(Notify::new());
        let notify = Arc::clone(&is_ready);
        // Runnables without the lead start when the watches have listed everything.
        let runnable = Runnable::new("ready", move |context: RunnableContext| {
            notify.notify_one();
            async move {
                context.stopped().await;
                Ok(())
            }
        });
        let operator = operator.runnable(runnable.without_lead());
        let task = tokio::spawn(async move {
            let stopped = async { drop(stopped.wait_for(|is_stopped| *is_stopped).await) };
            operator.run_with(no_cluster(), RunOptions::default(), stopped).await
        });
        Self { stop, task, is_ready }
    }

    /// Waits until its watches have listed everything. Can be called once.
    pub(crate) async fn until_ready(&self) {
        let ready = timeout(wait::PATIENCE, self.is_ready.notified()).await;
        assert!(ready.is_ok(), "the operator is not ready within {:?}", wait::PATIENCE);
    }

    /// Asks it to end, and waits for its regular end.
    pub(crate) async fn end(mut self) {
        self.stop.send_replace(true);
        let ended = timeout(wait::PATIENCE, &mut self.task).await.expect("the operator ends in time");
        ended.expect("an operator that does not panic").expect("a regular end");
    }
}

impl Drop for OperatorRun {
    fn drop(&mut self) {
        self.task.abort();
    }
}
