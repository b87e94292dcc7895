//! Plays the kubelet of the only node: Pods run as soon as they are bound, or fare as an annotation says.

use serde_json::{Value, json};

use super::{
    super::{Controller, Next, Outcome, Watches},
    Actor, Key, Refused, Seen,
    pods::{self, PODS},
};
use crate::object;

/// The name of the node.
pub(super) const NODE: &str = "plane";
pub(super) const USER: &str = "system:node:plane";
const NODES: &str = "nodes";

/// On a Pod: how it fares. It may change while the Pod lives.
const ANNOTATION: &str = "opgen.test/pod";

/// The kubelet's clock: Pods are as old as can be, so `minReadySeconds` holds nobody up.
const EPOCH: &str = "2026-01-01T00:00:00Z";

#[derive(Debug)]
pub(super) struct Kubelet;

/// How a Pod fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Ready,
    /// It runs and doesn't get ready.
    Unready,
    /// A container waits in `CrashLoopBackOff`.
    Crashing,
    /// As `Crashing`, between two waits.
    Restarting,
    /// A container waits in `ImagePullBackOff`.
    Pulling,
    /// Nothing happens to it.
    Pending,
    Failed,
    Succeeded,
}

impl Fate {
    /// A Pod that is always restarted gets ready, another ends well. An unknown word is `pending`.
    fn of(pod: &Value) -> Self {
        match pod["metadata"]["annotations"][ANNOTATION].as_str() {
            None if matches!(object::text(pod, &["spec", "restartPolicy"]), "" | "Always") => Self::Ready,
            None | Some("succeeded") => Self::Succeeded,
            Some("ready") => Self::Ready,
            Some("unready") => Self::Unready,
            Some("crashing") => Self::Crashing,
            Some("restarting") => Self::Restarting,
            Some("pulling") => Self::Pulling,
            Some("failed") => Self::Failed,
            Some(_) => Self::Pending,
        }
    }

    fn phase(self) -> &'static str {
        match self {
            Self::Ready | Self::Unready | Self::Crashing | Self::Restarting => "Running",
            Self::Pulling | Self::Pending => "Pending",
            Self::Failed => "Failed",
            Self::Succeeded => "Succeeded",
        }
    }

    fn container_state(self) -> Value {
        match self {
            Self::Crashing => json!({"waiting": {"reason": "CrashLoopBackOff"}}),
            Self::Pulling => json!({"waiting": {"reason": "ImagePullBackOff"}}),
            Self::Failed => terminated(1, "Error"),
            Self::Succeeded => terminated(0, "Completed"),
            Self::Pending | Self::Ready | Self::Unready | Self::Restarting => json!({"running": {"startedAt": EPOCH}}),
        }
    }
}

fn terminated(code: i64, reason: &str) -> Value {
    json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": null, "finishedAt": null}})
}

impl Controller for Kubelet {
    type Key = Key;

    fn watches(&self) -> Watches {
        Watches::Shelves(&[PODS])
    }

    fn told(&mut self, _: &Actor, _: &str, seen: &Seen) -> Vec<Key> {
        if seen.gone { Vec::new() } else { vec![pods::key(seen)] }
    }

    /// The node, which is in no namespace.
    fn begin(&self) -> Vec<Key> {
        vec![(String::new(), NODE.to_owned())]
    }

    async fn reconcile(&mut self, actor: &Actor, (namespace, name): &Key) -> Outcome {
        if namespace.is_empty() {
            return register(actor).await;
        }
        let kind = actor.known(PODS)?;
        let Some(pod) = actor.get(&kind, namespace, name) else { return Ok(Next::Rest) };
        if object::text(&pod, &["spec", "nodeName"]).is_empty() {
            return Ok(Next::Rest);
        }
        let at = (namespace.as_str(), name.as_str());
        let answer = if object::is_deleting(&pod) {
            if object::number(&pod, &["metadata", "deletionGracePeriodSeconds"]) == Some(0) {
                return Ok(Next::Rest);
            }
            let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": object::uid(&pod)}});
            actor.delete(&kind, at, &options).await
        } else {
            let Some(status) = next_status(&pod) else { return Ok(Next::Rest) };
            actor.merge(&kind, at, "status", &json!({"status": status})).await
        };
        match answer {
            Err(refused) if !refused.is_gone() => Err(refused),
            _ => Ok(Next::Rest),
        }
    }
}

/// Makes the node, ready, and takes off the taint that admission puts on every new one.
async fn register(actor: &Actor) -> Outcome {
    let kind = actor.known(NODES)?;
    let labels = json!({"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux"});
    let node = json!({"metadata": {"name": NODE, "labels": labels}});
    let made = actor.create(&kind, &node).await;
    let there = |answer: Result<Value, Refused>| match answer {
        Err(refused) if !refused.is_there_already() => Err(refused),
        _ => Ok(()),
    };
    there(made)?;
    actor.merge(&kind, ("", NODE), "", &json!({"spec": {"taints": null}})).await?;
    let ready = json!({"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": EPOCH, "lastHeartbeatTime": EPOCH});
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "10000"});
    let status = json!({"conditions": [ready], "capacity": room, "allocatable": room});
    actor.merge(&kind, ("", NODE), "status", &json!({"status": status})).await?;
    Ok(Next::Rest)
}

/// The status that the Pod should have, or `None` if it has it.
fn next_status(pod: &Value) -> Option<Value> {
    let fate = Fate::of(pod);
    let now = &pod["status"];
    let ready = fate == Fate::Ready;
    let listed = |name: &str| now[name].as_array().into_iter().flatten();
    let mut conditions = listed("conditions");
    let same_readiness = conditions.any(|own| own["type"] == "Ready" && (own["status"] == "True") == ready);
    let state = fate.container_state();
    let same_state = listed("containerStatuses").all(|container| includes(&container["state"], &state));
    if fate == Fate::Pending || now["phase"] == fate.phase() && same_readiness && same_state {
        return None;
    }
    let crashes = matches!(fate, Fate::Crashing | Fate::Restarting);
    let (restarts, last) = if crashes { (5, Fate::Failed.container_state()) } else { (0, json!({})) };
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten().map(|container| {
        json!({"name": container["name"], "image": container["image"], "imageID": container["image"], "ready": ready,
               "started": true, "restartCount": restarts, "state": state, "lastState": last})
    });
    let condition = |(type_, holds): (&str, bool)| {
        let mut condition = json!({"type": type_, "status": if holds { "True" } else { "False" }, "lastProbeTime": null, "lastTransitionTime": EPOCH});
        if !ready {
            condition["reason"] = "ContainersNotReady".into();
        }
        condition
    };
    let conditions = [("PodScheduled", true), ("Initialized", true), ("ContainersReady", ready), ("Ready", ready)];
    let ip = address(object::uid(pod));
    Some(json!({
        "phase": fate.phase(),
        "conditions": conditions.map(condition),
        "containerStatuses": containers.collect::<Vec<_>>(),
        "hostIP": "127.0.0.1",
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "startTime": EPOCH,
    }))
}

/// Whether `whole` has everything that `part` has; null is nothing.
fn includes(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| value.is_null() || whole.get(key).is_some_and(|own| includes(own, value)))
        }
        _ => whole == part,
    }
}

/// An address made of the uid: endpoints want one, nobody calls it.
fn address(uid: &str) -> String {
    let byte = |at: usize| uid.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(1);
    format!("10.{}.{}.{}", byte(0), byte(2), byte(4))
}
