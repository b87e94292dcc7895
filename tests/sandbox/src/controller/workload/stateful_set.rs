//! Implements the StatefulSet controller: creates, updates and deletes Pods with stable names, in order.

use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult, event,
    pods::{self, Available, PODS, Tally},
    revision,
};
use crate::{kind::Kind, object};

const SETS: &str = "statefulsets.apps";
const CLAIMS: &str = "persistentvolumeclaims";
const COMPONENT: &str = "statefulset-controller";

/// The label of a Pod that names the revision of its template.
const REVISION: &str = "controller-revision-hash";

/// Reconciles StatefulSets.
#[derive(Debug)]
pub(super) struct StatefulSets;

/// A StatefulSet during one reconcile.
struct SetContext<'a> {
    client: &'a ControllerClient,
    kind: &'a Kind,
    set: &'a Value,
    /// The name of the revision of the current template.
    update_revision: String,
    /// The name of the last revision that all Pods had.
    current_revision: String,
}

impl Controller for StatefulSets {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[SETS, PODS])
    }

    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource == SETS { vec![pods::key(event)] } else { pods::controller_keys(event, "StatefulSet") }
    }

    /// Reconciles a StatefulSet: adopts its Pods, stores the revision of its template, creates, updates and deletes Pods in order, and
    /// writes the status.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(SETS)?;
        let Some(set) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        if object::is_deleting(&set) {
            return Ok(Action::AwaitChange);
        }
        pods::adopt(client, &*client.served_kind(PODS)?, &kind, &set, is_member_of).await?;
        let (revision, revisions) = revision::ensure_current(client, &kind, &set, revision::OF_STATEFUL_SET).await?;
        let update_revision = object::name(&revision).to_owned();
        let status_revision = object::text(&set, &["status", "currentRevision"]).to_owned();
        // A new StatefulSet has no current revision in its status, and starts with the revision of its template.
        let is_known = revisions.iter().any(|revision| object::name(revision) == status_revision);
        let current_revision = if is_known { status_revision } else { update_revision.clone() };
        let context = SetContext { client, kind: &kind, set: &set, update_revision, current_revision };
        context.sync_pods().await?;
        context.update_status(&kind).await
    }
}

