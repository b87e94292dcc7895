//! Caches compiled policies and webhook configurations by uid and resourceVersion.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::{
    policy::{MutatingPolicy, PolicyBinding, ValidatingPolicy},
    webhook::Hook,
};
use crate::store::Stored;

/// The number of entries at which a cache is cleared.
const MAX_ENTRIES: usize = 1024;

/// Values compiled from objects.
#[derive(Debug)]
pub(crate) struct Cache<T>(Mutex<Compiled<T>>);

/// Compiled values and their resourceVersion, by uid.
type Compiled<T> = BTreeMap<Arc<str>, (u64, Arc<T>)>;

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }
}

impl<T> Cache<T> {
    /// Returns the value compiled from a stored object. Compiles the object only if the cache does not contain its current
    /// `resourceVersion`.
    pub(super) fn get(&self, stored: &Stored, compile: impl FnOnce(&Value) -> T) -> Arc<T> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, compiled)) = entries.get(&stored.uid)
            && *version == stored.version
        {
            return compiled.clone();
        }
        if entries.len() >= MAX_ENTRIES {
            entries.clear();
        }
        let compiled = Arc::new(compile(&serde_json::from_slice(&stored.json).unwrap_or_default()));
        entries.insert(stored.uid.clone(), (stored.version, compiled.clone()));
        compiled
    }
}

/// Compiled policies and bindings.
#[derive(Debug, Default)]
pub(crate) struct PolicyCache {
    pub(super) mutating: Cache<MutatingPolicy>,
    pub(super) validating: Cache<ValidatingPolicy>,
    pub(super) bindings: Cache<PolicyBinding>,
}

/// Compiled policies and webhooks of the server.
#[derive(Debug, Default)]
pub(crate) struct AdmissionCache {
    pub(super) policies: PolicyCache,
    /// The webhooks of each configuration.
    pub(super) webhooks: Cache<Vec<Hook>>,
}
