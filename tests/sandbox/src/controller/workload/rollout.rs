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
/// The annotations of a ReplicaSet that record the size of its Deployment and the maximum number of Pods.
pub(super) const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";

/// The ReplicaSets of a Deployment and the limits of its rollout.
#[derive(Debug)]
pub(super) struct Rollout {
    /// All ReplicaSets of the Deployment.
    pub(super) sets: Vec<Value>,
    /// The index of the ReplicaSet with the current template; `None` if there is none yet.
    pub(super) new: Option<usize>,
    /// The number of replicas that the Deployment requests.
    desired: i64,
    /// The maximum number of Pods.
    pub(super) max_pods: i64,
    /// The minimum number of available Pods.
    min_available: i64,
    /// Whether the strategy is `Recreate`.
    is_recreate: bool,
}

/// Returns the number at a path of a ReplicaSet; 0 if the ReplicaSet has no such field.
fn count(set: &Value, path: [&str; 2]) -> i64 {
    object::number(set, &path).unwrap_or(0)
}

/// Returns an absolute number as it is, or the share of `total` for a percentage such as `25%`, like
/// `intstr.GetScaledValueFromIntOrPercent`.
fn scaled_value(value: &Value, total: i64, round_up: bool) -> i64 {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    match percent {
        Some(percent) if round_up => (total * percent + 99) / 100,
        Some(percent) => total * percent / 100,
        None => value.as_i64().unwrap_or(0),
    }
}

impl Rollout {
    /// Finds the ReplicaSet with the current template, by its template or by `name`, and computes the limits that the strategy sets for the
    /// number of Pods.
    pub(super) fn new(deployment: &Value, sets: Vec<Value>, name: &str) -> Self {
        let spec = &deployment["spec"];
        let is_new = |set: &Value| template_of(set) == spec["template"] || object::name(set) == name;
        let new = sets.iter().position(is_new);
        let desired = spec["replicas"].as_i64().unwrap_or(1);
        let is_recreate = spec["strategy"]["type"] == "Recreate";
        let rolling = &spec["strategy"]["rollingUpdate"];
        let max_surge = if is_recreate { 0 } else { scaled_value(&rolling["maxSurge"], desired, true) };
        let mut max_unavailable =
            if is_recreate { 0 } else { scaled_value(&rolling["maxUnavailable"], desired, false) };
        // Two limits of 0, for example after rounding, would block the rollout.
        if max_surge == 0 && max_unavailable == 0 && !is_recreate {
            max_unavailable = 1;
        }
        let min_available = desired - max_unavailable.min(desired);
        Self { sets, new, desired, max_pods: desired + max_surge, min_available, is_recreate }
    }

    /// Returns the ReplicaSets with other templates than the current one.
    pub(super) fn old_sets(&self) -> impl Iterator<Item = &Value> {
        self.sets.iter().enumerate().filter(|(at, _)| Some(*at) != self.new).map(|(_, set)| set)
    }

    /// Returns the sum of the numbers at a path over all ReplicaSets.
    fn total(&self, path: [&str; 2]) -> i64 {
        self.sets.iter().map(|set| count(set, path)).sum()
    }

    /// Returns the number at a path of the ReplicaSet with the current template; 0 if it does not exist yet.
    fn new_set_count(&self, path: [&str; 2]) -> i64 {
        self.new.map_or(0, |at| count(&self.sets[at], path))
    }

    /// Returns the initial size of a new ReplicaSet, like `NewRSNewReplicas` of kube-controller-manager.
    pub(super) fn new_set_size(&self, deployment: &Value) -> i64 {
        let has_old_pods =
            self.old_sets().any(|set| count(set, ["spec", "replicas"]) > 0 || count(set, ["status", "replicas"]) > 0);
        // The strategy `Recreate` creates new Pods only after all old ones are gone.
        if deployment["spec"]["paused"] == true || self.is_recreate && has_old_pods {
            return 0;
        }
        (self.max_pods - self.total(["spec", "replicas"])).clamp(0, self.desired)
    }

    /// Returns whether all Pods have the current template and are available (`DeploymentComplete` of kube-controller-manager).
    pub(super) fn is_complete(&self) -> bool {
        let all = [
            self.total(["status", "replicas"]),
            self.new_set_count(["status", "replicas"]),
            self.total(["status", "availableReplicas"]),
        ];
        all == [self.desired; 3]
    }

