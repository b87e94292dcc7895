//! Implements the built-in admission plugins that kube-apiserver enables by default.

pub(super) mod default_ingress_class;
pub(super) mod default_storage_class;
pub(super) mod default_tolerations;
pub(super) mod limit_ranger;
mod lookup;
pub(super) mod namespace_lifecycle;
pub(super) mod owner_references;
mod pod_resources;
pub(super) mod pod_security;
pub(super) mod priority;
pub(crate) mod quota_usage;
pub(super) mod resource_quota;
pub(super) mod service_account;
pub(super) mod storage_protection;
pub(super) mod taint_nodes;
