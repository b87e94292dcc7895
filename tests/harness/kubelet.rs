//! Simulates the kubelet of one node: Pods run and become ready at once, so that their workloads become available.

use std::{thread::JoinHandle, time::Duration};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt as _, watcher},
};
use opgen_sandbox::pod_status;
pub use opgen_sandbox::pod_status::{ANNOTATION, NODE, PodScenario};
use serde_json::json;
use tokio::sync::oneshot;

use crate::{Access, wait};

/// The time for which the kubelet retries a write; longer than any outage in a test.
const OUTAGE: Duration = Duration::from_secs(600);

/// A kubelet on a thread with its own tokio runtime, so that it lives as long as the plane and not as the test that started it.
#[derive(Debug)]
pub(crate) struct Kubelet {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Kubelet {
    /// Starts the simulated kubelet on a thread of its own, which ends on drop.
    pub(crate) fn start(access: &Access) -> Self {
        let (stop, stopped) = oneshot::channel();
        let access = access.clone();
        let body = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a tokio runtime");
            runtime.block_on(async {
                tokio::select! {
                    () = run(access.client()) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("kubelet".into()).spawn(body).expect("a thread");
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Kubelet {
    /// Ends the thread and waits for its end.
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().map(JoinHandle::join);
    }
}

/// Registers the node, and then watches all Pods and handles each of them, up to 16 at a time.
async fn run(client: Client) {
    register(&client).await;
    let pods = watcher(Api::<Pod>::all(client.clone()), watcher::Config::default()).default_backoff().applied_objects();
    // An error of the watch is ignored: the watch starts again until the server is available.
    let pods = pods.filter_map(|event| std::future::ready(event.ok()));
    pods.for_each_concurrent(16, |pod| handle_pod(&client, pod)).await;
}

/// Writes the next status of a Pod, by the scenario in its annotation. Deletes a Pod that has a deletionTimestamp with a grace period of 0,
/// as a kubelet does when the containers have ended. Repeats the write until it succeeds.
async fn handle_pod(client: &Client, pod: Pod) {
    let pods = Api::<Pod>::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let json = serde_json::to_value(&pod).expect("a Pod as JSON");
    let (name, status) = (pod.name_any(), pod_status::next_status(&json));
    let deleted = pod.metadata.deletion_timestamp.is_some();
    // Nothing to write: the Pod has the last status of its scenario, or stays pending.
    if !deleted && status.is_none() {
        return;
    }
    let patch = Patch::Merge(json!({"status": status}));
    wait::until(format!("the kubelet's write to the Pod {name} succeeds"), OUTAGE, async || {
        let result = if deleted {
            pods.delete(&name, &DeleteParams::default().grace_period(0)).await.map(drop)
        } else {
            pods.patch_status(&name, &PatchParams::default(), &patch).await.map(drop)
        };
        match result {
            // The Pod is gone.
            Err(kube::Error::Api(refusal)) if refusal.code == 404 => Ok(()),
            result => result.map_err(|error| error.to_string()),
        }
    })
    .await;
}

/// Creates the Node, removes the taint that admission adds to every new Node, and reports the Node as ready. Errors are ignored, since the
/// Node may exist already.
async fn register(client: &Client) {
    let nodes = Api::<Node>::all(client.clone());
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}});
    let node: Node = serde_json::from_value(node).expect("a node");
    let _ = nodes.create(&PostParams::default(), &node).await;
    let spec = Patch::Merge(json!({"spec": {"taints": null}}));
    let _ = nodes.patch(NODE, &PatchParams::default(), &spec).await;
    let status = Patch::Merge(json!({"status": pod_status::node_status()}));
    let _ = nodes.patch_status(NODE, &PatchParams::default(), &status).await;
}
