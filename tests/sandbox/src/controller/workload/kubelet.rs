//! Plays the kubelet of the only node: Pods run as soon as they are bound, or fare as an annotation says.

use serde_json::{Value, json};

use super::{
    super::{Controller, Next, Outcome, Watches},
    Actor, Key, Refused, Seen,
    pods::{self, PODS},
};
use crate::{
    fate::{self, NODE},
    object,
};

pub(super) const USER: &str = "system:node:plane";
const NODES: &str = "nodes";

#[derive(Debug)]
pub(super) struct Kubelet;

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
            let Some(status) = fate::next_status(&pod) else { return Ok(Next::Rest) };
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
    actor.merge(&kind, ("", NODE), "status", &json!({"status": fate::node_status()})).await?;
    Ok(Next::Rest)
}
