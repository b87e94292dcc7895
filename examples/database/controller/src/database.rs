//! The tree of a `Database`: the objects that the operator creates for it.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{StatefulSet, StatefulSetSpec},
        core::v1::{Container, PodSpec, PodTemplateSpec, Service, ServicePort, ServiceSpec},
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use opgen::prelude::*;

use database_api::database::v1::Database;

/// The port of every engine.
const PORT: i32 = 5432;

/// The nodes are created from top to bottom and deleted in reverse order.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Database)]
pub struct DatabaseTree {
    #[provisioner(resource)]
    service: Service,
    #[provisioner(resource)]
    replicas: StatefulSet,
}

impl DatabaseTree {
    fn service(database: &Database) -> Service {
        let port = ServicePort { name: Some("sql".to_owned()), port: PORT, ..ServicePort::default() };
        Service {
            spec: Some(ServiceSpec {
                cluster_ip: Some("None".to_owned()),
                selector: Some(labels(database)),
                ports: Some(vec![port]),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        }
    }

    fn replicas(database: &Database) -> StatefulSet {
        let spec = &database.spec;
        let container = Container {
            name: "database".to_owned(),
            image: Some(format!("{}:{}", spec.engine, spec.release)),
            ..Container::default()
        };
        StatefulSet {
            spec: Some(StatefulSetSpec {
                replicas: Some(spec.replicas),
                service_name: Some(database.name_any()),
                selector: LabelSelector { match_labels: Some(labels(database)), ..LabelSelector::default() },
                template: PodTemplateSpec {
                    metadata: Some(ObjectMeta { labels: Some(labels(database)), ..ObjectMeta::default() }),
                    spec: Some(PodSpec { containers: vec![container], ..PodSpec::default() }),
                },
                ..StatefulSetSpec::default()
            }),
            ..StatefulSet::default()
        }
    }
}

fn labels(database: &Database) -> BTreeMap<String, String> {
    BTreeMap::from([("app.kubernetes.io/name".to_owned(), database.name_any())])
}