impl SetContext<'_> {
    /// Returns the Pods of the set, in the order of their ordinals.
    fn pods(&self) -> Result<Vec<Value>, ApiError> {
        let (namespace, uid) = (object::namespace(self.set), object::uid(self.set));
        let mut owned_pods = pods::controlled_objects(self.client, &*self.client.served_kind(PODS)?, namespace, uid);
        owned_pods.sort_by_key(ordinal);
        Ok(owned_pods)
    }

    /// Returns the ordinals that the Pods of the set should have.
    fn ordinals(&self) -> std::ops::Range<i64> {
        let start = object::number(self.set, &["spec", "ordinals", "start"]).unwrap_or(0);
        start..start + object::number(self.set, &["spec", "replicas"]).unwrap_or(1)
    }

    /// Returns whether a Pod is not terminating and has been ready for `minReadySeconds`.
    fn is_available(&self, pod: &Value) -> bool {
        let seconds = object::number(self.set, &["spec", "minReadySeconds"]).unwrap_or(0);
        let now = self.client.server.environment.now();
        !object::is_deleting(pod) && pods::availability(pod, seconds, now) == Available::Yes
    }

    /// Creates missing Pods in the order of their ordinals, deletes surplus Pods in reverse order, and then replaces Pods of an old
    /// template. Returns after each change or at an unavailable Pod, and the next reconcile continues. With the pod management policy
    /// `Parallel`, creates all missing Pods and deletes all surplus Pods at once.
    async fn sync_pods(&self) -> Result<(), ApiError> {
        let (owned_pods, in_order) = (self.pods()?, self.set["spec"]["podManagementPolicy"] != "Parallel");
        for index in self.ordinals() {
            match owned_pods.iter().find(|pod| ordinal(pod) == index) {
                None => {
                    self.create_pod(index).await?;
                    if in_order {
                        return Ok(());
                    }
                }
                Some(pod) if pods::is_ended(pod) && !object::is_deleting(pod) => {
                    self.delete_pod(pod).await?;
                    return Ok(());
                }
                Some(pod) if in_order && !self.is_available(pod) => return self.delete_broken(pod).await,
                Some(_) => {}
            }
        }
        let surplus: Vec<&Value> = owned_pods.iter().filter(|pod| !self.ordinals().contains(&ordinal(pod))).collect();
        for pod in surplus.iter().rev() {
            if !object::is_deleting(pod) {
                self.delete_pod(pod).await?;
            }
            if in_order {
                return Ok(());
            }
        }
        if surplus.is_empty() { self.update_outdated(&owned_pods).await } else { Ok(()) }
    }

    /// Deletes the Pods of an old template from the highest ordinal down to the partition of the rolling update. Deletes one Pod and
    /// returns, and waits for each Pod to become available before the next deletion.
    async fn update_outdated(&self, owned_pods: &[Value]) -> Result<(), ApiError> {
        let strategy = &self.set["spec"]["updateStrategy"];
        if strategy["type"] == "OnDelete" {
            return Ok(());
        }
        let partition = strategy["rollingUpdate"]["partition"].as_i64().unwrap_or(0);
        for pod in owned_pods.iter().rev().filter(|pod| ordinal(pod) >= partition) {
            let is_outdated = object::text(pod, &["metadata", "labels", REVISION]) != self.update_revision;
            if is_outdated && !object::is_deleting(pod) {
                return self.delete_pod(pod).await;
            }
            if !self.is_available(pod) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Deletes an unavailable Pod if it has the highest ordinal and an old template: if this template is broken, the Pod never becomes
    /// ready and would block the rollout of the new template. Does nothing with the update strategy `OnDelete`.
    async fn delete_broken(&self, pod: &Value) -> Result<(), ApiError> {
        let is_outdated = object::text(pod, &["metadata", "labels", REVISION]) != self.update_revision;
        let is_last = self.ordinals().end - 1 == ordinal(pod);
        if is_outdated
            && is_last
            && !object::is_deleting(pod)
            && self.set["spec"]["updateStrategy"]["type"] != "OnDelete"
        {
            return self.delete_pod(pod).await;
        }
        Ok(())
    }

    /// Creates the PersistentVolumeClaims of the Pod with an ordinal, then the Pod, and records an Event about it.
    async fn create_pod(&self, index: i64) -> Result<(), ApiError> {
        let name = format!("{}-{index}", object::name(self.set));
        let mut pod = pods::from_template(&self.set["spec"]["template"], self.kind, self.set);
        pod["metadata"]["name"] = name.clone().into();
        object::map_at(&mut pod, &["metadata", "labels"]).extend([
            ("statefulset.kubernetes.io/pod-name".to_owned(), Value::from(name.as_str())),
            ("apps.kubernetes.io/pod-index".to_owned(), index.to_string().into()),
            (REVISION.to_owned(), self.update_revision.as_str().into()),
        ]);
        pod["spec"]["hostname"] = name.clone().into();
        if let Some(service) = object::at(self.set, &["spec", "serviceName"]) {
            pod["spec"]["subdomain"] = service.clone();
        }
        self.create_claims(&name, &mut pod).await?;
        match self.client.create(&*self.client.served_kind(PODS)?, &pod).await {
            Err(refused) if refused.is_already_exists() => return Ok(()),
            created => created?,
        };
        let message = format!("Create Pod {name} in StatefulSet {} successful", object::name(self.set));
        event::record(self.client, COMPONENT, self.set, "Normal", "SuccessfulCreate", &message).await;
        Ok(())
    }

    /// Creates the PersistentVolumeClaims of a Pod and adds them to the volumes of the Pod. The claims outlive the Pod, and also the
    /// StatefulSet unless its retention policy deletes them.
    async fn create_claims(&self, pod_name: &str, pod: &mut Value) -> Result<(), ApiError> {
        let kind = self.client.served_kind(CLAIMS)?;
        let namespace = object::namespace(self.set);
        for template in self.set["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten() {
            let volume = object::name(template);
            let name = format!("{volume}-{pod_name}");
            let mut labels = object::at(template, &["metadata", "labels"]).cloned().unwrap_or_else(|| json!({}));
            for (key, value) in self.set["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten() {
                labels[key] = value.clone();
            }
            let mut claim =
                json!({"metadata": {"name": name, "namespace": namespace, "labels": labels}, "spec": template["spec"]});
            if let Some(annotations) = object::at(template, &["metadata", "annotations"]) {
                claim["metadata"]["annotations"] = annotations.clone();
            }
            if self.set["spec"]["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete" {
                let sets = self.client.served_kind(SETS)?;
                claim["metadata"]["ownerReferences"] = json!([pods::controller_reference(&sets, self.set)]);
            }
            match self.client.create(&kind, &claim).await {
                Err(refused) if refused.is_already_exists() => {}
                Err(refused) => return Err(refused),
                Ok(_) => {
                    let set = object::name(self.set);
                    let message = format!("Create Claim {name} Pod {pod_name} in StatefulSet {set} success");
                    event::record(self.client, COMPONENT, self.set, "Normal", "SuccessfulCreate", &message).await;
                }
            }
            let mount = json!({"name": volume, "persistentVolumeClaim": {"claimName": name}});
            match pod["spec"]["volumes"].as_array_mut() {
                Some(volumes) => {
                    volumes.retain(|other| other["name"] != *volume);
                    volumes.push(mount);
                }
                None => pod["spec"]["volumes"] = json!([mount]),
            }
        }
        Ok(())
    }

    /// Deletes a Pod and records an Event about it.
    async fn delete_pod(&self, pod: &Value) -> Result<(), ApiError> {
        let key = (object::namespace(pod), object::name(pod));
        let options = json!({"preconditions": {"uid": object::uid(pod)}});
        match self.client.delete(&*self.client.served_kind(PODS)?, key, &options).await {
            Err(refused) if !refused.is_not_found() => return Err(refused),
            _ => {}
        }
        let message = format!("Delete Pod {} in StatefulSet {} successful", object::name(pod), object::name(self.set));
        event::record(self.client, COMPONENT, self.set, "Normal", "SuccessfulDelete", &message).await;
        Ok(())
    }

    /// Writes the status of the StatefulSet if it changed. Returns the action that reconciles again when the next Pod
    /// becomes available.
    async fn update_status(&self, kind: &Kind) -> ReconcileResult {
        let environment = &self.client.server.environment;
        let owned_pods = self.pods()?;
        let existing = || owned_pods.iter().filter(|pod| !pods::is_ended(pod));
        let seconds = object::number(self.set, &["spec", "minReadySeconds"]).unwrap_or(0);
        let tally = Tally::of(existing().filter(|pod| !object::is_deleting(pod)), seconds, environment.now());
        let count_of = |revision: &str| {
            let active = existing().filter(|pod| !object::is_deleting(pod));
            active.filter(|pod| object::text(pod, &["metadata", "labels", REVISION]) == revision).count()
        };
        let (replicas, updated) = (existing().count(), count_of(&self.update_revision));
        // The update is complete when every Pod has the new revision and is ready.
        let ordinals = self.ordinals();
        let is_complete = i64::try_from(updated).ok() == Some(ordinals.end - ordinals.start)
            && updated == replicas
            && usize::try_from(tally.ready).ok() == Some(updated);
        let current = if is_complete { &self.update_revision } else { &self.current_revision };
        let mut status = json!({
            "observedGeneration": self.set["metadata"]["generation"], "replicas": replicas,
            "availableReplicas": tally.available, "currentRevision": current, "updateRevision": self.update_revision,
            "collisionCount": 0,
        });
        let ready = usize::try_from(tally.ready).unwrap_or(0);
        for (name, count) in
            [("readyReplicas", ready), ("currentReplicas", count_of(current)), ("updatedReplicas", updated)]
        {
            if count > 0 {
                status[name] = count.into();
            }
        }
        if self.set["status"] != status {
            let mut set = self.set.clone();
            set["status"] = status;
            match self.client.replace(kind, "status", &set).await {
                Err(refused) if !refused.is_not_found() => return Err(refused),
                _ => {}
            }
        }
        Ok(tally.next_action(environment))
    }
}

/// Returns whether the name of a Pod consists of the name of the StatefulSet and an ordinal (`isMemberOf` of kube-controller-manager).
fn is_member_of(set: &Value, pod: &Value) -> bool {
    object::name(pod).rsplit_once('-').is_some_and(|(parent, number)| {
        parent == object::name(set) && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns the ordinal at the end of a Pod's name; -1 if the name does not end with a number, which is less than every valid ordinal.
fn ordinal(pod: &Value) -> i64 {
    object::name(pod).rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(-1)
}
