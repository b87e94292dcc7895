//! The tree of a `WebApp`: the objects that the operator creates for it.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            ConfigMap, ConfigMapVolumeSource, Container, ContainerPort, PodSpec, PodTemplateSpec, Service, ServicePort,
            ServiceSpec, Volume, VolumeMount,
        },
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};
use opgen::prelude::*;

use webapp_api::WebApp;

/// The nodes are created from top to bottom and deleted in reverse order.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = WebApp)]
pub struct WebAppTree {
    #[provisioner(resource)]
    config: ConfigMap,
    workload: Workload,
}

/// The nodes are independent of each other and are created concurrently.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = WebApp)]
pub struct Workload {
    #[provisioner(resource)]
    deployment: Deployment,
    #[provisioner(resource)]
    service: Service,
}

impl WebAppTree {
    fn config(app: &WebApp) -> ConfigMap {
        let greeting = app.spec.greeting.clone().unwrap_or_else(|| "hello".to_owned());
        ConfigMap { data: Some(BTreeMap::from([("greeting".to_owned(), greeting)])), ..ConfigMap::default() }
    }
}

impl Workload {
    fn deployment(app: &WebApp) -> Deployment {
        Deployment {
            spec: Some(DeploymentSpec {
                replicas: Some(app.spec.replicas),
                selector: LabelSelector { match_labels: Some(labels(app)), ..LabelSelector::default() },
                template: PodTemplateSpec {
                    metadata: Some(ObjectMeta { labels: Some(labels(app)), ..ObjectMeta::default() }),
                    spec: Some(pod(app)),
                },
                ..DeploymentSpec::default()
            }),
            ..Deployment::default()
        }
    }

    fn service(app: &WebApp) -> Service {
        let port = ServicePort {
            name: Some("http".to_owned()),
            port: 80,
            target_port: Some(IntOrString::Int(app.spec.port)),
            ..ServicePort::default()
        };
        Service {
            spec: Some(ServiceSpec { selector: Some(labels(app)), ports: Some(vec![port]), ..ServiceSpec::default() }),
            ..Service::default()
        }
    }
}

fn pod(app: &WebApp) -> PodSpec {
    let container = Container {
        name: "web".to_owned(),
        image: Some(app.spec.image.clone()),
        ports: Some(vec![ContainerPort { container_port: app.spec.port, ..ContainerPort::default() }]),
        volume_mounts: Some(vec![VolumeMount {
            name: "config".to_owned(),
            mount_path: "/etc/webapp".to_owned(),
            ..VolumeMount::default()
        }]),
        ..Container::default()
    };
    let config = Volume {
        name: "config".to_owned(),
        config_map: Some(ConfigMapVolumeSource { name: name(app), ..ConfigMapVolumeSource::default() }),
        ..Volume::default()
    };
    PodSpec { containers: vec![container], volumes: Some(vec![config]), ..PodSpec::default() }
}

fn labels(app: &WebApp) -> BTreeMap<String, String> {
    BTreeMap::from([("app.kubernetes.io/name".to_owned(), "webapp".to_owned()), ("app".to_owned(), name(app))])
}

fn name(app: &WebApp) -> String {
    app.metadata.name.clone().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use webapp_api::WebAppSpec;

    fn app() -> WebApp {
        WebApp::new("shop", WebAppSpec { image: "web:1".to_owned(), replicas: 3, port: 8080, greeting: None })
    }

    #[test]
    fn the_deployment_runs_the_image_with_the_replicas_of_the_spec() {
        let spec = Workload::deployment(&app()).spec.unwrap_or_default();
        assert_eq!(spec.replicas, Some(3));
        let containers = spec.template.spec.unwrap_or_default().containers;
        assert_eq!(containers.first().and_then(|container| container.image.as_deref()), Some("web:1"));
    }

    #[test]
    fn the_service_finds_the_pods_of_the_deployment() {
        let selector = Workload::service(&app()).spec.unwrap_or_default().selector;
        let template = Workload::deployment(&app()).spec.unwrap_or_default().template;
        assert_eq!(selector, template.metadata.unwrap_or_default().labels);
    }
}
