//! The database tier.

use k8s_openapi::{
    api::{
        apps::v1::{StatefulSet, StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec},
        core::v1::{
            Container, PersistentVolumeClaim, PersistentVolumeClaimSpec, PodSpec, PodTemplateSpec, Service,
            ServicePort, ServiceSpec, VolumeMount, VolumeResourceRequirements,
        },
        scheduling::v1::PriorityClass,
    },
    apimachinery::pkg::api::resource::Quantity,
};
use kube::api::ObjectMeta;

use super::{Database, foundation, metadata};
use shop_api::Shop;

const TIER: &str = "database";

/// The data volume, and its mount path.
const VOLUME: (&str, &str) = ("data", "/data");

impl Database {
    pub(super) fn service(shop: &Shop) -> Service {
        let port = ServicePort { name: Some(TIER.to_owned()), port: 5432, ..ServicePort::default() };
        Service {
            metadata: metadata::named(shop, TIER),
            spec: Some(ServiceSpec {
                cluster_ip: Some("None".to_owned()),
                selector: Some(metadata::labels(shop, TIER)),
                ports: Some(vec![port]),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        }
    }

    pub(super) fn replicas(shop: &Shop, service: &Service, priority: &PriorityClass) -> StatefulSet {
        let policy = StatefulSetPersistentVolumeClaimRetentionPolicy {
            when_deleted: Some("Delete".to_owned()),
            ..StatefulSetPersistentVolumeClaimRetentionPolicy::default()
        };
        StatefulSet {
            metadata: metadata::named(shop, TIER),
            spec: Some(StatefulSetSpec {
                replicas: Some(shop.spec.database.replicas),
                service_name: service.metadata.name.clone(),
                selector: metadata::selector(shop, TIER),
                template: PodTemplateSpec {
                    metadata: Some(metadata::of_pods(shop, TIER)),
                    spec: Some(PodSpec {
                        containers: vec![container(shop)],
                        priority_class_name: priority.metadata.name.clone(),
                        ..PodSpec::default()
                    }),
                },
                volume_claim_templates: Some(vec![claim(shop)]),
                persistent_volume_claim_retention_policy: Some(policy),
                ..StatefulSetSpec::default()
            }),
            ..StatefulSet::default()
        }
    }
}

fn container(shop: &Shop) -> Container {
    let data = VolumeMount { name: VOLUME.0.to_owned(), mount_path: VOLUME.1.to_owned(), ..VolumeMount::default() };
    Container {
        name: TIER.to_owned(),
        image: Some(shop.spec.database.image.clone()),
        env: Some(vec![foundation::password(shop)]),
        volume_mounts: Some(vec![data]),
        ..Container::default()
    }
}

fn claim(shop: &Shop) -> PersistentVolumeClaim {
    let room = [("storage".to_owned(), Quantity(shop.spec.database.storage.clone()))].into();
    PersistentVolumeClaim {
        metadata: ObjectMeta { name: Some(VOLUME.0.to_owned()), ..ObjectMeta::default() },
        spec: Some(PersistentVolumeClaimSpec {
            access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
            resources: Some(VolumeResourceRequirements {
                requests: Some(room),
                ..VolumeResourceRequirements::default()
            }),
            ..PersistentVolumeClaimSpec::default()
        }),
        ..PersistentVolumeClaim::default()
    }
}