    /// Returns the number of replicas for each ReplicaSet, in the order of `sets`, to which the strategy allows to scale it now.
    fn next_replicas(&self, paused: bool) -> Vec<i64> {
        let mut replicas: Vec<i64> = self.sets.iter().map(|set| count(set, ["spec", "replicas"])).collect();
        let active = replicas.iter().filter(|count| **count > 0).count();
        let Some(new) = self.new else { return replicas };
        if paused {
            // A paused Deployment is still scaled, as long as at most one ReplicaSet is active.
            if active <= 1 {
                let at = replicas.iter().position(|count| *count > 0).unwrap_or(new);
                replicas[at] = self.desired;
            }
            return replicas;
        }
        let total: i64 = replicas.iter().sum();
        if self.is_recreate {
            let old: Vec<usize> = (0..replicas.len()).filter(|at| *at != new).collect();
            let has_old_pods = old.iter().any(|at| {
                let set = &self.sets[*at];
                count(set, ["status", "replicas"]) + count(set, ["status", "terminatingReplicas"]) > 0
            });
            old.iter().for_each(|at| replicas[*at] = 0);
            if !has_old_pods {
                replicas[new] = self.desired;
            }
            return replicas;
        }
        if replicas[new] > self.desired {
            replicas[new] = self.desired;
        } else {
            replicas[new] += (self.max_pods - total).clamp(0, self.desired - replicas[new]);
        }
        let unavailable = replicas[new] - self.new_set_count(["status", "availableReplicas"]);
        self.scale_down_old(&mut replicas, new, unavailable);
        replicas
    }

    /// Reduces the replicas of the old ReplicaSets: first by unavailable Pods, then by available Pods above the minimum. `new_unavailable`
    /// is the number of unavailable Pods of the ReplicaSet with the current template, which has the index `new`.
    fn scale_down_old(&self, replicas: &mut [i64], new: usize, new_unavailable: i64) {
        let total: i64 = replicas.iter().sum();
        let mut removable = total - self.min_available - new_unavailable;
        for at in (0..replicas.len()).filter(|at| *at != new) {
            let unhealthy = replicas[at] - count(&self.sets[at], ["status", "availableReplicas"]);
            let removed = unhealthy.min(removable).clamp(0, replicas[at]);
            replicas[at] -= removed;
            removable -= removed;
        }
        let mut removable = (self.total(["status", "availableReplicas"]) - self.min_available).min(removable);
        for at in (0..replicas.len()).filter(|at| *at != new) {
            let removed = replicas[at].min(removable).max(0);
            replicas[at] -= removed;
            removable -= removed;
        }
    }
}

/// Scales each ReplicaSet to the replicas that the strategy allows now, and records an Event for each change.
pub(super) async fn scale(
    client: &ControllerClient,
    deployment: &Value,
    rollout: &mut Rollout,
) -> Result<(), ApiError> {
    let sets = client.served_kind(REPLICA_SETS)?;
    let replicas = rollout.next_replicas(deployment["spec"]["paused"] == true);
    for (set, replicas) in rollout.sets.iter_mut().zip(replicas) {
        let before = count(set, ["spec", "replicas"]);
        if before == replicas {
            continue;
        }
        let mut new = set.clone();
        new["spec"]["replicas"] = replicas.into();
        let sizes = [(DESIRED_REPLICAS, rollout.desired), (MAX_REPLICAS, rollout.max_pods)];
        object::map_at(&mut new, &["metadata", "annotations"])
            .extend(sizes.map(|(key, size)| (key.to_owned(), size.to_string().into())));
        *set = client.replace(&sets, "", &new).await?;
        let direction = if replicas > before { "up" } else { "down" };
        let message = format!("Scaled {direction} replica set {} from {before} to {replicas}", object::name(set));
        event::record(client, COMPONENT, deployment, "Normal", "ScalingReplicaSet", &message).await;
    }
    Ok(())
}

