//! Computes the rollout of a Deployment: scales its ReplicaSets and reports its progress.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Action, ApiError, ControllerClient, ReconcileResult, event, pods, replica_set::REPLICA_SETS};
use crate::{
    condition::{self, Condition, Style},
    kind::Kind,
    object,
};

pub(super) const COMPONENT: &str = "deployment-controller";
/// The label that distinguishes the Pods of different templates.
pub(super) const HASH: &str = "pod-template-hash";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MOST: &str = "deployment.kubernetes.io/max-replicas";

/// The ReplicaSets of a Deployment and the limits of its rollout.
#[derive(Debug)]
pub(super) struct Rollout {
    pub(super) sets: Vec<Value>,
    /// The index of the set that has the current template.
    pub(super) new: Option<usize>,
    desired: i64,
    /// The maximum number of Pods.
    pub(super) most: i64,
    /// The minimum number of available Pods.
    least: i64,
    recreates: bool,
}

fn count(set: &Value, path: [&str; 2]) -> i64 {
    object::number(set, &path).unwrap_or(0)
}

/// Resolves a percentage such as `25%` of a number, or an absolute number.
fn share(written: &Value, of: i64, round_up: bool) -> i64 {
    let percent = written.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    match percent {
        Some(percent) if round_up => (of * percent + 99) / 100,
        Some(percent) => of * percent / 100,
        None => written.as_i64().unwrap_or(0),
    }
}

impl Rollout {
    pub(super) fn new(deployment: &Value, sets: Vec<Value>, name: &str) -> Self {
        let spec = &deployment["spec"];
        let is_new = |set: &Value| template_of(set) == spec["template"] || object::name(set) == name;
        let new = sets.iter().position(is_new);
        let desired = spec["replicas"].as_i64().unwrap_or(1);
        let recreates = spec["strategy"]["type"] == "Recreate";
        let rolling = &spec["strategy"]["rollingUpdate"];
        let surge = if recreates { 0 } else { share(&rolling["maxSurge"], desired, true) };
        let mut missing = if recreates { 0 } else { share(&rolling["maxUnavailable"], desired, false) };
        if surge == 0 && missing == 0 && !recreates {
            missing = 1;
        }
        let least = desired - missing.min(desired);
        Self { sets, new, desired, most: desired + surge, least, recreates }
    }

    pub(super) fn old(&self) -> impl Iterator<Item = &Value> {
        self.sets.iter().enumerate().filter(|(at, _)| Some(*at) != self.new).map(|(_, set)| set)
    }

    fn sum(&self, path: [&str; 2]) -> i64 {
        self.sets.iter().map(|set| count(set, path)).sum()
    }

    fn of_new(&self, path: [&str; 2]) -> i64 {
        self.new.map_or(0, |at| count(&self.sets[at], path))
    }

    /// Returns the initial size of a new ReplicaSet.
    pub(super) fn first_size(&self, deployment: &Value) -> i64 {
        let old = self.old().any(|set| count(set, ["spec", "replicas"]) > 0 || count(set, ["status", "replicas"]) > 0);
        if deployment["spec"]["paused"] == true || self.recreates && old {
            return 0;
        }
        (self.most - self.sum(["spec", "replicas"])).clamp(0, self.desired)
    }

    /// Whether all Pods have the new template and are available.
    pub(super) fn is_complete(&self) -> bool {
        let all = [
            self.sum(["status", "replicas"]),
            self.of_new(["status", "replicas"]),
            self.sum(["status", "availableReplicas"]),
        ];
        all == [self.desired; 3]
    }

