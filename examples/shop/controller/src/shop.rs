//! What a `Shop` is made of.

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

/// Built from the ground up, torn down from the top: a tier begins when the one below it is ready.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
pub struct ShopTree {
    foundation: Foundation,
    identity: Identity,
    #[provisioner(from(foundation.priority))]
    database: Database,
    #[provisioner(from(foundation.settings, identity.account, foundation.priority, database.service))]
    backend: Backend,
    /// The way in from outside.
    #[provisioner(resource, when = |shop| shop.spec.host.is_some(), from(backend.service))]
    ingress: Ingress,
}

/// What the tiers stand on, made side by side.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Shop)]
pub struct Foundation {
    /// The backend's settings.
    #[provisioner(resource)]
    settings: ConfigMap,
    /// The database's password: made up once, and the same ever after.
    #[provisioner(resource(once))]
    password: Secret,
    /// Belongs to the cluster, so its name has the shop's namespace in it.
    #[provisioner(resource)]
    priority: PriorityClass,
}

/// Who the backend is for the API server, and what it may do there.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Shop)]
pub struct Identity {
    #[provisioner(resource)]
    account: ServiceAccount,
    /// Its rules are those that are declared here.
    #[provisioner(resource(grants(ConfigMap: get, list, watch)))]
    role: Role,
    #[provisioner(resource, from(account, role))]
    binding: RoleBinding,
}

/// The tier that keeps the data.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Shop, inputs(priority: PriorityClass))]
pub struct Database {
    /// Gives each replica a name of its own.
    #[provisioner(resource)]
    service: Service,
    #[provisioner(resource, from(service, priority))]
    replicas: StatefulSet,
}

/// The tier that does the work.
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
    /// Where there is more than one replica.
    #[provisioner(resource)]
    budget: Option<PodDisruptionBudget>,
    /// One for each schedule.
    #[provisioner(resource, from(account, priority, database))]
    jobs: Vec<CronJob>,
}

#[cfg(test)]
mod tests;
