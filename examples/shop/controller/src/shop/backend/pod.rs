//! The Pod templates of the backend, for the Deployment and for the CronJobs.

use k8s_openapi::api::{
    core::v1::{
        ConfigMap, ConfigMapVolumeSource, Container, ContainerPort, EnvVar, PodSpec, Service, ServiceAccount, Volume,
        VolumeMount,
    },
    scheduling::v1::PriorityClass,
};
use kube::ResourceExt as _;

use super::{super::foundation, TIER};
use shop_api::Shop;

/// The volume with the settings, and its mount path.
const VOLUME: (&str, &str) = ("settings", "/etc/shop");

pub(super) fn serving(
    shop: &Shop,
    settings: &ConfigMap,
    account: &ServiceAccount,
    priority: &PriorityClass,
    database: &Service,
) -> PodSpec {
    let folder = VolumeMount { name: VOLUME.0.to_owned(), mount_path: VOLUME.1.to_owned(), ..VolumeMount::default() };
    let container = Container {
        ports: Some(vec![ContainerPort { container_port: shop.spec.backend.port, ..ContainerPort::default() }]),
        volume_mounts: Some(vec![folder]),
        ..container(shop, database)
    };
    let volume = Volume {
        name: VOLUME.0.to_owned(),
        config_map: Some(ConfigMapVolumeSource { name: settings.name_any(), ..ConfigMapVolumeSource::default() }),
        ..Volume::default()
    };
    PodSpec { volumes: Some(vec![volume]), ..pod(container, account, priority) }
}

pub(super) fn working(
    shop: &Shop,
    command: &[String],
    account: &ServiceAccount,
    priority: &PriorityClass,
    database: &Service,
) -> PodSpec {
    let container = Container { command: Some(command.to_vec()), ..container(shop, database) };
    PodSpec { restart_policy: Some("Never".to_owned()), ..pod(container, account, priority) }
}

fn pod(container: Container, account: &ServiceAccount, priority: &PriorityClass) -> PodSpec {
    PodSpec {
        containers: vec![container],
        service_account_name: account.metadata.name.clone(),
        priority_class_name: priority.metadata.name.clone(),
        ..PodSpec::default()
    }
}

fn container(shop: &Shop, database: &Service) -> Container {
    let host = EnvVar { name: "DATABASE_HOST".to_owned(), value: database.metadata.name.clone(), ..EnvVar::default() };
    Container {
        name: TIER.to_owned(),
        image: Some(shop.spec.backend.image.clone()),
        env: Some(vec![host, foundation::password(shop)]),
        ..Container::default()
    }
}