    /// Returns the next sizes of the ReplicaSets.
    fn sizes(&self, paused: bool) -> Vec<i64> {
        let mut sizes: Vec<i64> = self.sets.iter().map(|set| count(set, ["spec", "replicas"])).collect();
        let active = sizes.iter().filter(|size| **size > 0).count();
        let Some(new) = self.new else { return sizes };
        if paused {
            // A paused Deployment is still scaled, as long as at most one ReplicaSet is active.
            if active <= 1 {
                let at = sizes.iter().position(|size| *size > 0).unwrap_or(new);
                sizes[at] = self.desired;
            }
            return sizes;
        }
        let total: i64 = sizes.iter().sum();
        if self.recreates {
            let old: Vec<usize> = (0..sizes.len()).filter(|at| *at != new).collect();
            let lives = old.iter().any(|at| {
                let set = &self.sets[*at];
                count(set, ["status", "replicas"]) + count(set, ["status", "terminatingReplicas"]) > 0
            });
            old.iter().for_each(|at| sizes[*at] = 0);
            if !lives {
                sizes[new] = self.desired;
            }
            return sizes;
        }
        if sizes[new] > self.desired {
            sizes[new] = self.desired;
        } else {
            sizes[new] += (self.most - total).clamp(0, self.desired - sizes[new]);
        }
        let unavailable = sizes[new] - self.of_new(["status", "availableReplicas"]);
        self.shrink_old(&mut sizes, new, unavailable);
        sizes
    }

    /// Shrinks the old sets: first by their unavailable Pods, then by available Pods beyond the minimum.
    fn shrink_old(&self, sizes: &mut [i64], new: usize, new_unavailable: i64) {
        let total: i64 = sizes.iter().sum();
        let mut spare = total - self.least - new_unavailable;
        for at in (0..sizes.len()).filter(|at| *at != new) {
            let unhealthy = sizes[at] - count(&self.sets[at], ["status", "availableReplicas"]);
            let taken = unhealthy.min(spare).clamp(0, sizes[at]);
            sizes[at] -= taken;
            spare -= taken;
        }
        let mut spare = (self.sum(["status", "availableReplicas"]) - self.least).min(spare);
        for at in (0..sizes.len()).filter(|at| *at != new) {
            let taken = sizes[at].min(spare).max(0);
            sizes[at] -= taken;
            spare -= taken;
        }
    }
}

/// Scales the ReplicaSets to the sizes that the strategy allows now.
pub(super) async fn scale(
    client: &ControllerClient,
    deployment: &Value,
    rollout: &mut Rollout,
) -> Result<(), ApiError> {
    let sets = client.served_kind(REPLICA_SETS)?;
    let sizes = rollout.sizes(deployment["spec"]["paused"] == true);
    for (set, size) in rollout.sets.iter_mut().zip(sizes) {
        let before = count(set, ["spec", "replicas"]);
        if before == size {
            continue;
        }
        let mut new = set.clone();
        new["spec"]["replicas"] = size.into();
        let sizes = [(DESIRED, rollout.desired), (MOST, rollout.most)];
        object::map_at(&mut new, &["metadata", "annotations"])
            .extend(sizes.map(|(key, size)| (key.to_owned(), size.to_string().into())));
        *set = client.replace(&sets, "", &new).await?;
        let way = if size > before { "up" } else { "down" };
        let message = format!("Scaled {way} replica set {} from {before} to {size}", object::name(set));
        event::record(client, COMPONENT, deployment, "Normal", "ScalingReplicaSet", &message).await;
    }
    Ok(())
}

