//! Recomputes the usage of ResourceQuotas.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{Action, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult};
use crate::{admission::quota_usage, object, store::Stored};

pub(super) const QUOTAS: &str = "resourcequotas";
const PODS: &str = "pods";

/// The period after which the usage is counted again. Admission counts an object before the API server refuses to store it, for example
/// since its name exists. Source: the flag `--resource-quota-sync-period` of kube-controller-manager.
const RESYNC_PERIOD: Duration = Duration::from_secs(300);

const SERVICES: &str = "services";

/// Recomputes the usage of quotas whose usage may have decreased or whose limits changed.
#[derive(Debug)]
pub(super) struct Quotas(EventSources);

impl Quotas {
    /// Handles the deletions of objects of all kinds.
    pub(super) fn of_lifecycle() -> Self {
        Self(EventSources::Lifecycle)
    }

    /// Handles the changes of quotas, Pods and Services.
    pub(super) fn of_changes() -> Self {
        Self(EventSources::Resources(&[QUOTAS, PODS, SERVICES]))
    }
}

impl Controller for Quotas {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        self.0
    }

    /// Returns a ResourceQuota that is new or has new limits, or all quotas in the namespace of a deleted object, of a Pod that has ended
    /// or of a Service with another type.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        let namespace = &*event.object.namespace;
        let previous = event.before.as_deref().filter(|_| !event.deleted);
        if group_resource == QUOTAS {
            // Admission writes the usage before the object is stored. A count at that time would not include the object.
            let has_same_limits = previous.is_some_and(|previous| {
                quota_usage::limits(&parsed(previous)) == quota_usage::limits(&parsed(&event.object))
            });
            let key = (namespace.to_owned(), event.object.name.to_string());
            return if event.deleted || has_same_limits { Vec::new() } else { vec![key] };
        }
        // Admission has already counted new objects.
        let may_decrease = event.deleted
            || previous.is_some_and(|previous| may_decrease_usage(group_resource, previous, &event.object));
        if !may_decrease || namespace.is_empty() {
            return Vec::new();
        }
        let (_, quotas) = client.server.store.list(QUOTAS, Some(namespace));
        quotas.iter().map(|quota| (namespace.to_owned(), quota.name.to_string())).collect()
    }

    /// Counts the usage of a ResourceQuota again, and writes the status if the limits or the usage changed. Repeats this after
    /// [`RESYNC_PERIOD`].
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(QUOTAS)?;
        let Some(mut quota) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        let before = quota["status"].clone();
        let used = quota_usage::count_usage(&client.server, &quota, &quota_usage::limits(&quota));
        quota_usage::set_status(&mut quota, &used);
        if quota["status"] != before && !object::is_deleting(&quota) {
            match client.replace(&kind, "status", &quota).await {
                Err(refused) if !refused.is_not_found() => return Err(refused),
                _ => {}
            }
        }
        Ok(Action::RequeueAt(Instant::now() + RESYNC_PERIOD))
    }
}

/// Returns whether the usage of a quota may decrease by an update: a Pod has ended or has moved to another scope, or a Service has another
/// type. kube-controller-manager also counts after changes of claims and after Pods are resized.
fn may_decrease_usage(group_resource: &str, before: &Stored, after: &Stored) -> bool {
    match group_resource {
        PODS => {
            let (before, after) = (parsed(before), parsed(after));
            quota_usage::is_running(&before) && !quota_usage::is_running(&after)
                || quota_usage::has_deadline(&before) != quota_usage::has_deadline(&after)
        }
        SERVICES => parsed(before)["spec"]["type"] != parsed(after)["spec"]["type"],
        _ => false,
    }
}

/// Returns a stored object as JSON.
fn parsed(stored: &Stored) -> Value {
    serde_json::from_slice(&stored.json).unwrap_or_default()
}
