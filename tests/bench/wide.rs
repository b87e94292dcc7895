//! One object made of 300: ten groups of ten config maps, ten services and ten deployments.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{ConfigMap, Container, PodSpec, PodTemplateSpec, Service, ServicePort, ServiceSpec},
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Begin, End};

/// What all parts are made from.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "bench.example.com", version = "v1", kind = "Wide", namespaced, status = "Status")]
pub(crate) struct WideSpec {
    image: String,
    replicas: i32,
}

/// A wide object that an operator named `operator` holds already.
pub(crate) fn object(operator: &str) -> Wide {
    let mut object = Wide::new("wide", WideSpec { image: "registry.example.com/shop:1.2.3".to_owned(), replicas: 2 });
    object.metadata.namespace = Some("web".to_owned());
    object.metadata.uid = Some("0f8b36c5-5a0e-4c3f-9c5e-3b7f2f1f9d11".to_owned());
    object.metadata.generation = Some(1);
    object.metadata.finalizers = Some(vec![format!("bench.example.com/{operator}")]);
    object
}

/// The whole tree, between two nodes that look at the clock.
#[derive(Provisioner)]
#[provisioner(serial, owner = Wide)]
pub(crate) struct Tree {
    begin: Begin,
    part0: Part0,
    part1: Part1,
    part2: Part2,
    part3: Part3,
    part4: Part4,
    part5: Part5,
    part6: Part6,
    part7: Part7,
    part8: Part8,
    part9: Part9,
    end: End,
}

/// The same with one object.
#[derive(Provisioner)]
#[provisioner(serial, owner = Wide)]
pub(crate) struct Single {
    begin: Begin,
    #[provisioner(resource)]
    only: ConfigMap,
    end: End,
}

impl Single {
    fn only(wide: &Wide) -> ConfigMap {
        config(wide, "only", "one")
    }
}

macro_rules! part {
    ($part:ident $order:ident: $($config:ident)*; $($service:ident)*; $($deployment:ident)*) => {
        #[derive(Provisioner)]
        #[provisioner($order, owner = Wide)]
        struct $part {
            $(#[provisioner(resource)] $config: ConfigMap,)*
            $(#[provisioner(resource)] $service: Service,)*
            $(#[provisioner(resource)] $deployment: Deployment,)*
        }

        impl $part {
            $(fn $config(wide: &Wide) -> ConfigMap { config(wide, stringify!($part), stringify!($config)) })*
            $(fn $service(_: &Wide) -> Service { service(stringify!($part), stringify!($service)) })*
            $(fn $deployment(wide: &Wide) -> Deployment { deployment(wide, stringify!($part), stringify!($deployment)) })*
        }
    };
    ($($part:ident $order:ident),*) => {
        $(part! { $part $order: c0 c1 c2 c3 c4 c5 c6 c7 c8 c9; s0 s1 s2 s3 s4 s5 s6 s7 s8 s9; d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 })*
    };
}

part! {
    Part0 serial, Part1 concurrent, Part2 serial, Part3 concurrent, Part4 serial,
    Part5 concurrent, Part6 serial, Part7 concurrent, Part8 serial, Part9 concurrent
}

fn named(part: &str, node: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(format!("wide-{}-{node}", part.to_lowercase())),
        labels: Some(labels(part, node)),
        ..ObjectMeta::default()
    }
}

fn labels(part: &str, node: &str) -> BTreeMap<String, String> {
    [("app.kubernetes.io/name", node), ("app.kubernetes.io/part-of", part)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn config(wide: &Wide, part: &str, node: &str) -> ConfigMap {
    let lines = (0..10).map(|line| (format!("setting-{line}"), format!("{} of {part}/{node}", wide.spec.image)));
    ConfigMap { metadata: named(part, node), data: Some(lines.collect()), ..ConfigMap::default() }
}

fn service(part: &str, node: &str) -> Service {
    let port = ServicePort { name: Some("http".to_owned()), port: 80, ..ServicePort::default() };
    let spec = ServiceSpec { selector: Some(labels(part, node)), ports: Some(vec![port]), ..ServiceSpec::default() };
    Service { metadata: named(part, node), spec: Some(spec), ..Service::default() }
}

fn deployment(wide: &Wide, part: &str, node: &str) -> Deployment {
    let container = Container {
        name: "app".to_owned(),
        image: Some(wide.spec.image.clone()),
        args: Some(vec!["--part".to_owned(), part.to_owned()]),
        ..Container::default()
    };
    let pod = PodSpec { containers: vec![container], ..PodSpec::default() };
    let metadata = ObjectMeta { labels: Some(labels(part, node)), ..ObjectMeta::default() };
    let spec = DeploymentSpec {
        replicas: Some(wide.spec.replicas),
        selector: LabelSelector { match_labels: Some(labels(part, node)), ..LabelSelector::default() },
        template: PodTemplateSpec { metadata: Some(metadata), spec: Some(pod) },
        ..DeploymentSpec::default()
    };
    Deployment { metadata: named(part, node), spec: Some(spec), ..Deployment::default() }
}
