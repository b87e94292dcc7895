//! `Server`: the state of the API server with store, kinds, credentials, policies and webhooks.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    admission::AdmissionCache, audit::Audit, authentication::Authentication, authorization::RbacCache,
    environment::Environment, kind::Registry, store::Store, webhook::WebhookRoutes,
};

/// The shared state of the API server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) environment: Environment,
    pub(crate) store: Arc<Store>,
    pub(crate) kinds: Registry,
    pub(crate) authentication: Authentication,
    pub(crate) policies: RbacCache,
    pub(crate) options: ServerOptions,
    pub(crate) audit: Audit,
    pub(crate) admission: AdmissionCache,
    pub(crate) webhooks: WebhookRoutes,
    /// The PEM certificates of the authorities that signed the certificates of its listeners.
    pub(crate) authorities: Mutex<String>,
}

/// Options of the server.
#[derive(Debug)]
pub(crate) struct ServerOptions {
    /// Whether the workload controllers run.
    pub(crate) workloads: bool,
    /// Whether the simulated CD systems run.
    pub(crate) cd_systems: bool,
    /// Whether `blockOwnerDeletion` needs a right on the owner (`OwnerReferencesPermissionEnforcement`).
    pub(crate) owner_permissions: bool,
}

impl Server {
    /// Returns the PEM certificates of the authorities that clients of the listeners trust; empty if the sandbox never
    /// listened.
    pub(crate) fn authorities(&self) -> String {
        self.authorities.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds the PEM certificate of a certificate authority, and returns the certificates of all authorities.
    pub(crate) fn trust(&self, authority: &str) -> String {
        let mut authorities = self.authorities.lock().unwrap_or_else(PoisonError::into_inner);
        authorities.push_str(authority);
        authorities.clone()
    }
}
