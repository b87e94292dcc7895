//! Gives each Pod a node.

use serde_json::json;

use super::{
    super::{Controller, Next, Outcome, Watches},
    Actor, Key, Seen,
    pods::{self, PODS},
};
use crate::{fate::NODE, object};

#[derive(Debug)]
pub(super) struct Scheduler;

impl Controller for Scheduler {
    type Key = Key;

    fn watches(&self) -> Watches {
        Watches::Shelves(&[PODS])
    }

    fn told(&mut self, _: &Actor, _: &str, seen: &Seen) -> Vec<Key> {
        if seen.gone || seen.object.deleting { Vec::new() } else { vec![pods::key(seen)] }
    }

    async fn reconcile(&mut self, actor: &Actor, (namespace, name): &Key) -> Outcome {
        let kind = actor.known(PODS)?;
        let Some(pod) = actor.get(&kind, namespace, name) else { return Ok(Next::Rest) };
        let scheduler = object::text(&pod, &["spec", "schedulerName"]);
        let gated = pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
        let bound = !object::text(&pod, &["spec", "nodeName"]).is_empty();
        if bound || gated || object::is_deleting(&pod) || !matches!(scheduler, "" | "default-scheduler") {
            return Ok(Next::Rest);
        }
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": NODE},
            "metadata": {"namespace": namespace, "name": name, "uid": object::uid(&pod)},
        });
        match actor.create_below(&kind, "binding", &binding).await {
            Err(refused) if !refused.is_gone() && refused.code != 409 => Err(refused),
            _ => Ok(Next::Rest),
        }
    }
}