/// Writes the status of the Deployment.
pub(super) async fn update_status(
    client: &ControllerClient,
    kind: &Kind,
    mut deployment: Value,
    rollout: &Rollout,
    created_set: Option<String>,
) -> ReconcileResult {
    let environment = &client.server.environment;
    let now = environment.time();
    let old = deployment["status"].clone();
    let mut status = counts(&deployment, rollout);
    if let Some(held) = object::at(&old, &["conditions"]) {
        status["conditions"] = held.clone();
    }
    let set = |status: &mut Value, condition: Condition| note(status, &condition, &now);
    if let Some(name) = created_set {
        let message_text = format!("Created new replica set {name:?}");
        set(&mut status, Condition::new("Progressing", true, "NewReplicaSetCreated", message_text));
    }
    // The status of a paused Deployment reports no progress.
    let is_paused = deployment["spec"]["paused"] == true;
    let next = if is_paused { None } else { progress(&mut status, &old, rollout, &deployment, environment.now()) };
    let enough = rollout.sum(["status", "availableReplicas"]) >= rollout.least;
    let available = if enough {
        Condition::new("Available", true, "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        let why = "Deployment does not have minimum availability.";
        Condition::new("Available", false, "MinimumReplicasUnavailable", why)
    };
    set(&mut status, available);
    let failure = rollout.sets.iter().find_map(|set| condition::find(&set["status"], "ReplicaFailure"));
    match failure {
        Some(failure) => {
            let message = object::text(failure, &["message"]);
            set(&mut status, Condition::new("ReplicaFailure", true, object::text(failure, &["reason"]), message));
        }
        None => condition::remove(&mut status, "ReplicaFailure"),
    }
    if deployment["status"] != status {
        deployment["status"] = status;
        match client.replace(kind, "status", &deployment).await {
            Err(refused) if !refused.is_not_found() => return Err(refused),
            _ => {}
        }
    }
    Ok(next.map_or(Action::AwaitChange, |next| Action::RequeueAt(pods::instant(environment, next))))
}

fn counts(deployment: &Value, rollout: &Rollout) -> Value {
    let available = rollout.sum(["status", "availableReplicas"]);
    let mut status = json!({
        "observedGeneration": deployment["metadata"]["generation"],
        "terminatingReplicas": rollout.sum(["status", "terminatingReplicas"]),
    });
    for (name, count) in [
        ("replicas", rollout.sum(["status", "replicas"])),
        ("updatedReplicas", rollout.of_new(["status", "replicas"])),
        ("readyReplicas", rollout.sum(["status", "readyReplicas"])),
        ("availableReplicas", available),
        ("unavailableReplicas", rollout.sum(["spec", "replicas"]) - available),
    ] {
        if count > 0 {
            status[name] = count.into();
        }
    }
    status
}

/// Sets a condition unless the status already contains it with the same reason.
fn note(status: &mut Value, condition: &Condition, now: &str) {
    if !condition::find(status, condition.type_).is_some_and(|before| condition.matches_reason(before)) {
        condition::set(status, condition, now, Style::DEPLOYMENT);
    }
}

/// Sets the `Progressing` condition; returns the time at which the progress deadline expires.
fn progress(
    status: &mut Value,
    old: &Value,
    rollout: &Rollout,
    deployment: &Value,
    now: Timestamp,
) -> Option<Timestamp> {
    let deadline =
        deployment["spec"]["progressDeadlineSeconds"].as_i64().filter(|deadline| *deadline < i64::from(i32::MAX))?;
    let name = rollout.new.map(|at| object::name(&rollout.sets[at]).to_owned()).unwrap_or_default();
    let time = crate::environment::seconds(now);
    let held = condition::find(status, "Progressing").cloned();
    let is = |reason: &str| held.as_ref().is_some_and(|held| held["reason"] == reason);
    let count = |status: &Value, name: &str| status[name].as_i64().unwrap_or(0);
    if is("NewReplicaSetAvailable") && count(status, "replicas") == count(status, "updatedReplicas") {
        return None;
    }
    if rollout.is_complete() {
        let message_text = format!("ReplicaSet {name:?} has successfully progressed.");
        note(status, &Condition::new("Progressing", true, "NewReplicaSetAvailable", message_text), &time);
        return None;
    }
    let more = |name: &str| count(status, name) > count(old, name);
    let olds = |status: &Value| count(status, "replicas") - count(status, "updatedReplicas");
    if more("updatedReplicas") || more("readyReplicas") || more("availableReplicas") || olds(status) < olds(old) {
        let message_text = format!("ReplicaSet {name:?} is progressing.");
        let moves = Condition::new("Progressing", true, "ReplicaSetUpdated", message_text);
        condition::set(status, &moves, &time, Style::DEPLOYMENT);
    }
    let held = condition::find(status, "Progressing")?;
    if held["reason"] == "ProgressDeadlineExceeded" || held["reason"] == "NewReplicaSetAvailable" {
        return None;
    }
    let since: Timestamp = held["lastUpdateTime"].as_str()?.parse().ok()?;
    let late = since.checked_add(SignedDuration::from_secs(deadline)).ok()?;
    if now < late {
        return Some(late);
    }
    let message_text = format!("ReplicaSet {name:?} has timed out progressing.");
    note(status, &Condition::new("Progressing", false, "ProgressDeadlineExceeded", message_text), &time);
    None
}

/// Returns the template of a ReplicaSet as its Deployment contains it.
pub(super) fn template_of(set: &Value) -> Value {
    let mut template = set["spec"]["template"].clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove(HASH);
    }
    template
}
