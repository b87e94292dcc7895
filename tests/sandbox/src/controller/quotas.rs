//! Counts what is in the namespaces that have quotas.

use super::{Actor, Controller, Key, Next, Outcome, Seen, Watches};
use crate::{admission::quota_usage, object};

pub(super) const QUOTAS: &str = "resourcequotas";
const PODS: &str = "pods";

/// Looks again what is used, where that may have become less or the limits are others.
#[derive(Debug)]
pub(super) struct Quotas(Watches);

impl Quotas {
    /// What goes away, of whatever kind.
    pub(super) fn of_lives() -> Self {
        Self(Watches::Lives)
    }

    /// Quotas themselves, and Pods that end.
    pub(super) fn of_changes() -> Self {
        Self(Watches::Shelves(&[QUOTAS, PODS]))
    }
}

impl Controller for Quotas {
    type Key = Key;

    fn watches(&self) -> Watches {
        self.0
    }

    fn told(&mut self, actor: &Actor, shelf: &str, seen: &Seen) -> Vec<Key> {
        let namespace = &*seen.object.namespace;
        if shelf == QUOTAS {
            let own = (namespace.to_owned(), seen.object.name.to_string());
            return if seen.gone { Vec::new() } else { vec![own] };
        }
        // What is new was counted when it was admitted.
        let less = seen.gone || shelf == PODS && seen.before.is_some();
        if !less || namespace.is_empty() {
            return Vec::new();
        }
        let (_, quotas) = actor.server.store.list(QUOTAS, Some(namespace));
        quotas.iter().map(|quota| (namespace.to_owned(), quota.name.to_string())).collect()
    }

    async fn reconcile(&mut self, actor: &Actor, (namespace, name): &Key) -> Outcome {
        let kind = actor.known(QUOTAS)?;
        let Some(mut quota) = actor.get(&kind, namespace, name) else { return Ok(Next::Rest) };
        let before = quota["status"].clone();
        let used = quota_usage::counted(&actor.server, &quota, &quota_usage::limits(&quota));
        quota_usage::set_status(&mut quota, &used);
        if quota["status"] == before || object::is_deleting(&quota) {
            return Ok(Next::Rest);
        }
        match actor.replace(&kind, "status", &quota).await {
            Err(refused) if !refused.is_gone() => Err(refused),
            _ => Ok(Next::Rest),
        }
    }
}
