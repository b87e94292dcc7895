//! ReplicaSets, and ReplicationControllers before them, keep a number of Pods.

use serde_json::{Value, json};

use super::{
    super::{Controller, Next, Outcome, Watches},
    Actor, Key, Refused, Seen, event,
    pods::{self, PODS, Tally},
};
use crate::{
    call::selector::LabelSelector,
    condition::{self, Condition, Style},
    kind::Kind,
    object,
};

pub(super) const REPLICA_SETS: &str = "replicasets.apps";
const REPLICATION_CONTROLLERS: &str = "replicationcontrollers";

/// How many Pods one reconcile makes or deletes; the events of these lead to the next.
///
/// Source: `BurstReplicas` of kube-controller-manager's ReplicaSet controller.
const BURST: usize = 500;

/// One of the two kinds.
#[derive(Debug)]
pub(super) struct ReplicaSets {
    shelf: &'static str,
    kind: &'static str,
    component: &'static str,
    watches: &'static [&'static str],
}

impl ReplicaSets {
    pub(super) const SETS: Self = Self {
        shelf: REPLICA_SETS,
        kind: "ReplicaSet",
        component: "replicaset-controller",
        watches: &[REPLICA_SETS, PODS],
    };
    pub(super) const CONTROLLERS: Self = Self {
        shelf: REPLICATION_CONTROLLERS,
        kind: "ReplicationController",
        component: "replication-controller",
        watches: &[REPLICATION_CONTROLLERS, PODS],
    };

    /// The selector; the older kind has labels alone.
    fn selector(&self, set: &Value) -> LabelSelector {
        let written = &set["spec"]["selector"];
        if self.shelf == REPLICA_SETS {
            LabelSelector::of_object(written)
        } else {
            LabelSelector::of_object(&json!({"matchLabels": written}))
        }
    }
}

impl Controller for ReplicaSets {
    type Key = Key;

    fn watches(&self) -> Watches {
        Watches::Shelves(self.watches)
    }

    fn told(&mut self, actor: &Actor, shelf: &str, seen: &Seen) -> Vec<Key> {
        if shelf == self.shelf {
            return vec![pods::key(seen)];
        }
        if !seen.object.owners.is_empty() || seen.gone {
            return pods::controllers(seen, self.kind);
        }
        // A Pod without an owner may find one.
        let Ok(kind) = actor.known(self.shelf) else { return Vec::new() };
        let sets = actor.list(&kind, Some(&seen.object.namespace)).into_iter();
        let selects = |set: &Value| self.selector(set).matches(|label| seen.object.label(label));
        sets.filter(selects).map(|set| (object::namespace(&set).to_owned(), object::name(&set).to_owned())).collect()
    }

    async fn reconcile(&mut self, actor: &Actor, (namespace, name): &Key) -> Outcome {
        let (kind, pods) = (actor.known(self.shelf)?, actor.known(PODS)?);
        let Some(set) = actor.get(&kind, namespace, name) else { return Ok(Next::Rest) };
        pods::adopt(actor, &pods, &kind, &set).await?;
        let own = pods::controlled(actor, &pods, namespace, object::uid(&set));
        let failure = if object::is_deleting(&set) { None } else { self.scale(actor, &kind, &set, own).await.err() };
        let next = say(actor, &kind, set, failure.as_ref()).await?;
        failure.map_or(Ok(next), Err)
    }
}

impl ReplicaSets {
    /// Makes Pods or deletes them until there are as many as wanted.
    async fn scale(&self, actor: &Actor, kind: &Kind, set: &Value, own: Vec<Value>) -> Result<(), Refused> {
        let pods = actor.known(PODS)?;
        let mut active: Vec<Value> = own.into_iter().filter(pods::is_active).collect();
        let wanted =
            object::number(set, &["spec", "replicas"]).and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or(1);
        for _ in active.len()..wanted.min(active.len() + BURST) {
            let pod = pods::from_template(&set["spec"]["template"], kind, set);
            match actor.create(&pods, &pod).await {
                Ok(made) => {
                    let what = format!("Created pod: {}", object::name(&made));
                    event::record(actor, self.component, set, "Normal", "SuccessfulCreate", &what).await;
                }
                // There is nothing to tell of: the set goes with its namespace.
                Err(refused) if refused.is_in_ending_namespace() => return Ok(()),
                Err(refused) => {
                    let what = format!("Error creating: {}", refused.message);
                    event::record(actor, self.component, set, "Warning", "FailedCreate", &what).await;
                    return Err(refused);
                }
            }
        }
        if active.len() > wanted {
            pods::sort_by_worth(&mut active);
            for pod in active[..active.len() - wanted].iter().take(BURST) {
                let at = (object::namespace(pod), object::name(pod));
                match actor.delete(&pods, at, &json!({"preconditions": {"uid": object::uid(pod)}})).await {
                    Err(refused) if !refused.is_gone() => return Err(refused),
                    _ => {}
                }
                let what = format!("Deleted pod: {}", object::name(pod));
                event::record(actor, self.component, set, "Normal", "SuccessfulDelete", &what).await;
            }
        }
        Ok(())
    }
}

/// Writes the status.
async fn say(actor: &Actor, kind: &Kind, mut set: Value, failure: Option<&Refused>) -> Outcome {
    let environment = &actor.server.environment;
    let pods = pods::controlled(actor, &*actor.known(PODS)?, object::namespace(&set), object::uid(&set));
    let (active, others): (Vec<_>, Vec<_>) = pods.into_iter().partition(pods::is_active);
    let labels: Vec<(String, String)> =
        object::labels(&set["spec"]["template"]).map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let is_labeled = |pod: &&Value| {
        labels.iter().all(|(key, value)| object::labels(pod).any(|(own, given)| own == key && given == value))
    };
    let seconds = object::number(&set, &["spec", "minReadySeconds"]).unwrap_or(0);
    let tally = Tally::of(&active, seconds, environment.now());
    let mut status = json!({
        "replicas": active.len(),
        "terminatingReplicas": others.iter().filter(|pod| object::is_deleting(pod) && !pods::is_ended(pod)).count(),
        "observedGeneration": set["metadata"]["generation"],
    });
    let labeled = active.iter().filter(is_labeled).count();
    let counts = [
        ("fullyLabeledReplicas", i64::try_from(labeled).unwrap_or(i64::MAX)),
        ("readyReplicas", tally.ready),
        ("availableReplicas", tally.available),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        status[name] = count.into();
    }
    if let Some(held) = object::at(&set, &["status", "conditions"]) {
        status["conditions"] = held.clone();
    }
    match failure {
        Some(refused) => {
            let failed = Condition::new("ReplicaFailure", true, "FailedCreate", &*refused.message);
            if !condition::find(&status, failed.type_).is_some_and(|before| failed.is_for(before)) {
                condition::set(&mut status, &failed, &environment.time(), Style::REPLICA_SET);
            }
        }
        None => {
            condition::remove(&mut status, "ReplicaFailure");
            if status["conditions"].as_array().is_some_and(Vec::is_empty)
                && let Value::Object(status) = &mut status
            {
                status.remove("conditions");
            }
        }
    }
    if set["status"] != status {
        set["status"] = status;
        match actor.replace(kind, "status", &set).await {
            Err(refused) if !refused.is_gone() => return Err(refused),
            _ => {}
        }
    }
    Ok(tally.next_look(environment))
}