/// Writes the status of the Deployment if it changed: the numbers of Pods, and the conditions about progress, availability and failures.
/// `created_set` is the name of a ReplicaSet that this reconcile created. Returns the action that reconciles the Deployment again at its
/// progress deadline.
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
    let mut status = replica_counts(&deployment, rollout);
    if let Some(existing) = object::at(&old, &["conditions"]) {
        status["conditions"] = existing.clone();
    }
    let set = |status: &mut Value, condition: Condition| set_changed_condition(status, &condition, &now);
    if let Some(name) = created_set {
        let message = format!("Created new replica set {name:?}");
        set(&mut status, Condition::new("Progressing", true, "NewReplicaSetCreated", message));
    }
    // The status of a paused Deployment reports no progress.
    let is_paused = deployment["spec"]["paused"] == true;
    let next = if is_paused { None } else { sync_progress(&mut status, &old, rollout, &deployment, environment.now()) };
    let is_available = rollout.total(["status", "availableReplicas"]) >= rollout.min_available;
    let available = if is_available {
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
    Ok(next.map_or(Action::AwaitChange, |next| Action::RequeueAt(pods::to_instant(environment, next))))
}

/// Returns the status with the numbers of replicas, without conditions.
fn replica_counts(deployment: &Value, rollout: &Rollout) -> Value {
    let available = rollout.total(["status", "availableReplicas"]);
    let mut status = json!({
        "observedGeneration": deployment["metadata"]["generation"],
        "terminatingReplicas": rollout.total(["status", "terminatingReplicas"]),
    });
    for (name, count) in [
        ("replicas", rollout.total(["status", "replicas"])),
        ("updatedReplicas", rollout.new_set_count(["status", "replicas"])),
        ("readyReplicas", rollout.total(["status", "readyReplicas"])),
        ("availableReplicas", available),
        ("unavailableReplicas", rollout.total(["spec", "replicas"]) - available),
    ] {
        if count > 0 {
            status[name] = count.into();
        }
    }
    status
}

/// Sets a condition unless the status already contains it with the same reason.
fn set_changed_condition(status: &mut Value, condition: &Condition, now: &str) {
    if !condition::find(status, condition.type_).is_some_and(|before| condition.matches_reason(before)) {
        condition::set(status, condition, now, Style::DEPLOYMENT);
    }
}

/// Sets the `Progressing` condition: the rollout is complete, has progressed since the status `old`, or has exceeded its deadline. Returns
/// the time of the deadline; `None` if there is no deadline, or if the rollout is complete or has timed out.
fn sync_progress(
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
    let existing = condition::find(status, "Progressing").cloned();
    let has_reason = |reason: &str| existing.as_ref().is_some_and(|existing| existing["reason"] == reason);
    let count = |status: &Value, name: &str| status[name].as_i64().unwrap_or(0);
    // The completion is already reported, and all Pods still have the current template.
    if has_reason("NewReplicaSetAvailable") && count(status, "replicas") == count(status, "updatedReplicas") {
        return None;
    }
    if rollout.is_complete() {
        let message = format!("ReplicaSet {name:?} has successfully progressed.");
        set_changed_condition(status, &Condition::new("Progressing", true, "NewReplicaSetAvailable", message), &time);
        return None;
    }
    let has_increased = |name: &str| count(status, name) > count(old, name);
    let old_replicas = |status: &Value| count(status, "replicas") - count(status, "updatedReplicas");
    if has_increased("updatedReplicas")
        || has_increased("readyReplicas")
        || has_increased("availableReplicas")
        || old_replicas(status) < old_replicas(old)
    {
        let message = format!("ReplicaSet {name:?} is progressing.");
        let progressing = Condition::new("Progressing", true, "ReplicaSetUpdated", message);
        condition::set(status, &progressing, &time, Style::DEPLOYMENT);
    }
    let existing = condition::find(status, "Progressing")?;
    if existing["reason"] == "ProgressDeadlineExceeded" || existing["reason"] == "NewReplicaSetAvailable" {
        return None;
    }
    let since: Timestamp = existing["lastUpdateTime"].as_str()?.parse().ok()?;
    let expires_at = since.checked_add(SignedDuration::from_secs(deadline)).ok()?;
    if now < expires_at {
        return Some(expires_at);
    }
    let message = format!("ReplicaSet {name:?} has timed out progressing.");
    set_changed_condition(status, &Condition::new("Progressing", false, "ProgressDeadlineExceeded", message), &time);
    None
}

/// Returns the pod template of a ReplicaSet without the hash label, as its Deployment contains it.
pub(super) fn template_of(set: &Value) -> Value {
    let mut template = set["spec"]["template"].clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove(HASH);
    }
    template
}
