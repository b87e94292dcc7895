//! Recomputes the usage of ResourceQuotas.

use super::{Action, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult};
use crate::{admission::quota_usage, object};

pub(super) const QUOTAS: &str = "resourcequotas";
const PODS: &str = "pods";

/// Recomputes the usage of quotas whose usage may have decreased or whose limits changed.
#[derive(Debug)]
pub(super) struct Quotas(EventSources);

impl Quotas {
    /// Handles the deletions of objects of all kinds.
    pub(super) fn of_lifecycle() -> Self {
        Self(EventSources::Lifecycle)
    }

    /// Handles the changes of quotas and Pods.
    pub(super) fn of_changes() -> Self {
        Self(EventSources::Resources(&[QUOTAS, PODS]))
    }
}

impl Controller for Quotas {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        self.0
    }

    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        let namespace = &*event.object.namespace;
        if group_resource == QUOTAS {
            let key = (namespace.to_owned(), event.object.name.to_string());
            return if event.deleted { Vec::new() } else { vec![key] };
        }
        // Admission has already counted new objects.
        let may_decrease = event.deleted || group_resource == PODS && event.before.is_some();
        if !may_decrease || namespace.is_empty() {
            return Vec::new();
        }
        let (_, quotas) = client.server.store.list(QUOTAS, Some(namespace));
        quotas.iter().map(|quota| (namespace.to_owned(), quota.name.to_string())).collect()
    }

    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(QUOTAS)?;
        let Some(mut quota) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        let before = quota["status"].clone();
        let used = quota_usage::count_usage(&client.server, &quota, &quota_usage::limits(&quota));
        quota_usage::set_status(&mut quota, &used);
        if quota["status"] == before || object::is_deleting(&quota) {
            return Ok(Action::AwaitChange);
        }
        match client.replace(&kind, "status", &quota).await {
            Err(refused) if !refused.is_not_found() => Err(refused),
            _ => Ok(Action::AwaitChange),
        }
    }
}
