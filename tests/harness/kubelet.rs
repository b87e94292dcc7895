//! Plays the kubelet of one node: Pods run and are ready as soon as they are seen, so what is made of them becomes
//! available.

use std::{thread::JoinHandle, time::Duration};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt as _, watcher},
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{Access, wait};

/// On a Pod: how it fares, in the words of [`Fate`]. It may change while the Pod lives.
pub const ANNOTATION: &str = "opgen.test/pod";

/// The name of the only node.
pub const NODE: &str = "plane";

/// The kubelet's clock: Pods are as old as can be, so `minReadySeconds` holds nobody up.
const EPOCH: &str = "2026-01-01T00:00:00Z";

/// Longer than any outage that a test makes.
const OUTAGE: Duration = Duration::from_secs(600);

/// How a Pod fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// `ready`: runs and is ready; the default of a Pod whose containers are always restarted.
    Ready,
    /// `unready`: runs and does not get ready.
    Unready,
    /// `crashing`: a container waits in `CrashLoopBackOff`.
    Crashing,
    /// `restarting`: as `crashing`, between two waits: a container runs, after some that have crashed.
    Restarting,
    /// `pulling`: a container waits in `ImagePullBackOff`.
    Pulling,
    /// `pending`: nothing happens to it.
    Pending,
    /// `failed`: it has ended with an error.
    Failed,
    /// `succeeded`: it has ended well; the default of a Pod that is not always restarted, as a Job's.
    Succeeded,
}

impl Fate {
    /// A word that means nothing is `pending`, so the test that misspelt it times out with the Pod's text.
    fn of(pod: &Pod) -> Self {
        let always = pod.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()).unwrap_or("Always") == "Always";
        match pod.annotations().get(ANNOTATION).map(String::as_str) {
            None if always => Self::Ready,
            Some("ready") => Self::Ready,
            Some("unready") => Self::Unready,
            Some("crashing") => Self::Crashing,
            Some("restarting") => Self::Restarting,
            Some("pulling") => Self::Pulling,
            Some("failed") => Self::Failed,
            None | Some("succeeded") => Self::Succeeded,
            Some(_) => Self::Pending,
        }
    }
}

/// A thread with its own tokio runtime, so that it lives as long as its plane and not as the test that started it.
#[derive(Debug)]
pub(crate) struct Kubelet {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Kubelet {
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
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().map(JoinHandle::join);
    }
}

async fn run(client: Client) {
    register(&client).await;
    let pods = watcher(Api::<Pod>::all(client.clone()), watcher::Config::default()).default_backoff().applied_objects();
    // An error of the watch is over when the server is back.
    let pods = pods.filter_map(|event| std::future::ready(event.ok()));
    pods.for_each_concurrent(16, |pod| attend(&client, pod)).await;
}

/// Gives a Pod its status, or, if it was bound to the node and is deleted, lets it go.
async fn attend(client: &Client, pod: Pod) {
    let pods = Api::<Pod>::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let (name, status) = (pod.name_any(), next_status(&pod));
    let deleted = pod.metadata.deletion_timestamp.is_some();
    if !deleted && status.is_none() {
        return;
    }
    let patch = Patch::Merge(json!({"status": status}));
    wait::until(format!("the kubelet's word on the pod {name} is heard"), OUTAGE, async || {
        let answer = if deleted {
            pods.delete(&name, &DeleteParams::default().grace_period(0)).await.map(drop)
        } else {
            pods.patch_status(&name, &PatchParams::default(), &patch).await.map(drop)
        };
        match answer {
            Err(kube::Error::Api(refusal)) if refusal.code == 404 => Ok(()),
            answer => answer.map_err(|error| error.to_string()),
        }
    })
    .await;
}

/// Makes the node and takes off the taint that admission puts on every new one.
async fn register(client: &Client) {
    let nodes = Api::<Node>::all(client.clone());
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}});
    let node: Node = serde_json::from_value(node).expect("a node");
    let _ = nodes.create(&PostParams::default(), &node).await;
    let spec = Patch::Merge(json!({"spec": {"taints": null}}));
    let _ = nodes.patch(NODE, &PatchParams::default(), &spec).await;
    let ready = json!({"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": EPOCH, "lastHeartbeatTime": EPOCH});
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "10000"});
    let status = Patch::Merge(json!({"status": {"conditions": [ready], "capacity": room, "allocatable": room}}));
    let _ = nodes.patch_status(NODE, &PatchParams::default(), &status).await;
}

/// The status that the Pod should have, or `None` if it has it.
fn next_status(pod: &Pod) -> Option<Value> {
    let fate = Fate::of(pod);
    let phase = match fate {
        Fate::Pending => return None,
        Fate::Ready | Fate::Unready | Fate::Crashing | Fate::Restarting => "Running",
        Fate::Pulling => "Pending",
        Fate::Failed => "Failed",
        Fate::Succeeded => "Succeeded",
    };
    let ready = fate == Fate::Ready;
    let (state, now) = (container_state(fate), pod.status.clone().unwrap_or_default());
    let conditions = now.conditions.unwrap_or_default();
    let same_readiness = conditions.iter().any(|c| c.type_ == "Ready" && (c.status == "True") == ready);
    let containers = now.container_statuses.unwrap_or_default();
    let same_state = containers.iter().all(|c| serde_json::to_value(&c.state).is_ok_and(|now| includes(&now, &state)));
    if now.phase.as_deref() == Some(phase) && same_readiness && same_state {
        return None;
    }
    let crashes = matches!(fate, Fate::Crashing | Fate::Restarting);
    let (restarts, last) = if crashes { (5, container_state(Fate::Failed)) } else { (0, json!({})) };
    let statuses = pod.spec.iter().flat_map(|spec| &spec.containers).map(|container| {
        let image = container.image.clone().unwrap_or_default();
        json!({"name": container.name, "image": image, "imageID": image, "ready": ready, "started": true,
               "restartCount": restarts, "state": state, "lastState": last})
    });
    let reason = (!ready).then_some("ContainersNotReady");
    let condition = |kind, holds: bool| json!({"type": kind, "status": if holds { "True" } else { "False" }, "lastTransitionTime": EPOCH, "reason": reason});
    let conditions = [("PodScheduled", true), ("Initialized", true), ("ContainersReady", ready), ("Ready", ready)];
    let ip = address(pod);
    Some(json!({
        "phase": phase,
        "conditions": conditions.map(|(kind, holds)| condition(kind, holds)),
        "containerStatuses": statuses.collect::<Vec<_>>(),
        "hostIP": "127.0.0.1",
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "startTime": EPOCH,
    }))
}

fn container_state(fate: Fate) -> Value {
    match fate {
        Fate::Crashing => json!({"waiting": {"reason": "CrashLoopBackOff"}}),
        Fate::Pulling => json!({"waiting": {"reason": "ImagePullBackOff"}}),
        Fate::Failed => json!({"terminated": {"exitCode": 1, "reason": "Error"}}),
        Fate::Succeeded => json!({"terminated": {"exitCode": 0, "reason": "Completed"}}),
        Fate::Pending | Fate::Ready | Fate::Unready | Fate::Restarting => json!({"running": {"startedAt": EPOCH}}),
    }
}

/// Whether `whole` has everything that `part` has; the server adds defaults.
fn includes(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|own| includes(own, value)))
        }
        _ => whole == part,
    }
}

/// An address made of the uid: endpoints want one, nobody calls it.
fn address(pod: &Pod) -> String {
    let uid = pod.uid().unwrap_or_default();
    let byte = |at: usize| uid.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(1);
    format!("10.{}.{}.{}", byte(0), byte(2), byte(4))
}
