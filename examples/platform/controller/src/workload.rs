//! The tree of a `Workload`: objects in Kubernetes, and an entry of another bucket.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            Container, ContainerPort, PodSpec, PodTemplateSpec, ResourceRequirements, Service, ServicePort, ServiceSpec,
        },
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};
use opgen::prelude::*;
use platform_api::{Route, RouteSpec, TierSpec, Workload};

use crate::tier::CurrentTier;

/// The port of the Service.
const PORT: i32 = 80;

/// The nodes are created from top to bottom and deleted in reverse order: the route goes before the Pods that it leads to.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Workload)]
pub struct WorkloadTree {
    tier: CurrentTier,
    #[provisioner(from(tier))]
    backend: Backend,
    /// An entry of the bucket `routes`.
    #[provisioner(resource, from(backend.service))]
    route: Option<Route>,
}

/// In Kubernetes.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Workload, inputs(tier: TierSpec))]
pub struct Backend {
    #[provisioner(resource, from(tier))]
    deployment: Deployment,
    #[provisioner(resource)]
    service: Service,
}

impl WorkloadTree {
    fn route(workload: &Workload, service: &Service) -> Option<Route> {
        let host = workload.spec.host.clone()?;
        Some(Route::new(&workload.name_any(), RouteSpec { host, service: service.name_any(), port: PORT }))
    }
}

impl Backend {
    fn deployment(workload: &Workload, tier: &TierSpec) -> Deployment {
        Deployment {
            spec: Some(DeploymentSpec {
                replicas: Some(workload.spec.replicas),
                selector: LabelSelector { match_labels: Some(labels(workload)), ..LabelSelector::default() },
                template: PodTemplateSpec {
                    metadata: Some(ObjectMeta { labels: Some(labels(workload)), ..ObjectMeta::default() }),
                    spec: Some(pod(workload, tier)),
                },
                ..DeploymentSpec::default()
            }),
            ..Deployment::default()
        }
    }

    fn service(workload: &Workload) -> Service {
        let port = ServicePort {
            name: Some("http".to_owned()),
            port: PORT,
            target_port: Some(IntOrString::Int(workload.spec.port)),
            ..ServicePort::default()
        };
        Service {
            spec: Some(ServiceSpec {
                selector: Some(labels(workload)),
                ports: Some(vec![port]),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        }
    }
}

fn pod(workload: &Workload, tier: &TierSpec) -> PodSpec {
    let quantity = |name: &str, value: &str| (name.to_owned(), Quantity(value.to_owned()));
    let container = Container {
        name: "workload".to_owned(),
        image: Some(workload.spec.image.clone()),
        ports: Some(vec![ContainerPort { container_port: workload.spec.port, ..ContainerPort::default() }]),
        resources: Some(ResourceRequirements {
            requests: Some([quantity("cpu", &tier.cpu), quantity("memory", &tier.memory)].into()),
            limits: Some([quantity("memory", &tier.memory)].into()),
            ..ResourceRequirements::default()
        }),
        ..Container::default()
    };
    PodSpec { containers: vec![container], ..PodSpec::default() }
}

fn labels(workload: &Workload) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("app.kubernetes.io/name".to_owned(), "platform".to_owned()),
        ("workload".to_owned(), workload.name_any()),
    ])
}

#[cfg(test)]
mod tests;
