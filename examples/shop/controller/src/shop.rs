//! The tree of a `Shop`: the objects that the operator creates for it.

mod backend;
mod database;
mod foundation;
mod identity;
mod ingress;
mod metadata;

use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    batch::v1::CronJob,
    core::v1::{ConfigMap, Secret, Service, ServiceAccount},
    networking::v1::Ingress,
    policy::v1::PodDisruptionBudget,
    rbac::v1::{Role, RoleBinding},
    scheduling::v1::PriorityClass,
};
use opgen::prelude::*;

use shop_api::Shop;

/// The tiers are created in this order and deleted in reverse order. A tier starts when the one before it is ready.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
pub struct ShopTree {
    foundation: Foundation,
    identity: Identity,
    #[provisioner(from(foundation.priority))]
    database: Database,
    #[provisioner(from(foundation.settings, identity.account, foundation.priority, database.service))]
    backend: Backend,
    /// Exposes the shop outside the cluster.
    #[provisioner(resource, when = |shop| shop.spec.host.is_some(), from(backend.service))]
    ingress: Ingress,
}

/// The objects that the tiers need. They are created concurrently.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Shop)]
pub struct Foundation {
    /// The backend's settings.
    #[provisioner(resource)]
    settings: ConfigMap,
    /// The password of the database, generated once.
    #[provisioner(resource(once))]
    password: Secret,
    /// Cluster-scoped, so its name contains the namespace of the shop.
    #[provisioner(resource)]
    priority: PriorityClass,
}

/// The identity of the backend at the API server, and its permissions.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Shop)]
pub struct Identity {
    #[provisioner(resource)]
    account: ServiceAccount,
    /// The rules are declared here.
    #[provisioner(resource(grants(ConfigMap: get, list, watch)))]
    role: Role,
    #[provisioner(resource, from(account, role))]
    binding: RoleBinding,
}

/// The database tier.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Shop, inputs(priority: PriorityClass))]
pub struct Database {
    /// Gives each replica a stable DNS name.
    #[provisioner(resource)]
    service: Service,
    #[provisioner(resource, from(service, priority))]
    replicas: StatefulSet,
}

/// The backend tier.
#[derive(Debug, Provisioner)]
#[provisioner(
    concurrent,
    owner = Shop,
    inputs(settings: ConfigMap, account: ServiceAccount, priority: PriorityClass, database: Service)
)]
pub struct Backend {
    #[provisioner(resource)]
    service: Service,
    #[provisioner(resource, from(settings, account, priority, database))]
    replicas: Deployment,
    /// Only with more than one replica.
    #[provisioner(resource)]
    budget: Option<PodDisruptionBudget>,
    /// One for each schedule.
    #[provisioner(resource, from(account, priority, database))]
    jobs: Vec<CronJob>,
}

#[cfg(test)]
mod tests;
